//! A saved regression is the same regression.

use lehr_density::{Density, Predictive};
use lehr_regression::{Family, Groups, Regression};
use lehr_table::Table;

use crate::{category, densities, number, point};

fn table() -> Table {
    let table = number(Table::new(), "y", &[1.1, 2.0, 4.3, 3.0, 2.7, 0.1]);
    let table = number(table, "x", &[0.5, 0.1, 0.9, 0.4, 1.3, 2.0]);
    let table = category(
        table,
        "color",
        &["red", "blue", "red", "green", "blue", "red"],
    );
    let table = number(table, "ward", &[1.0, 2.0, 1.0, 3.0, 2.0, 1.0]);
    number(table, "w", &[1.0, 2.0, 1.0, 1.0, 0.5, 1.0])
}

const FORMULA: &str =
    "y ~ poly(x, 2)*color + offset(log(x)) + weights(w) + (1 + x | color) + (1 | color/ward)";

fn made() -> Regression {
    let priors = [
        "x ~ normal(0, 1)".replace("x ~", "weight ~"),
        "sd(color) ~ half_cauchy(2)".into(),
    ];
    let formula = FORMULA.replace(" + (1 | color/ward)", " + (1 | color:ward)");
    Regression::new(&formula, Family::Student, &priors, &table()).unwrap()
}

fn check(back: &Regression) {
    let (first, second) = (made().bind(&table()).unwrap(), back.bind(&table()).unwrap());
    let z = point(first.latents().size());
    assert_eq!(densities(&first, &z), densities(&second, &z));
    assert_eq!(first.describe(), second.describe());
    let sites = first.latents().constrain_values(&z);
    let coefficients = |made: &Regression| made.coefficients(&sites, Groups::Include);
    assert_eq!(coefficients(&made()), coefficients(back));
    assert_eq!(made().priors(), back.priors());
}

#[test]
fn json_rebuilds_the_same_density() {
    let text = serde_json::to_string(&made()).unwrap();
    check(&serde_json::from_str(&text).unwrap());
}

#[test]
fn postcard_rebuilds_the_same_density() {
    let bytes = postcard::to_stdvec(&made()).unwrap();
    check(&postcard::from_bytes(&bytes).unwrap());
}

#[test]
fn a_repeated_effect_of_one_grouping_is_refused_with_a_caret() {
    let error = Regression::new(FORMULA, Family::Student, &[], &table()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("Intercept varies by color already")
    );
}
