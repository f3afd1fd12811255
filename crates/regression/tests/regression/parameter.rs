//! Formulas of the family's own parameters.

use lehr_density::Density;
use lehr_regression::{Family, Groups, PriorOrigin, Regression, RegressionError, Specification};
use lehr_table::Table;

use crate::{category, coefficients, densities, names, near, normal, number, point, sigmoid};

const Y: [f64; 6] = [0.3, -1.1, 2.5, 0.9, 4.0, -0.2];
const X: [f64; 6] = [-1.0, 0.5, 2.0, 1.0, 3.0, -2.0];
const COUNT: [f64; 6] = [0.0, 3.0, 0.0, 1.0, 5.0, 0.0];
const SITES: [&str; 6] = ["a", "b", "a", "b", "c", "c"];

fn table() -> Table {
    let table = number(Table::new(), "y", &Y);
    let table = number(number(table, "x", &X), "count", &COUNT);
    category(table, "site", &SITES)
}

fn made(
    formula: &str,
    family: Family,
    formulas: &[&str],
    priors: &[&str],
) -> Result<Regression, RegressionError> {
    let table = table();
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    Specification::parse(formula, table.names())?
        .with_family(family)
        .with_formulas(&owned(formulas), table.names())?
        .with_priors(&owned(priors))?
        .learn(&table)
}

/// The coefficients and densities at a point without symmetries.
fn evaluated(regression: &Regression) -> (std::collections::HashMap<String, f64>, f64, Vec<f64>) {
    let bound = regression.bind(&table()).unwrap();
    let z = point(bound.latents().size());
    let (prior, rows) = densities(&bound, &z);
    (coefficients(regression, &bound, &z), prior, rows)
}

#[test]
fn sigma_is_the_exponential_of_what_its_coefficients_say() {
    let regression = made("y ~ x", Family::Gaussian, &["sigma ~ x + site"], &[]).unwrap();
    assert_eq!(
        names(&regression, &table(), Groups::Leave),
        [
            "Intercept",
            "x",
            "sigma.Intercept",
            "sigma.x",
            "sigma.site[b]",
            "sigma.site[c]"
        ]
    );
    let (at, _, rows) = evaluated(&regression);
    for (row, found) in rows.iter().enumerate() {
        let level = match SITES[row] {
            "a" => 0.0,
            site => at[&format!("sigma.site[{site}]")],
        };
        let sigma = (at["sigma.Intercept"] + at["sigma.x"] * X[row] + level).exp();
        let mean = at["Intercept"] + at["x"] * X[row];
        near(*found, normal(Y[row], mean, sigma));
    }
}

#[test]
fn a_gate_is_the_logistic_of_what_its_coefficients_say_and_the_rest_is_shared() {
    let regression = made(
        "count ~ 1",
        Family::ZeroInflatedNegBinomial,
        &["gate ~ x"],
        &[],
    );
    let regression = regression.unwrap();
    let (at, _, rows) = evaluated(&regression);
    assert!(at.contains_key("shape") && !at.contains_key("gate"));
    for (row, found) in rows.iter().enumerate() {
        let gate = sigmoid(at["gate.Intercept"] + at["gate.x"] * X[row]);
        let (mean, shape) = (at["Intercept"].exp(), at["shape"]);
        // Counts are 0, 1, 3 and 5: the product form of the negative binomial.
        let count = COUNT[row];
        let mut log = shape * (shape / (shape + mean)).ln() + count * (mean / (shape + mean)).ln();
        for k in 0..count as u32 {
            log += ((shape + f64::from(k)) / f64::from(k + 1)).ln();
        }
        let expected = if count == 0.0 {
            (gate + (1.0 - gate) * log.exp()).ln()
        } else {
            (1.0 - gate).ln() + log
        };
        near(*found, expected);
    }
}

#[test]
fn priors_of_a_parameter_are_densities_of_its_reported_coefficients() {
    let given = |priors: &[&str]| made("y ~ 1", Family::Gaussian, &["sigma ~ x"], priors).unwrap();
    let one = given(&[
        "Intercept ~ normal(0, 1)",
        "sigma.Intercept ~ normal(0.5, 2)",
        "sigma.x ~ normal(1, 3)",
    ]);
    let other = given(&[
        "Intercept ~ normal(0, 1)",
        "sigma.Intercept ~ normal(-1, 0.7)",
        "sigma.weight ~ normal(0, 0.4)",
    ]);
    let (at, first, _) = evaluated(&one);
    let (same, second, _) = evaluated(&other);
    near(at["sigma.x"], same["sigma.x"]);
    let expected = normal(at["sigma.Intercept"], 0.5, 2.0) + normal(at["sigma.x"], 1.0, 3.0)
        - normal(at["sigma.Intercept"], -1.0, 0.7)
        - normal(at["sigma.x"], 0.0, 0.4);
    near(first - second, expected);
    let lines = other.prior_lines();
    let origin = |name: &str| {
        lines
            .iter()
            .find(|line| line.name == name)
            .unwrap()
            .origin
            .clone()
    };
    assert_eq!(origin("sigma.Intercept"), PriorOrigin::Given);
    assert_eq!(origin("sigma.x"), PriorOrigin::Class("sigma.weight".into()));
}

#[test]
fn default_priors_of_a_parameter_are_told() {
    let regression = made("y ~ 1", Family::Gaussian, &["sigma ~ 1 + x"], &[]).unwrap();
    let lines: Vec<String> = (regression.prior_lines().iter())
        .map(|line| format!("{} ~ {} ({})", line.name, line.distribution, line.origin))
        .collect();
    assert_eq!(
        lines,
        [
            "Intercept ~ normal(1.067, 4.278) (default)",
            "sigma.x ~ normal(0, 0.5905) (default)",
            "sigma.Intercept ~ normal(0.5373, 2.5) at the means of the columns (default)",
        ]
    );
}

#[test]
fn formulas_that_cannot_be_are_refused_with_what_to_write() {
    let told = |family, formula: &str| {
        let made = made("y ~ x", family, &[formula], &[]);
        made.expect_err("a refusal").to_string()
    };
    let says = |text: String, parts: &[&str]| {
        assert!(parts.iter().all(|part| text.contains(part)), "{text}");
    };
    says(
        told(Family::Gaussian, "sigma ~ z"),
        &["no column \"z\"", "^"],
    );
    says(
        told(Family::Gaussian, "shape ~ x"),
        &["a parameter of gaussian: sigma"],
    );
    says(told(Family::Student, "df ~ x"), &["the same in all rows"]);
    says(
        told(Family::Exponential, "sigma ~ x"),
        &["has no parameter that rows can vary"],
    );
    says(
        told(Family::Gaussian, "sigma ~ gp(x)"),
        &["belongs to the formula of the response", "^^^^^"],
    );
    says(told(Family::Gaussian, "log(sigma) ~ x"), &["name it alone"]);
    let twice = made(
        "y ~ x",
        Family::Gaussian,
        &["sigma ~ x", "sigma ~ site"],
        &[],
    );
    says(twice.unwrap_err().to_string(), &["two for sigma"]);
}

#[test]
fn bounds_on_the_intercept_of_a_parameter_are_refused() {
    let prior = ["sigma.Intercept ~ uniform(-1, 1)"];
    let error = made("y ~ x", Family::Gaussian, &["sigma ~ x"], &prior).unwrap_err();
    let expected = "prior on sigma.Intercept: expected a distribution without bounds, \
                    found uniform(-1, 1)\n  hint: use normal, student_t, ";
    assert!(error.to_string().starts_with(expected), "{error}");
}
