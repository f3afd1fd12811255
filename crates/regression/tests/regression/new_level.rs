//! Rows to predict: without a response, with groups that were not fitted.

use lehr_density::{Density, Predictor};
use lehr_learn::NewLevels;
use lehr_regression::{Family, Groups, Purpose, TableBlock};
use lehr_table::Table;

use crate::{category, near, number, point, regression};

fn table() -> Table {
    let table = number(Table::new(), "y", &[1.0, 2.0, 4.0, 3.0, 2.0, 2.5]);
    let table = number(table, "x", &[0.5, 0.1, 0.9, 0.4, 0.3, 0.2]);
    let table = category(table, "site", &["a", "b", "c", "a", "b", "c"]);
    number(table, "ward", &[1.0, 2.0, 1.0, 2.0, 1.0, 2.0])
}

fn later(sites: &[&str]) -> Table {
    let xs: Vec<f64> = (0..sites.len()).map(|row| 0.1 * row as f64).collect();
    let table = category(number(Table::new(), "x", &xs), "site", sites);
    number(table, "ward", &vec![1.0; sites.len()])
}

const FORMULA: &str = "y ~ x + (1 + x | site) + (1 | ward)";

#[test]
fn unseen_groups_are_refused_by_name() {
    let made = regression(FORMULA, Family::Gaussian, &table());
    let rows = later(&["a", "z", "q", "z"]);
    assert_eq!(
        made.design_rows(
            &TableBlock::whole(&rows),
            Purpose::Predict(NewLevels::Refuse)
        )
        .unwrap_err()
        .to_string(),
        "group site: expected groups of the table that was fitted, found 2 new: \"z\", \"q\"\n  \
         hint: draw effects for new groups with --new-levels sample"
    );
    let design = made
        .design_rows(
            &TableBlock::whole(&rows),
            Purpose::Predict(NewLevels::Sample),
        )
        .unwrap();
    assert_eq!(design.number("group1").unwrap(), [0.0, 3.0, 4.0, 3.0]);
    assert!(design.column("y").is_err());
}

#[test]
fn an_unseen_combination_of_seen_levels_is_unseen() {
    let made = regression("y ~ x + (1 | site:ward)", Family::Gamma, &table());
    let rows = number(later(&["a"]).select_rows(&[0]), "y", &[1.0]);
    assert!(
        made.design_rows(
            &TableBlock::whole(&rows),
            Purpose::Predict(NewLevels::Refuse)
        )
        .is_ok()
    );
    let only = number(Table::new(), "y", &[1.0, 2.0]);
    let only = category(number(only, "x", &[0.1, 0.4]), "site", &["a", "b"]);
    let only = number(only, "ward", &[1.0, 2.0]);
    let made = regression("y ~ x + (1 | site:ward)", Family::Gamma, &only);
    let crossed = category(number(Table::new(), "x", &[0.0]), "site", &["b"]);
    let error = made.design_rows(
        &TableBlock::whole(&number(crossed, "ward", &[1.0])),
        Purpose::Predict(NewLevels::Refuse),
    );
    assert!(error.unwrap_err().to_string().contains("1 new: \"b:1\""));
}

fn means(rows: &lehr_regression::NewRows, z: &[f64]) -> Vec<f64> {
    let mut predictor = Predictor::of_all_rows(rows.bound());
    predictor.means(z, &[]).remove(0).values
}

#[test]
fn rows_without_a_response_are_predicted_from_fitted_draws() {
    let made = regression(FORMULA, Family::Gaussian, &table());
    let fitted = made.bind(&table()).unwrap();
    let z = point(fitted.latents().size());
    let rows = made
        .bind_new(&later(&["c", "a"]), NewLevels::Refuse)
        .unwrap();
    assert!(!rows.has_response() && rows.unseen().is_empty());
    assert_eq!(rows.latents(&z, 1), z);
    let draws = made.coefficients(&fitted.latents().constrain_values(&z), Groups::Include);
    let at = |name: &str| {
        draws
            .iter()
            .find(|draws| draws.name.as_str() == name)
            .unwrap()
            .values[0]
    };
    let found = means(&rows, &z);
    let ward = at("ward[1]");
    near(found[0], at("Intercept") + at("site[c, Intercept]") + ward);
    let slope = at("x") + at("site[a, x]");
    near(
        found[1],
        at("Intercept") + 0.1 * slope + at("site[a, Intercept]") + ward,
    );
}

#[test]
fn a_new_group_has_the_same_effect_in_every_table_and_another_for_each_seed() {
    let made = regression(FORMULA, Family::Gaussian, &table());
    let z = point(made.bind(&table()).unwrap().latents().size());
    let first = made
        .bind_new(&later(&["z", "q", "a"]), NewLevels::Sample)
        .unwrap();
    let second = made
        .bind_new(&later(&["q", "z", "b"]), NewLevels::Sample)
        .unwrap();
    assert_eq!(first.unseen(), ["site[z]", "site[q]"]);
    let at_zero = |rows: &lehr_regression::NewRows, seed| means(rows, &rows.latents(&z, seed))[0];
    let alone = made.bind_new(&later(&["z"]), NewLevels::Sample).unwrap();
    near(at_zero(&first, 5), at_zero(&alone, 5));
    assert!((at_zero(&first, 5) - at_zero(&second, 5)).abs() > 1e-3);
    assert!((at_zero(&first, 5) - at_zero(&first, 6)).abs() > 1e-3);
    // Known groups keep their effects.
    let known = made
        .bind_new(&later(&["a", "a", "a"]), NewLevels::Refuse)
        .unwrap();
    near(
        means(&first, &first.latents(&z, 5))[2],
        means(&known, &z)[2],
    );
}

#[test]
fn effects_of_new_groups_vary_as_the_spread_says() {
    let made = regression("y ~ 1 + (1 | site)", Family::Gaussian, &table());
    let fitted = made.bind(&table()).unwrap();
    let z = point(fitted.latents().size());
    let draws = made.coefficients(&fitted.latents().constrain_values(&z), Groups::Leave);
    let at = |name: &str| {
        draws
            .iter()
            .find(|draws| draws.name.as_str() == name)
            .unwrap()
            .values[0]
    };
    let rows = made.bind_new(&later(&["z"]), NewLevels::Sample).unwrap();
    let count = 400;
    let squares: f64 = (0..count)
        .map(|seed| means(&rows, &rows.latents(&z, seed))[0] - at("Intercept"))
        .map(|effect| effect * effect)
        .sum();
    let ratio = squares / count as f64 / at("sd(site)").powi(2);
    // Four standard errors of a mean of squares: 4 √(2/400).
    assert!((ratio - 1.0).abs() < 0.29, "{ratio}");
}

#[test]
fn a_blank_response_is_no_response_and_absent_weights_are_one() {
    let weighed = number(table(), "w", &[1.0, 2.0, 1.0, 1.0, 1.0, 1.0]);
    let made = regression("y ~ x + weights(w)", Family::Gaussian, &weighed);
    let rows = number(later(&["a", "b"]), "y", &[f64::NAN, f64::NAN]);
    assert!(
        !made
            .bind_new(&rows, NewLevels::Refuse)
            .unwrap()
            .has_response()
    );
    let rows = number(later(&["a", "b"]), "y", &[1.0, 2.0]);
    assert!(
        made.bind_new(&rows, NewLevels::Refuse)
            .unwrap()
            .has_response()
    );
    let design = made
        .design_rows(
            &TableBlock::whole(&rows),
            Purpose::Predict(NewLevels::Refuse),
        )
        .unwrap();
    assert_eq!(design.number("weight").unwrap(), [1.0, 1.0]);
    let holes = number(later(&["a", "b"]), "y", &[1.0, f64::NAN]);
    assert!(made.bind_new(&holes, NewLevels::Refuse).is_err());
}

/// The column of [`suited`] whose values this family allows.
fn response_of(family: Family) -> &'static str {
    match family {
        Family::Bernoulli => "bit",
        Family::Binomial
        | Family::BetaBinomial
        | Family::ZeroInflatedBinomial
        | Family::BinomialLogitNormal => "bit | trials(3)",
        Family::Beta | Family::VonMises => "unit",
        Family::Gaussian
        | Family::Student
        | Family::Gamma
        | Family::LogNormal
        | Family::Exponential
        | Family::Weibull
        | Family::InverseGaussian => "y",
        _ => "count",
    }
}

fn suited() -> Table {
    let base = number(table(), "count", &[0.0, 2.0, 1.0, 4.0, 3.0, 1.0]);
    let base = number(base, "unit", &[0.1, 0.2, 0.7, 0.4, 0.6, 0.5]);
    number(base, "bit", &[0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
}

#[test]
fn every_family_predicts_without_a_response() {
    let base = suited();
    for &family in Family::ALL {
        let formula = format!("{} ~ x + (1 | site)", response_of(family));
        let made = regression(&formula, family, &base);
        let z = point(made.bind(&base).unwrap().latents().size());
        let rows = made
            .bind_new(&later(&["a", "z"]), NewLevels::Sample)
            .unwrap();
        let mut predictor = Predictor::of_all_rows(rows.bound());
        let means = predictor.means(&rows.latents(&z, 3), &[]);
        let finite = means
            .iter()
            .all(|mean| mean.values.iter().all(|mean| mean.is_finite()));
        assert!(finite, "{family}");
    }
}

#[test]
fn groups_of_every_family_with_one_predictor_can_be_integrated_out() {
    let base = suited();
    for &family in Family::ALL {
        let formula = format!("{} ~ x + (1 | site)", response_of(family));
        let bound = regression(&formula, family, &base).bind(&base).unwrap();
        let why = match family {
            Family::Categorical => Some("a row has more than one predictor"),
            Family::PoissonLogNormal | Family::BinomialLogitNormal => {
                Some("every row has latents of its own")
            }
            _ => None,
        };
        assert_eq!(bound.split().err().as_deref(), why, "{family}");
    }
}
