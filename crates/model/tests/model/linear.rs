//! Models that read the latents through linear predictors.

use lehr_density::{Density, Point, RowSet, Rows};
use lehr_graph::reference::evaluate;
use lehr_graph::{Expr, Graph};
use lehr_model::Model;
use lehr_model::distribution::{Distribution, HalfNormal, Normal, StudentT};

use crate::{X, bind, multilevel, near, row_values, table};

/// The number of linear predictors of the model; `None` if the model does not have that form.
fn predictors(model: &Model, latents: usize) -> Option<usize> {
    let bound = bind(model, &table());
    let graph = Graph::new();
    let point = Point::new(graph.laned_input("z", [latents]), graph.input("theta", [0]));
    let rows = Rows::inputs(&graph, bound.columns(), 4, "");
    let linear = bound.linear()?;
    let found = linear.predictors(&point, &rows);
    Some(found.rows.len() + found.shared.len())
}

#[test]
fn a_regression_has_its_predictor_and_its_noise() {
    let model = Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let noise = m.sample("noise", HalfNormal::new(1.0));
        m.rows(|row| row.observe("y", Normal::new(row.matrix("x").dot(weight), noise)));
    });
    let bound = bind(&model, &table());
    let graph = Graph::new();
    let point = Point::new(graph.input("z", [3]), graph.input("theta", [0]));
    let rows = Rows::inputs(&graph, bound.columns(), 4, "");
    let found = bound.linear().unwrap().predictors(&point, &rows);
    let values =
        row_values(&bound, &rows, &RowSet::Range(0..4)).with(point.latents, &[0.5, 2.0, 0.3]);
    let numbers = evaluate(&found.rows, &values, 1);
    assert_eq!(numbers.len(), 1);
    near(numbers[0][3], X[6] * 0.5 + X[7] * 2.0);
    assert_eq!(found.shared, [2]);
}

#[test]
fn grouped_effects_are_linear_centred_and_not_otherwise() {
    assert_eq!(predictors(&multilevel(), 6), Some(1));
    let many = Model::new(|m| {
        let scale = m.sample("scale", HalfNormal::new(1.0));
        let effect = m.group_effect("effect", 40, scale);
        m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("group")), 1.0)));
    });
    assert_eq!(predictors(&many, 41), None);
}

/// A normal response around a function of a linear predictor.
fn around(link: impl Fn(Expr<'_>) -> Expr<'_> + Send + Sync + 'static) -> Model {
    Model::new(move |m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        m.rows(|row| row.observe("y", Normal::new(link(row.matrix("x").dot(weight)), 1.0)));
    })
}

fn folded(eta: Expr<'_>) -> Expr<'_> {
    eta.abs()
}

#[test]
fn a_corner_or_a_jump_is_not_affine_although_its_slopes_are_constant() {
    let is_gaussian = |model: &Model| bind(model, &table()).gaussian().is_some();
    let smooth = around(|eta| eta * 2.0 + 1.0);
    assert!(
        is_gaussian(&smooth) && effects(&smooth).is_ok() == effects(&around(|eta| eta)).is_ok()
    );
    for broken in [
        around(folded),
        around(|eta| eta.max(eta.graph().scalar(0.0))),
        around(|eta| eta.less(eta.graph().scalar(0.0)).select(eta, eta * 2.0)),
        around(|eta| eta + eta.sign()),
    ] {
        assert!(!is_gaussian(&broken));
        assert!(effects(&broken).is_err());
    }
    // A predictor is found inside a function with kinks, but not inside one with jumps: there both
    // latents count.
    assert_eq!(predictors(&around(folded), 2), Some(1));
    assert_eq!(predictors(&around(|eta| eta + eta.sign()), 2), Some(2));
}

#[test]
fn a_corner_in_what_no_effect_reads_leaves_the_effects() {
    let floored = |least: f64| {
        Model::new(move |m| {
            let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
            let noise = m.sample("noise", HalfNormal::new(1.0));
            let noise = noise.max(noise.graph().scalar(least));
            m.rows(|row| row.observe("y", Normal::new(row.matrix("x").dot(weight), noise)));
        })
    };
    assert_eq!(effects(&floored(0.1)).unwrap(), ["weight"]);
    assert_eq!(predictors(&floored(0.1), 3), Some(2));
}

/// Predictors of rows with a normal local latent each, which the mean depends on in some way.
fn locally(mean: impl Fn(Local<'_>) -> Expr<'_> + Send + Sync + 'static) -> Option<[usize; 2]> {
    let model = Model::new(move |m| {
        let slope = m.sample("slope", Normal::new(0.0, 1.0));
        let spread = m.sample("spread", HalfNormal::new(1.0));
        m.rows(|row| {
            let own = row.local("own", Normal::new(0.0, spread));
            let predictor = row.number("y") * slope;
            let local = Local {
                predictor,
                own,
                spread,
            };
            row.observe("y", Normal::new(mean(local), 1.0));
        });
    });
    let bound = bind(&model, &table());
    assert!(bound.linear().is_none(), "rows read latents of their own");
    let linear = bound.locals().unwrap().linear()?;
    let graph = Graph::new();
    let point = Point::new(graph.input("z", [2]), graph.input("theta", [0]));
    let rows = Rows::inputs(&graph, bound.columns(), 4, "");
    let found = linear.predictors(&point, &rows);
    Some([found.rows.len(), found.shared.len()])
}

/// The arguments of the mean of a row.
struct Local<'g> {
    predictor: Expr<'g>,
    own: Expr<'g>,
    spread: Expr<'g>,
}

#[test]
fn latents_of_rows_that_only_shift_the_predictor_leave_it_linear() {
    assert_eq!(locally(|row| row.predictor + row.own), Some([1, 1]));
    assert_eq!(locally(|row| row.predictor - row.own.exp()), Some([1, 1]));
    assert_eq!(locally(|row| row.predictor * row.own), None);
    assert_eq!(locally(|row| row.predictor + row.own * row.spread), None);
}

/// The sites that can be integrated out, or the reason why there are none.
fn effects(model: &Model) -> Result<Vec<String>, String> {
    let bound = bind(model, &table());
    let split = bound.split()?;
    let sites = bound.latents().sites();
    Ok((split.effect_sites().iter())
        .map(|site| sites[*site].name.clone())
        .collect())
}

#[test]
fn effects_and_coefficients_are_split_from_their_spread_in_either_form() {
    assert_eq!(effects(&multilevel()).unwrap(), ["weight", "group_effect"]);
    let standard = Model::new(|m| {
        let scale = m.sample("scale", HalfNormal::new(1.0));
        let standard = m.sample(
            "standard",
            Normal::new(0.0, 1.0).expand([m.levels("group")]),
        );
        let shift = m.sample("shift", StudentT::new(4.0, 0.0, 1.0));
        m.rows(|row| {
            let mean = standard.at(row.index("group")) * scale + shift;
            row.observe("y", Normal::new(mean, scale));
        });
    });
    // The scale also determines the noise, and a coefficient that is not Gaussian is not integrated
    // out.
    assert_eq!(effects(&standard).unwrap(), ["standard"]);
}

#[test]
fn latents_that_multiply_each_other_are_not_split() {
    let model = Model::new(|m| {
        let load = m.sample("load", Normal::new(0.0, 1.0).expand([2]));
        let score = m.sample("score", Normal::new(0.0, 1.0).expand([m.levels("group")]));
        m.rows(|row| {
            let mean = row.matrix("x").dot(load) * score.at(row.index("group"));
            row.observe("y", Normal::new(mean, 1.0));
        });
    });
    let why = effects(&model).unwrap_err();
    assert!(why.starts_with("no latents are Gaussian"), "{why}");
}
