//! The program of a formula is that of the same model written by hand.

use lehr_density::{Density, Predictor};
use lehr_model::distribution::{Bernoulli, Distribution, HalfNormal, Normal};
use lehr_model::{Model, Program};
use lehr_regression::{Family, Regression};
use lehr_table::Table;

use crate::{category, densities, number, point};

fn table() -> Table {
    let table = number(Table::new(), "y", &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
    let table = number(table, "x", &[0.5, 0.1, 0.9, 0.4, 1.3, 2.0]);
    category(table, "g", &["a", "b", "a", "b", "b", "a"])
}

fn formula() -> Regression {
    let priors = ["sd(g) ~ half_normal(1)".to_owned()];
    Regression::new("y ~ x + (1 | g)", Family::Bernoulli, &priors, &table()).unwrap()
}

/// The same model over the columns of the design, its sum in another order.
fn by_hand() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 2.5).expand([1]));
        let intercept = m.sample("intercept", Normal::new(0.0, 2.5));
        let spread = m.sample("sd(g)", HalfNormal::new(1.0));
        let standard = Normal::new(0.0, 1.0).expand([m.levels("group1")]);
        let own = m.sample("standard(g)", standard);
        // The mean of x in standard deviations. x = 0 lies that far below the mean.
        let x = [0.5_f64, 0.1, 0.9, 0.4, 1.3, 2.0];
        let mean = x.iter().sum::<f64>() / 6.0;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 6.0;
        let shift = m.graph().constant([1], &[mean / variance.sqrt()]);
        m.deterministic("Intercept", intercept - shift.dot(weight));
        m.rows(|row| {
            let effect = own.at(row.index("group1")) * spread;
            let logit = intercept + effect + row.matrix("x").dot(weight);
            row.quantity("predictor", logit);
            row.observe("y", Bernoulli::with_logit(logit));
        });
    })
}

#[test]
fn a_formula_and_a_function_print_the_same_program() {
    let regression = formula();
    let by_hand = by_hand()
        .bind(&regression.design(&table()).unwrap())
        .unwrap();
    let program = regression.program().unwrap();
    assert_eq!(
        program.to_string(),
        "weight ~ Normal(loc = 0, scale = 2.5), shape [1]\n\
         intercept ~ Normal(loc = 0, scale = 2.5)\n\
         sd(g) ~ HalfNormal(scale = 1)\n\
         standard(g) ~ Normal(loc = 0, scale = 1), shape [2]\n\
         Intercept = -1.36653 · weight + intercept\n\
         predictor = x · weight + sd(g) * standard(g)[group1] + intercept in each row\n\
         y ~ Bernoulli(logit = x · weight + sd(g) * standard(g)[group1] + intercept) in each row"
    );
    assert_eq!(by_hand.program().to_string(), program.to_string());
    let z = point(5);
    let (prior, rows) = densities(&by_hand, &z);
    let (same_prior, same_rows) = densities(&regression.bind(&table()).unwrap(), &z);
    assert!((prior - same_prior).abs() < 1e-12);
    for (a, b) in rows.iter().zip(&same_rows) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn a_stored_program_predicts_without_the_formula() {
    let regression = formula();
    let bound = regression.bind(&table()).unwrap();
    let program = Program::from_stored(&bound.origin().unwrap()).unwrap();
    let again = program.bind(&regression.design(&table()).unwrap()).unwrap();
    assert_eq!(densities(&again, &point(5)), densities(&bound, &point(5)));
    let means = |density: &dyn Density| Predictor::of_all_rows(density).means(&point(5), &[]);
    assert_eq!(means(&again), means(&bound));
}
