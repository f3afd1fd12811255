//! A model program as a density.

use lehr_density::{Density, Point, Predictive, RowSet, Rows, Support};
use lehr_graph::Graph;
use lehr_graph::reference::evaluate;
use lehr_model::Model;
use lehr_model::distribution::{Bernoulli, Distribution, Gamma, Normal, Poisson};
use lehr_table::Table;

use crate::{GROUP, X, Y, at_point, bind, densities, multilevel, near, normal, row_values, table};

const Z: [f64; 6] = [0.4, -1.1, -0.6, 0.3, -0.2, 0.9];

#[test]
fn the_example_is_its_hand_computation() {
    let bound = bind(&multilevel(), &table());
    let (prior, likelihood) = densities(&bound, &Z, &[]);
    let scale = Z[2].exp();
    let half_normal = 2.0_f64.ln() + normal(scale, 0.0, 1.0);
    let expected = normal(Z[0], 0.0, 1.0)
        + normal(Z[1], 0.0, 1.0)
        + half_normal
        + Z[2]
        + Z[3..].iter().map(|e| normal(*e, 0.0, scale)).sum::<f64>();
    near(prior, expected);
    for n in 0..4 {
        let logit = X[2 * n] * Z[0] + X[2 * n + 1] * Z[1] + Z[3 + GROUP[n] as usize];
        near(likelihood[n], Y[n] * logit - logit.exp().ln_1p());
    }
}

#[test]
fn the_example_is_described_line_by_line() {
    assert_eq!(
        bind(&multilevel(), &table()).describe(),
        "weight ~ Normal(loc = 0, scale = 1), shape [2]\n\
         group_scale ~ HalfNormal(scale = 1)\n\
         group_effect ~ Normal(loc = 0, scale = group_scale), shape [3]\n\
         y ~ Bernoulli(logit = x · weight + group_effect[group]) in each row\n\
         4 rows"
    );
}

#[test]
fn permuting_rows_changes_nothing() {
    let order = [2, 0, 3, 1];
    let bound = bind(&multilevel(), &table());
    let moved = bind(&multilevel(), &table().select_rows(&order));
    let (prior, likelihood) = densities(&bound, &Z, &[]);
    let (moved_prior, moved_likelihood) = densities(&moved, &Z, &[]);
    assert_eq!(prior, moved_prior);
    let expected: Vec<f64> = order.iter().map(|&n| likelihood[n]).collect();
    assert_eq!(moved_likelihood, expected);
}

fn weighted() -> Model {
    Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        m.rows(|row| {
            row.weight("weight");
            row.observe("y", Normal::new(slope * row.number("x"), 1.0));
        });
    })
}

fn weighted_table(x: &[f64], y: &[f64], weight: &[f64]) -> Table {
    Table::new()
        .with_number("x", x.to_vec())
        .and_then(|t| t.with_number("y", y.to_vec()))
        .and_then(|t| t.with_number("weight", weight.to_vec()))
        .unwrap()
}

#[test]
fn a_row_twice_equals_weight_two() {
    let once = weighted_table(&[0.5, 2.0], &[1.0, -1.0], &[1.0, 2.0]);
    let twice = weighted_table(&[0.5, 2.0, 2.0], &[1.0, -1.0, -1.0], &[1.0; 3]);
    let sum = |table: &Table| -> f64 {
        densities(&bind(&weighted(), table), &[0.7], &[])
            .1
            .iter()
            .sum()
    };
    near(sum(&once), sum(&twice));
    near(
        sum(&once),
        normal(1.0, 0.35, 1.0) + 2.0 * normal(-1.0, 1.4, 1.0),
    );
}

#[test]
fn lanes_are_points_side_by_side() {
    let bound = bind(&multilevel(), &table());
    let graph = Graph::new();
    let point = Point::new(graph.laned_input("z", [6]), graph.input("theta", [0]));
    let set = RowSet::Range(0..4);
    let rows = Rows::inputs(&graph, bound.columns(), 4, "");
    let outputs = [bound.log_prior(&point), bound.log_likelihood(&point, &rows)];
    let other: Vec<f64> = Z.iter().map(|z| -0.5 * z).collect();
    let values = row_values(&bound, &rows, &set).with(point.latents, &[&Z[..], &other].concat());
    let found = evaluate(&outputs, &values, 2);
    for (lane, z) in [&Z[..], &other].into_iter().enumerate() {
        let (prior, likelihood) = densities(&bound, z, &[]);
        near(found[0][lane], prior);
        assert_eq!(found[1][lane * 4..(lane + 1) * 4], likelihood);
    }
}

#[test]
fn a_replaced_column_is_what_the_model_reads() {
    let bound = bind(&multilevel(), &table());
    let graph = Graph::new();
    let point = Point::new(graph.input("z", [6]), graph.input("theta", [0]));
    let set = RowSet::Range(0..4);
    let rows = Rows::inputs(&graph, bound.columns(), 4, "");
    let flipped: Vec<f64> = Y.iter().map(|y| 1.0 - y).collect();
    let both = rows.clone().with_column("y", graph.constant([4], &flipped));
    let outputs = [
        bound.log_likelihood(&point, &rows),
        bound.log_likelihood(&point, &both),
    ];
    let values = row_values(&bound, &rows, &set).with(point.latents, &Z);
    let found = evaluate(&outputs, &values, 1);
    for (a, b) in found[0].iter().zip(&found[1]) {
        // The probabilities of the two outcomes of a row sum to one.
        near(a.exp() + b.exp(), 1.0);
    }
}

#[test]
fn parameters_factors_and_deterministics_have_their_places() {
    let model = Model::new(|m| {
        let noise = m.param("noise", 0.5, Support::Positive);
        let mean = m.sample("mean", Normal::new(1.0, 3.0));
        m.deterministic("square", mean.square());
        m.factor("pull", mean * -0.25);
        m.rows(|row| row.observe("y", Normal::new(mean + row.offset("o"), noise)));
    });
    let table = Table::new()
        .with_number("y", vec![1.0, 2.0])
        .and_then(|t| t.with_number("o", vec![0.5, -0.5]))
        .unwrap();
    let bound = bind(&model, &table);
    assert_eq!(bound.params().start(), [0.5_f64.ln()]);
    let (prior, likelihood) = densities(&bound, &[0.8], &[0.2]);
    // θ is not random: neither a prior nor a Jacobian of it is in Ψ₀.
    near(prior, normal(0.8, 1.0, 3.0) - 0.2);
    near(likelihood[1], normal(2.0, 0.3, 0.2_f64.exp()));
    let graph = Graph::new();
    let point = Point::new(graph.input("z", [1]), graph.input("theta", [1]));
    let named = bound.deterministics(&point);
    assert_eq!(named[0].0, "square");
    near(at_point(&[named[0].1], &point, &[0.8], &[0.2])[0][0], 0.64);
    assert_eq!(
        bound.describe(),
        "noise: a parameter, positive, from 0.5\n\
         mean ~ Normal(loc = 1, scale = 3)\n\
         square = mean²\n\
         pull: a factor, -0.25 * mean\n\
         y ~ Normal(loc = mean + o, scale = noise) in each row\n\
         2 rows"
    );
}

#[test]
fn group_effects_are_standard_normals_times_their_scale() {
    let model = Model::new(|m| {
        let effect = m.group_effect("effect", m.levels("group"), 2.0);
        m.rows(|row| row.observe("y", Bernoulli::with_logit(effect.at(row.index("group")))));
    });
    let bound = bind(&model, &table());
    assert_eq!(bound.latents().sites()[0].name, "effect_raw");
    let (prior, likelihood) = densities(&bound, &[0.1, 0.2, -0.3], &[]);
    near(
        prior,
        [0.1, 0.2, -0.3].iter().map(|z| normal(*z, 0.0, 1.0)).sum(),
    );
    near(likelihood[1], -0.6 - (-0.6_f64).exp().ln_1p());
}

#[test]
fn several_observed_columns_add_up() {
    let model = Model::new(|m| {
        let level = m.sample("level", Normal::new(0.0, 1.0));
        m.rows(|row| {
            row.observe("y", Normal::new(level, 1.0));
            row.observe("k", Poisson::with_log_rate(level));
        });
    });
    let table = Table::new()
        .with_number("y", vec![0.5])
        .and_then(|t| t.with_number("k", vec![2.0]))
        .unwrap();
    let (_, likelihood) = densities(&bind(&model, &table), &[0.3], &[]);
    near(
        likelihood[0],
        normal(0.5, 0.3, 1.0) + 0.6 - 0.3_f64.exp() - 2.0_f64.ln(),
    );
}

#[test]
fn independent_numbers_of_a_row_add_up() {
    let model = Model::new(|m| {
        let mean = m.sample("mean", Normal::new(0.0, 1.0).expand([2]));
        m.rows(|row| row.observe("x", Normal::new(mean, 1.0)));
    });
    let (_, likelihood) = densities(&bind(&model, &table()), &[0.1, 0.2], &[]);
    near(
        likelihood[1],
        normal(X[2], 0.1, 1.0) + normal(X[3], 0.2, 1.0),
    );
}

#[test]
fn local_latents_bring_their_prior_and_jacobian() {
    let model = Model::new(|m| {
        let mean = m.sample("mean", Normal::new(0.0, 1.0));
        m.rows(|row| {
            let precision = row.local("precision", Gamma::new(1.0, 2.0));
            row.observe("y", Normal::new(mean, precision.sqrt().recip()));
        });
    });
    let bound = bind(&model, &table());
    assert_eq!(bound.locals().unwrap().layout().size(), 1);
    let graph = Graph::new();
    let point = Point::new(graph.input("z", [1]), graph.input("theta", [0]));
    let set = RowSet::Range(0..4);
    let local = graph.input("w", [4, 1]);
    let rows = Rows::inputs(&graph, bound.columns(), 4, "").with_locals(local);
    let w = [0.1, -0.4, 0.7, 0.2];
    let values = row_values(&bound, &rows, &set)
        .with(point.latents, &[0.3])
        .with(local, &w);
    let found = evaluate(&[bound.log_likelihood(&point, &rows)], &values, 1);
    for n in 0..4 {
        let precision = w[n].exp();
        let prior = 2.0_f64.ln() - 2.0 * precision;
        near(
            found[0][n],
            normal(Y[n], 0.3, precision.sqrt().recip()) + prior + w[n],
        );
    }
}

#[test]
fn a_density_can_be_used_behind_a_pointer_and_across_threads() {
    let bound: Box<dyn Density> = Box::new(bind(&multilevel(), &table()));
    let size = std::thread::spawn(move || bound.latents().size())
        .join()
        .unwrap();
    assert_eq!(size, 6);
}
