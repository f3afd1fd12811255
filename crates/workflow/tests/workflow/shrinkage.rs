//! Priors of all coefficients together.

use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::method::Nuts;
use lehr_regression::{Family, Groups, Regression, RegressionError};
use lehr_table::Table;
use lehr_workflow::regress;

use crate::{category, coefficients, densities, near, normal, number, point};

const Y: [f64; 6] = [0.3, -1.1, 2.5, 0.9, 4.0, -0.2];
const A: [f64; 6] = [-1.0, 0.5, 2.0, 1.0, 3.0, -2.0];
const B: [f64; 6] = [4.0, 1.0, 2.0, -1.0, 0.0, 5.0];

fn table() -> Table {
    let table = number(number(Table::new(), "y", &Y), "a", &A);
    category(
        number(table, "b", &B),
        "site",
        &["u", "v", "w", "u", "v", "w"],
    )
}

fn made(formula: &str, family: Family, priors: &[&str]) -> Result<Regression, RegressionError> {
    let priors: Vec<String> = priors.iter().map(ToString::to_string).collect();
    Regression::new(formula, family, &priors, &table())
}

#[test]
fn reported_coefficients_are_those_of_the_rows() {
    for prior in ["weight ~ horseshoe(0.3, 2)", "weight ~ r2d2(0.4, 3, 0.5)"] {
        let regression = made("y ~ a + b", Family::Gaussian, &[prior]).unwrap();
        let bound = regression.bind(&table()).unwrap();
        let z = point(bound.latents().size());
        let at = coefficients(&regression, &bound, &z);
        let (_, rows) = densities(&bound, &z);
        for (row, found) in rows.iter().enumerate() {
            let mean = at["Intercept"] + at["a"] * A[row] + at["b"] * B[row];
            near(*found, normal(Y[row], mean, at["sigma"]));
        }
        assert!(at.contains_key("weight.global") || at.contains_key("weight.R2"));
    }
}

/// The scales that the sites of a draw compute from standard normals, by the formulas of the page.
#[test]
fn coefficients_have_the_scales_that_the_page_says() {
    let regression = made(
        "y ~ a + b",
        Family::Gaussian,
        &["weight ~ r2d2(0.4, 3, 0.5)"],
    )
    .unwrap();
    let bound = regression.bind(&table()).unwrap();
    let sites = bound
        .latents()
        .constrain_values(&point(bound.latents().size()));
    let site = |name: &str| &sites.iter().find(|site| site.name == name).unwrap().values;
    let (z, share) = (site("weight.direction"), site("weight.share"));
    let spread = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / 6.0;
        (values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / 6.0)
            .sqrt()
    };
    let draws = regression.coefficients(&sites, Groups::Leave);
    let value = |name: &str| {
        draws
            .iter()
            .find(|one| one.name.as_str() == name)
            .unwrap()
            .values[0]
    };
    let explained = site("weight.R2")[0];
    for (place, (name, column)) in [("a", A), ("b", B)].into_iter().enumerate() {
        let scale = (share[place] * explained).sqrt() * spread(&Y) / spread(&column);
        near(value(name), z[place] * scale);
    }
    let regression = made("y ~ a", Family::Gaussian, &["weight ~ horseshoe(0.3, 2)"]).unwrap();
    let bound = regression.bind(&table()).unwrap();
    let sites = bound
        .latents()
        .constrain_values(&point(bound.latents().size()));
    let site = |name: &str| sites.iter().find(|site| site.name == name).unwrap().values[0];
    let scale = site("weight.local") * site("weight.global");
    let slabbed = scale / (1.0 + (scale / 2.0).powi(2)).sqrt() * spread(&Y) / spread(&A);
    let draws = regression.coefficients(&sites, Groups::Leave);
    near(draws[1].values[0], site("weight.direction") * slabbed);
}

#[test]
fn joint_priors_are_refused_where_they_have_no_meaning() {
    let told = |family, formula: &str, priors: &[&str]| {
        made(formula, family, priors)
            .expect_err("a refusal")
            .to_string()
    };
    let says = |text: String, part: &str| assert!(text.contains(part), "{text}");
    let single = told(Family::Gaussian, "y ~ a", &["a ~ horseshoe(1, 2)"]);
    says(single, "one prior of all common coefficients");
    let both = ["weight ~ horseshoe(1, 2)", "a ~ normal(0, 1)"];
    says(
        told(Family::Gaussian, "y ~ a + b", &both),
        "is the prior of \"a\" already",
    );
    let classes = told(
        Family::Categorical,
        "site ~ a",
        &["weight ~ r2d2(0.5, 2, 1)"],
    );
    says(classes, "several classes");
    let mean = told(Family::Gaussian, "y ~ a", &["weight ~ r2d2(2, 2, 1)"]);
    says(mean, "between 0 and 1");
}

/// Ten columns of which two matter: these keep their coefficients, and the others shrink below the
/// values under a normal prior.
#[test]
fn few_columns_are_found_among_many() {
    let mut state = 7_u64;
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) as f64 + 0.5) / 2_f64.powi(31)
    };
    // A sum of twelve uniform numbers is nearly normal.
    let mut noise = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    let columns: Vec<Vec<f64>> = (0..10)
        .map(|_| (0..80).map(|_| noise()).collect())
        .collect();
    let y: Vec<f64> = (0..80)
        .map(|row| 1.5 * columns[0][row] - 2.0 * columns[1][row] + 2.0 * noise())
        .collect();
    let mut table = number(Table::new(), "y", &y);
    for (place, column) in columns.iter().enumerate() {
        table = number(table, &format!("x{place}"), column);
    }
    let means = |prior: &str| {
        let mut nuts = Nuts::default();
        nuts.sampler.chains = Some(2);
        let fit = Fit::new(nuts).seed(5).draws(400);
        let fit = fit.set("warm-up", "300").unwrap();
        let fit = regress("y ~ .", &table)
            .unwrap()
            .prior(prior)
            .unwrap()
            .with(fit)
            .fit();
        let all = fit.unwrap().coefficients(Groups::Leave);
        (0..10)
            .map(|place| all[place + 1].best_summary().mean)
            .collect::<Vec<f64>>()
    };
    let plain = means("weight ~ normal(0, 10)");
    let size = |means: &[f64]| means[2..].iter().map(|mean| mean.abs()).sum::<f64>();
    for prior in ["weight ~ horseshoe(0.1, 2)", "weight ~ r2d2(0.5, 2, 0.3)"] {
        let found = means(prior);
        assert!(
            (found[0] - 1.5).abs() < 0.8 && (found[1] + 2.0).abs() < 0.8,
            "{found:?}"
        );
        assert!(size(&found) < 0.75 * size(&plain), "{found:?} {plain:?}");
    }
}
