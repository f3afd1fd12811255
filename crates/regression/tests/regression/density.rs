//! Every family: the log density is the one computed by hand from the reported coefficients.

use std::collections::HashMap;

use lehr_density::Density;
use lehr_regression::{Family, Groups};
use lehr_table::Table;
use libm::lgamma;

use crate::{
    category, coefficients, densities, names, near, normal, number, point, refusal, regression,
    sigmoid,
};

const X1: [f64; 8] = [101.0, 104.5, 99.0, 112.0, 97.5, 103.0, 110.0, 95.0];
const X2: [f64; 8] = [0.2, -0.4, 1.1, 0.9, -1.3, 0.0, 0.7, -0.8];
const COLOR: [&str; 8] = [
    "red", "blue", "red", "green", "blue", "green", "red", "blue",
];
const OFFSET: [f64; 8] = [0.1, -0.3, 0.2, 0.0, 0.4, -0.1, 0.3, -0.2];

type Named = HashMap<String, f64>;

fn table(y: &[f64]) -> Table {
    let table = number(Table::new(), "y", y);
    let table = number(table, "x1", &X1);
    let table = number(table, "x2", &X2);
    let table = category(table, "color", &COLOR);
    number(table, "off", &OFFSET)
}

/// The linear predictor of a row from coefficients whose names end in `suffix`.
fn predictor(named: &Named, row: usize, suffix: &str) -> f64 {
    let at = |name: &str| {
        named
            .get(&format!("{name}{suffix}"))
            .copied()
            .unwrap_or(0.0)
    };
    at("Intercept")
        + at("x1") * X1[row]
        + at("x2") * X2[row]
        + at("x1:x2") * X1[row] * X2[row]
        + at(&format!("color[{}]", COLOR[row]))
}

/// Compares every row with a function of the coefficients and the predictor with offset.
fn check(family: Family, y: &[f64], by_hand: impl Fn(&Named, usize, f64) -> f64) {
    let table = table(y);
    let formula = "y ~ x1*x2 + color + offset(off)";
    let regression = regression(formula, family, &table);
    let bound = regression.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let named = coefficients(&regression, &bound, &z);
    let (prior, likelihood) = densities(&bound, &z);
    assert!(prior.is_finite());
    for (row, found) in likelihood.iter().enumerate() {
        let at = predictor(&named, row, "") + OFFSET[row];
        near(*found, by_hand(&named, row, at));
    }
}

const REAL: [f64; 8] = [
    2000.5, 2010.0, 1995.0, 2031.0, 1988.0, 2002.0, 2025.0, 1979.0,
];
const COUNT: [f64; 8] = [0.0, 3.0, 1.0, 7.0, 0.0, 2.0, 5.0, 0.0];
const BINARY: [f64; 8] = [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0];
const POSITIVE: [f64; 8] = [0.5, 3.1, 1.7, 7.2, 0.3, 2.0, 5.5, 0.9];
const UNIT: [f64; 8] = [0.05, 0.31, 0.7, 0.72, 0.33, 0.2, 0.55, 0.9];

#[test]
fn gaussian_is_normal_around_the_predictor() {
    check(Family::Gaussian, &REAL, |named, row, at| {
        normal(REAL[row], at, named["sigma"])
    });
}

#[test]
fn student_is_student_around_the_predictor() {
    check(Family::Student, &REAL, |named, row, at| {
        let (df, sigma) = (named["df"], named["sigma"]);
        let z = (REAL[row] - at) / sigma;
        lgamma(0.5 * (df + 1.0))
            - lgamma(0.5 * df)
            - 0.5 * (df * std::f64::consts::PI).ln()
            - sigma.ln()
            - 0.5 * (df + 1.0) * (z * z / df).ln_1p()
    });
}

#[test]
fn bernoulli_has_the_predictor_as_logit() {
    check(Family::Bernoulli, &BINARY, |_, row, at| {
        BINARY[row] * at - at.exp().ln_1p()
    });
}

fn poisson(y: f64, log_rate: f64) -> f64 {
    y * log_rate - log_rate.exp() - lgamma(y + 1.0)
}

fn negbinomial(y: f64, log_mean: f64, shape: f64) -> f64 {
    let mean = log_mean.exp();
    lgamma(y + shape) - lgamma(shape) - lgamma(y + 1.0)
        + shape * (shape / (shape + mean)).ln()
        + y * (mean / (shape + mean)).ln()
}

#[test]
fn poisson_has_the_predictor_as_log_rate() {
    check(Family::Poisson, &COUNT, |_, row, at| {
        poisson(COUNT[row], at)
    });
}

#[test]
fn negbinomial_has_variance_by_shape() {
    check(Family::NegBinomial, &COUNT, |named, row, at| {
        negbinomial(COUNT[row], at, named["shape"])
    });
}

#[test]
fn gamma_has_the_predictor_as_log_mean() {
    check(Family::Gamma, &POSITIVE, |named, row, at| {
        let (shape, y) = (named["shape"], POSITIVE[row]);
        let rate = shape / at.exp();
        shape * rate.ln() - lgamma(shape) + (shape - 1.0) * y.ln() - rate * y
    });
}

#[test]
fn beta_has_the_predictor_as_logit_of_the_mean() {
    check(Family::Beta, &UNIT, |named, row, at| {
        let (precision, y) = (named["precision"], UNIT[row]);
        let (a, b) = (sigmoid(at) * precision, sigmoid(-at) * precision);
        lgamma(precision) - lgamma(a) - lgamma(b) + (a - 1.0) * y.ln() + (b - 1.0) * (-y).ln_1p()
    });
}

fn inflated(gate: f64, y: f64, log_density: f64) -> f64 {
    let count = (-gate).ln_1p() + log_density;
    if y == 0.0 {
        (gate + count.exp()).ln()
    } else {
        count
    }
}

#[test]
fn zero_inflated_families_mix_with_the_gate() {
    check(Family::ZeroInflatedPoisson, &COUNT, |named, row, at| {
        inflated(named["gate"], COUNT[row], poisson(COUNT[row], at))
    });
    check(Family::ZeroInflatedNegBinomial, &COUNT, |named, row, at| {
        let density = negbinomial(COUNT[row], at, named["shape"]);
        inflated(named["gate"], COUNT[row], density)
    });
}

#[test]
fn ordinal_cuts_the_predictor_on_the_original_scale() {
    let class = [0, 1, 1, 2, 0, 1, 2, 0];
    let y: Vec<f64> = class.iter().map(|class| 10.0 * f64::from(*class)).collect();
    check(Family::Ordinal, &y, |named, row, at| {
        let below = |k: i32| match k {
            0 => 0.0,
            3 => 1.0,
            k => sigmoid(named[&format!("cutpoint[{k}]")] - at),
        };
        (below(class[row] + 1) - below(class[row])).ln()
    });
}

#[test]
fn ordinal_probit_cuts_a_predictor_with_normal_noise() {
    let class = [0, 1, 1, 2, 0, 1, 2, 0];
    let y: Vec<f64> = class.iter().map(|class| 10.0 * f64::from(*class)).collect();
    check(Family::OrdinalProbit, &y, |named, row, at| {
        let below = |k: i32| match k {
            0 => 0.0,
            3 => 1.0,
            k => {
                let cut = named[&format!("cutpoint[{k}]")];
                0.5 * libm::erfc((at - cut) / std::f64::consts::SQRT_2)
            }
        };
        (below(class[row] + 1) - below(class[row])).ln()
    });
}

#[test]
fn generalized_poisson_counts_what_events_set_off() {
    check(Family::GeneralizedPoisson, &COUNT, |named, row, at| {
        let (y, own) = (COUNT[row], named["dispersion"]);
        let rate = at.exp() * (1.0 - own);
        rate.ln() + (y - 1.0) * (rate + own * y).ln() - rate - own * y - lgamma(y + 1.0)
    });
}

#[test]
fn zero_inflated_binomial_mixes_with_the_gate() {
    let trials = 9.0;
    let table = table(&COUNT);
    let formula = "y | trials(9) ~ x1*x2 + color";
    let regression = regression(formula, Family::ZeroInflatedBinomial, &table);
    let bound = regression.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let named = coefficients(&regression, &bound, &z);
    for (row, found) in densities(&bound, &z).1.iter().enumerate() {
        let (y, at) = (COUNT[row], predictor(&named, row, ""));
        let ways = lgamma(trials + 1.0) - lgamma(y + 1.0) - lgamma(trials - y + 1.0);
        let density = ways + y * at - trials * at.exp().ln_1p();
        near(*found, inflated(named["gate"], y, density));
    }
}

#[test]
fn binomial_counts_successes_among_trials() {
    let trials = [3.0, 5.0, 2.0, 9.0, 4.0, 6.0, 5.0, 1.0];
    let failures: Vec<f64> = trials.iter().zip(COUNT).map(|(n, y)| n - y).collect();
    let table = number(table(&COUNT), "n", &trials);
    let table = number(table, "f", &failures);
    for formula in [
        "cbind(y, f) ~ x1*x2 + color",
        "cbind(y, n - y) ~ x1*x2 + color",
        "y | trials(n) ~ x1*x2 + color",
    ] {
        let regression = regression(formula, Family::Binomial, &table);
        let bound = regression.bind(&table).unwrap();
        let z = point(bound.latents().size());
        let named = coefficients(&regression, &bound, &z);
        for (row, found) in densities(&bound, &z).1.iter().enumerate() {
            let (n, y, at) = (trials[row], COUNT[row], predictor(&named, row, ""));
            let ways = lgamma(n + 1.0) - lgamma(y + 1.0) - lgamma(n - y + 1.0);
            near(*found, ways + y * at - n * at.exp().ln_1p());
        }
    }
}

#[test]
fn categorical_has_a_logit_for_each_class_but_the_first() {
    let animal = ["cat", "dog", "dog", "eel", "cat", "eel", "dog", "cat"];
    let table = category(table(&REAL), "animal", &animal);
    let formula = "animal ~ x1*x2 + color + (1 + x2 | color)";
    let regression = regression(formula, Family::Categorical, &table);
    assert_eq!(regression.response_levels(), ["cat", "dog", "eel"]);
    let bound = regression.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let named = coefficients(&regression, &bound, &z);
    for (row, found) in densities(&bound, &z).1.iter().enumerate() {
        let logit = |class: &str| {
            let group = format!("color[{}", COLOR[row]);
            predictor(&named, row, &format!("[{class}]"))
                + named[&format!("{group}, Intercept][{class}]")]
                + named[&format!("{group}, x2][{class}]")] * X2[row]
        };
        let logits = [0.0, logit("dog"), logit("eel")];
        let total: f64 = logits.iter().map(|logit| logit.exp()).sum();
        let class = ["cat", "dog", "eel"]
            .iter()
            .position(|name| *name == animal[row])
            .unwrap();
        near(*found, logits[class] - total.ln());
    }
}

#[test]
fn weights_multiply_the_rows_log_likelihood() {
    let weights = [1.0, 2.0, 0.0, 0.5, 1.0, 3.0, 1.0, 1.0];
    let table = number(table(&REAL), "w", &weights);
    let plain = regression("y ~ x1", Family::Gaussian, &table);
    let weighed = regression("y ~ x1 + weights(w)", Family::Gaussian, &table);
    let bound = weighed.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let expected = densities(&plain.bind(&table).unwrap(), &z).1;
    for (row, found) in densities(&bound, &z).1.iter().enumerate() {
        near(*found, weights[row] * expected[row]);
    }
}

#[test]
fn without_an_intercept_columns_are_not_centred() {
    let table = table(&REAL);
    let regression = regression("y ~ 0 + x1 + color", Family::Gaussian, &table);
    let bound = regression.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let named = coefficients(&regression, &bound, &z);
    assert!(!named.contains_key("Intercept"));
    assert!(
        named.contains_key("color[blue]"),
        "all levels have a coefficient"
    );
    for (row, found) in densities(&bound, &z).1.iter().enumerate() {
        near(
            *found,
            normal(REAL[row], predictor(&named, row, ""), named["sigma"]),
        );
    }
}

#[test]
fn terms_with_learnt_constants_are_the_same_for_other_rows() {
    let table = table(&REAL);
    let regression = regression("log(y) ~ poly(x1, 2) + scale(x2)", Family::Gaussian, &table);
    assert_eq!(regression.response(), "log(y)");
    let all = regression.design(&table).unwrap();
    let some = regression.design(&table.select_rows(&[6, 1])).unwrap();
    assert_eq!(all.select_rows(&[6, 1]), some);
}

#[test]
fn known_standard_errors_stand_in_place_of_sigma() {
    let effects = [28.0, 8.0, -3.0, 7.0];
    let errors = [15.0, 10.0, 16.0, 11.0];
    let table = number(number(Table::new(), "effect", &effects), "error", &errors);
    let table = category(table, "school", &["a", "b", "c", "d"]);
    let formula = "effect | se(error) ~ 1 + (1 | school)";
    let made = regression(formula, Family::Gaussian, &table);
    let found = names(&made, &table, Groups::Leave);
    assert_eq!(found, ["Intercept", "sd(school)"]);
    assert_eq!(made.terms().to_string(), formula);
    let bound = made.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let at = coefficients(&made, &bound, &z);
    let (_, rows) = densities(&bound, &z);
    for (row, school) in ["a", "b", "c", "d"].iter().enumerate() {
        let mean = at["Intercept"] + at[&format!("school[{school}]")];
        near(rows[row], normal(effects[row], mean, errors[row]));
    }
    let message = refusal("effect | se(error) ~ 1", Family::Student, &table);
    assert!(
        message.contains("only --family gaussian takes se(...)"),
        "{message}"
    );
    let wrong = number(
        number(Table::new(), "effect", &effects),
        "error",
        &[1.0, 0.0, 1.0, 1.0],
    );
    let message = refusal("effect | se(error) ~ 1", Family::Gaussian, &wrong);
    assert!(
        message.contains("se(error), row 2: expected a standard error above 0"),
        "{message}"
    );
}
