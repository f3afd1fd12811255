//! Levels coded as the formula requests: the same model in other coordinates.

use lehr_density::Density;
use lehr_learn::{NewLevels, ValueProfile};
use lehr_regression::{Family, Regression};
use lehr_table::Table;

use crate::{category, coefficients, densities, names, near, normal, number, point, regression};

const Y: [f64; 6] = [0.3, -1.1, 2.5, 0.9, 4.0, -0.2];
const SHIFT: [&str; 6] = ["day", "late", "night", "day", "late", "night"];

fn table() -> Table {
    category(number(Table::new(), "y", &Y), "shift", &SHIFT)
}

/// The mean of each row computed by hand from the coefficients, compared with the rows' densities.
fn rows_agree(formula: &str, mean: impl Fn(&dyn Fn(&str) -> f64, &str) -> f64) {
    let regression = regression(formula, Family::Gaussian, &table());
    let bound = regression.bind(&table()).unwrap();
    let z = point(bound.latents().size());
    let at = coefficients(&regression, &bound, &z);
    let (_, rows) = densities(&bound, &z);
    let value = |name: &str| at[name];
    for ((found, y), shift) in rows.iter().zip(Y).zip(SHIFT) {
        near(*found, normal(y, mean(&value, shift), at["sigma"]));
    }
}

#[test]
fn a_reference_is_the_level_without_a_coefficient() {
    rows_agree("y ~ C(shift, ref = \"night\")", |at, shift| {
        let own = match shift {
            "night" => 0.0,
            other => at(&format!("shift[{other}]")),
        };
        at("Intercept") + own
    });
}

#[test]
fn sum_contrasts_are_distances_from_the_mean_of_the_levels() {
    rows_agree("y ~ C(shift, sum)", |at, shift| {
        let [day, late] = ["day", "late"].map(|level| at(&format!("C(shift, sum)[{level}]")));
        let own = match shift {
            "day" => day,
            "late" => late,
            _ => -day - late,
        };
        at("Intercept") + own
    });
}

#[test]
fn helmert_contrasts_compare_with_the_levels_before() {
    let formula = "y ~ C(shift, helmert, levels = c(\"night\", \"day\", \"late\"))";
    rows_agree(formula, |at, shift| {
        let [day, late] = ["day", "late"].map(|level| at(&format!("C(shift, helmert)[{level}]")));
        let own = match shift {
            "night" => -day - late,
            "day" => day - late,
            _ => 2.0 * late,
        };
        at("Intercept") + own
    });
}

#[test]
fn priors_name_coded_coefficients() {
    let priors = ["C(shift, sum)[late] ~ normal(0, 3)".to_owned()];
    let made = Regression::new("y ~ C(shift, sum)", Family::Gaussian, &priors, &table()).unwrap();
    let named = made
        .priors()
        .into_iter()
        .find(|(_, law)| law == "normal(0, 3)");
    assert_eq!(named.unwrap().0, "C(shift, sum)[late]");
    assert_eq!(
        names(&made, &table(), lehr_regression::Groups::Leave),
        [
            "Intercept",
            "C(shift, sum)[day]",
            "C(shift, sum)[late]",
            "sigma"
        ]
    );
}

#[test]
fn effects_compare_with_the_reference_and_new_levels_are_taken_for_it() {
    let made = regression("y ~ C(shift, ref = \"late\")", Family::Gaussian, &table());
    let ValueProfile::Levels { names, .. } = &made.profiles()[0].values else {
        panic!("levels are expected");
    };
    assert_eq!(*names, ["late", "day", "night"]);
    let new = category(Table::new(), "shift", &["dawn", "late"]);
    let rows = made.bind_population(&new, NewLevels::Reference).unwrap();
    let z = point(rows.bound().latents().size());
    let (_, found) = densities(rows.bound(), &z);
    near(found[0], found[1]);
}
