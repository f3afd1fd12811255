//! Unusual tables that can be fitted, and the remarks about them.

use lehr_density::Density;
use lehr_regression::{Family, Groups};
use lehr_table::Table;

use crate::{category, coefficients, densities, names, near, normal, number, point, regression};

fn table() -> Table {
    let table = number(Table::new(), "y", &[1.0, 2.0, 4.0, 3.0]);
    number(table, "x", &[0.5, 0.1, 0.9, 0.4])
}

#[test]
fn constant_columns_are_left_out_and_reported() {
    let table = number(table(), "flat", &[7.0; 4]);
    let made = regression("y ~ .", Family::Gaussian, &table);
    assert_eq!(
        names(&made, &table, Groups::Leave),
        ["Intercept", "x", "sigma"]
    );
    assert_eq!(
        made.notes(),
        ["flat: left out, it is the same in every row"]
    );
}

#[test]
fn equal_columns_are_kept_and_reported() {
    let table = number(table(), "twin", &[0.5, 0.1, 0.9, 0.4]);
    let made = regression("y ~ .", Family::Gaussian, &table);
    assert_eq!(
        names(&made, &table, Groups::Leave),
        ["Intercept", "x", "twin", "sigma"]
    );
    assert_eq!(
        made.notes(),
        ["x and twin are equal: only the sum of their coefficients is known"]
    );
    let bound = made.bind(&table).unwrap();
    assert!(
        densities(&bound, &point(bound.latents().size()))
            .0
            .is_finite()
    );
}

#[test]
fn huge_units_do_not_reach_the_model() {
    let large = [1e9 + 1.0, 1e9 + 2.0, 1e9 + 4.0, 1e9 - 7.0];
    let table = number(
        number(table(), "large", &large),
        "z",
        &[3e9, -4e9, 1e9, 2e9],
    );
    let y = [5e9, 7e9, 6e9, 9e9];
    let table = number(table, "wide", &y);
    let made = regression("wide ~ z + large", Family::Gaussian, &table);
    let design = made.design(&table).unwrap();
    assert!(design.matrix("x").unwrap().1.iter().all(|x| x.abs() < 2.0));
    let bound = made.bind(&table).unwrap();
    let z = point(bound.latents().size());
    let named = coefficients(&made, &bound, &z);
    for (row, found) in densities(&bound, &z).1.iter().enumerate() {
        let spread = table.number("z").unwrap()[row];
        let mean = named["Intercept"] + named["z"] * spread + named["large"] * large[row];
        let error = (found - normal(y[row], mean, named["sigma"])).abs();
        assert!(error < 1e-6, "{error}");
    }
}

#[test]
fn names_of_any_script_are_kept() {
    let table = number(table(), "größe in cm", &[1.0, 2.0, 3.0, 5.0]);
    let table = category(table, "身長", &["高", "低", "高", "低"]);
    let made = regression("y ~ `größe in cm` + (1 | 身長)", Family::Gaussian, &table);
    assert_eq!(
        names(&made, &table, Groups::Include),
        [
            "Intercept",
            "`größe in cm`",
            "sd(身長)",
            "sigma",
            "身長[低]",
            "身長[高]"
        ]
    );
}

#[test]
fn one_class_or_no_events_leave_the_priors_to_decide() {
    let table = number(table(), "none", &[0.0; 4]);
    for family in [Family::Bernoulli, Family::Poisson] {
        let made = regression("none ~ x", family, &table);
        assert_eq!(
            made.notes(),
            ["column \"none\": 0 in every row, so priors decide"]
        );
        let bound = made.bind(&table).unwrap();
        let (prior, likelihood) = densities(&bound, &point(bound.latents().size()));
        assert!(prior.is_finite() && likelihood.iter().all(|row| row.is_finite()));
    }
}

#[test]
fn two_levels_are_outcomes_and_the_second_counts() {
    let table = category(table(), "sick", &["yes", "no", "no", "yes"]);
    let made = regression("sick ~ x", Family::Bernoulli, &table);
    assert_eq!(made.notes(), ["sick: \"yes\" counts as 1 and \"no\" as 0"]);
    assert_eq!(made.response_levels(), ["no", "yes"]);
    let design = made.design(&table).unwrap();
    assert_eq!(design.number("y").unwrap(), [1.0, 0.0, 0.0, 1.0]);
    let truths = table
        .with_boolean("ill", vec![true, false, true, false])
        .unwrap();
    let made = regression("ill ~ x", Family::Bernoulli, &truths);
    let design = made.design(&truths).unwrap();
    assert_eq!(design.number("y").unwrap(), [1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn classes_in_order_and_of_reference_are_reported() {
    let table = number(table(), "grade", &[10.0, 2.0, 2.0, 1.0]);
    let made = regression("grade ~ x", Family::Ordinal, &table);
    assert_eq!(made.notes(), ["grade: the order is 1 < 2 < 10"]);
    let made = regression("grade ~ x", Family::Categorical, &table);
    assert_eq!(made.notes(), ["grade: \"1\" is the reference class"]);
}

#[test]
fn one_row_is_enough_for_counts() {
    let table = number(Table::new(), "y", &[3.0]);
    let made = regression("y ~ 1", Family::Poisson, &table);
    let bound = made.bind(&table).unwrap();
    near(
        densities(&bound, &[0.0]).1[0],
        3.0 * 3.0_f64.ln() - 3.0 - 6.0_f64.ln(),
    );
}

#[test]
fn the_columns_to_predict_from_are_those_without_the_response() {
    let table = number(number(table(), "w", &[1.0; 4]), "g", &[1.0, 1.0, 2.0, 2.0]);
    let made = regression(
        "y ~ log(x) + (1 | g) + weights(w)",
        Family::Gaussian,
        &table,
    );
    assert_eq!(made.columns(), ["y", "x", "w", "g"]);
    assert_eq!(made.predictor_columns(), ["x", "g"]);
    assert_eq!(made.formula(), "y ~ log(x) + (1 | g) + weights(w)");
    assert_eq!(made.family(), Family::Gaussian);
}

/// A million rows in a hundred thousand groups use index columns, not indicator columns.
#[test]
fn a_million_rows_in_many_groups_are_designed_by_index() {
    let rows = 1_000_000_usize;
    let y: Vec<f64> = (0..rows).map(|row| (row as f64).sin()).collect();
    let x: Vec<f64> = (0..rows).map(|row| (row as f64).cos()).collect();
    let codes: Vec<u32> = (0..rows).map(|row| (row * 7919 % 100_000) as u32).collect();
    let levels: Vec<String> = (0..100_000).map(|level| format!("g{level}")).collect();
    let table = Table::new()
        .with_number("y", y)
        .and_then(|table| table.with_number("x", x))
        .and_then(|table| table.with_category("g", codes, levels))
        .unwrap();
    let made = regression("y ~ x + (1 | g)", Family::Gaussian, &table);
    let design = made.design(&table).unwrap();
    assert_eq!(design.names(), ["x", "group1", "y"]);
    let bound = made.bind(&table).unwrap();
    assert_eq!(bound.latents().size(), 100_004);
}

#[test]
fn rows_of_a_generalised_linear_model_enter_through_one_affine_predictor() {
    let table = number(table(), "bit", &[0.0, 1.0, 0.0, 1.0]);
    let made = regression("bit ~ x", Family::Bernoulli, &table);
    let bound = made.bind(&table).unwrap();
    let graph = lehr_graph::Graph::new();
    let at = lehr_density::Point::new(graph.input("z", [2]), graph.input("theta", [0]));
    let rows = lehr_density::Rows::inputs(&graph, bound.columns(), 4, "row.");
    let found = bound.linear().map(|linear| linear.predictors(&at, &rows));
    let counted = found.map(|found| (found.rows.len(), found.shared.len()));
    assert_eq!(counted, Some((1, 0)));
}
