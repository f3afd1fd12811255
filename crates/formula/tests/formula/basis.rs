//! Factors of a formula as columns of numbers.

use std::collections::HashMap;

use lehr_formula::{
    BasisError, ColumnExpr, ColumnValues, EvaluateError, Formula, LevelCoding, Polynomial, Term,
    TermBasis,
};

use crate::learned;

enum Stored {
    Numbers(Vec<f64>),
    Labels(Vec<u32>, Vec<String>),
}

struct Table(HashMap<&'static str, Stored>);

impl Table {
    fn new() -> Self {
        Self(HashMap::new())
    }

    fn numbers(mut self, name: &'static str, values: &[f64]) -> Self {
        self.0.insert(name, Stored::Numbers(values.to_vec()));
        self
    }

    fn labels(mut self, name: &'static str, values: &[&str]) -> Self {
        let mut levels: Vec<String> = Vec::new();
        let code = |value: &&str| {
            let known = levels.iter().position(|level| level == value);
            known.unwrap_or_else(|| {
                levels.push((*value).to_owned());
                levels.len() - 1
            }) as u32
        };
        let codes = values.iter().map(code).collect();
        self.0.insert(name, Stored::Labels(codes, levels));
        self
    }

    fn column(&self, name: &str) -> Option<ColumnValues<'_>> {
        Some(match self.0.get(name)? {
            Stored::Numbers(values) => ColumnValues::Numbers(values),
            Stored::Labels(codes, levels) => ColumnValues::Labels { codes, levels },
        })
    }
}

/// The first term of `y ~ source`, in which `color` holds text.
fn term(source: &str) -> (Term, Vec<LevelCoding>) {
    let source = format!("y ~ {source}");
    let terms = Formula::parse(&source)
        .unwrap()
        .expand::<&str>(&[])
        .unwrap();
    let terms = terms.resolve_text(&|name| name == "color").unwrap();
    (terms.fixed[0].clone(), terms.term_codings().remove(0))
}

fn fit(source: &str, table: &Table) -> Result<TermBasis, BasisError> {
    let (term, codings) = term(source);
    learned(&term, &codings, &|name| table.column(name))
}

fn columns(source: &str, table: &Table) -> Vec<Vec<f64>> {
    let basis = fit(source, table).unwrap();
    basis.evaluate_columns(&|name| table.column(name)).unwrap()
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{found:?} against {expected:?}");
    }
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

#[test]
fn arithmetic_is_floating_point_arithmetic() {
    let table = Table::new()
        .numbers("a", &[1.0, 2.0, 3.0])
        .numbers("b", &[4.0, 5.0, 0.5]);
    assert_eq!(columns("I(a^2)", &table)[0], [1.0, 4.0, 9.0]);
    assert_eq!(columns("I(2*a - b/2 + 1)", &table)[0], [1.0, 2.5, 6.75]);
    assert_eq!(columns("I(-a^2)", &table)[0], [-1.0, -4.0, -9.0]);
    assert_eq!(columns("I(2^a^2)", &table)[0], [2.0, 16.0, 512.0]);
    assert_eq!(columns("abs(1 - a)", &table)[0], [0.0, 1.0, 2.0]);
    close(
        &columns("log(a)", &table)[0],
        &[0.0, 2_f64.ln(), 3_f64.ln()],
        0.0,
    );
    close(
        &columns("exp(log1p(sqrt(b)))", &table)[0],
        &[3.0, 1.0 + 5_f64.sqrt(), 1.0 + 0.5_f64.sqrt()],
        1e-14,
    );
    assert_eq!(columns("a:b", &table)[0], [4.0, 10.0, 1.5]);
}

#[test]
fn an_expression_reads_its_columns_through_a_closure() {
    let values = [1.0, 10.0];
    let expr = ColumnExpr::Column("x".into());
    let found = expr.evaluate_columns(&|name| (name == "x").then_some(&values[..]));
    assert_eq!(found, Ok(vec![1.0, 10.0]));
    assert_eq!(
        expr.evaluate_columns(&|_| None),
        Err(EvaluateError::Unknown("x".into()))
    );
}

#[test]
fn poly_has_the_values_of_r() {
    // poly(1:5, 2): degree 1 is (x - 3)/√10, degree 2 is ((x - 3)² - 2)/√14.
    let table = Table::new().numbers("x", &[1.0, 2.0, 3.0, 4.0, 5.0]);
    let found = columns("poly(x, 2)", &table);
    let r1 = [
        -0.632_455_532_033_675_9,
        -0.316_227_766_016_837_94,
        0.0,
        0.316_227_766_016_837_94,
        0.632_455_532_033_675_9,
    ];
    let r2 = [
        0.534_522_483_824_848_8,
        -0.267_261_241_912_424_4,
        -0.534_522_483_824_848_8,
        -0.267_261_241_912_424_4,
        0.534_522_483_824_848_8,
    ];
    close(&found[0], &r1, 1e-15);
    close(&found[1], &r2, 1e-15);
    assert_eq!(
        fit("poly(x, 2)", &table).unwrap().column_names(),
        ["poly(x, 2)[1]", "poly(x, 2)[2]"]
    );
}

#[test]
fn poly_keeps_the_recurrence_of_r() {
    // attr(poly(c(1, 2, 4, 7), 2), "coefs"): alpha 3.5, 3.5 + 24/21; norm2 1, 4, 21, 396/7.
    let values = [1.0, 2.0, 4.0, 7.0];
    let fitted = Polynomial::fit_values("x", &values, 2).unwrap();
    let alpha: Vec<f64> = fitted
        .alpha
        .iter()
        .map(|a| a * fitted.scale + fitted.centre)
        .collect();
    close(&alpha, &[3.5, 3.5 + 24.0 / 21.0], 1e-13);
    let norm2: Vec<f64> = (0..)
        .zip(&fitted.norm2)
        .map(|(i, n)| n * fitted.scale.powi(2 * i))
        .collect();
    close(&norm2, &[4.0, 21.0, 396.0 / 7.0], 1e-12);
}

#[test]
fn poly_is_orthonormal_even_on_hostile_scales() {
    for (offset, factor) in [(0.0, 1.0), (1e9, 1.0), (0.0, 1e150), (0.0, 1e-200)] {
        let values: Vec<f64> = (0..200)
            .map(|i| offset + factor * f64::from((i * 37) % 101))
            .collect();
        let found = Polynomial::fit_values("x", &values, 6)
            .unwrap()
            .evaluate_powers(&values);
        for (i, left) in found.iter().enumerate() {
            assert!(left.iter().sum::<f64>().abs() < 1e-7, "{offset} {factor}");
            for (j, right) in found.iter().enumerate() {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!(
                    (dot(left, right) - expected).abs() < 1e-7,
                    "{offset} {factor} {i} {j}"
                );
            }
        }
    }
}

#[test]
fn poly_of_new_rows_uses_the_old_constants() {
    let old = Table::new().numbers("x", &[1.0, 2.0, 3.0, 4.0, 5.0]);
    let new = Table::new().numbers("x", &[7.0, 3.0]);
    let basis = fit("poly(x, 2)", &old).unwrap();
    let found = basis.evaluate_columns(&|name| new.column(name)).unwrap();
    close(&found[0], &[4.0 / 10_f64.sqrt(), 0.0], 1e-14);
    close(
        &found[1],
        &[14.0 / 14_f64.sqrt(), -2.0 / 14_f64.sqrt()],
        1e-14,
    );
}

#[test]
fn scale_and_center_remember_their_constants() {
    let old = Table::new().numbers("x", &[1.0, 2.0, 3.0]);
    let new = Table::new().numbers("x", &[4.0]);
    for (source, expected) in [
        ("scale(x)", 2.0),
        ("center(x)", 2.0),
        ("scale(I(x * 2))", 2.0),
    ] {
        let basis = fit(source, &old).unwrap();
        close(
            &basis.evaluate_columns(&|name| new.column(name)).unwrap()[0],
            &[expected],
            1e-15,
        );
    }
    let wide = Table::new().numbers("x", &[1e200, 3e200]);
    close(
        &columns("scale(x)", &wide)[0],
        &[-0.5_f64.sqrt(), 0.5_f64.sqrt()],
        1e-15,
    );
}

#[test]
fn centred_and_scaled_columns_can_be_computed_with() {
    let old = Table::new().numbers("x", &[1.0, 2.0, 3.0]);
    let new = Table::new().numbers("x", &[4.0, -1.0]);
    let sd = (4.0_f64 / 18.0 + 1.0 / 9.0).sqrt();
    for (source, expected) in [
        ("I(center(x)^2)", [4.0, 9.0]),
        ("I(3 - 2 * center(x))", [-1.0, 9.0]),
        ("exp(scale(x))", [2.0_f64.exp(), (-3.0_f64).exp()]),
        ("center(center(x) + 5)", [2.0, -3.0]),
        (
            "scale(center(x)^2)",
            [(4.0 - 2.0 / 3.0) / sd, (9.0 - 2.0 / 3.0) / sd],
        ),
    ] {
        let basis = fit(source, &old).unwrap();
        let found = basis.evaluate_columns(&|name| new.column(name)).unwrap();
        close(&found[0], &expected, 1e-14);
        assert_eq!(basis.column_names(), [source]);
        let text = serde_json::to_string(&basis).unwrap();
        let back: TermBasis = serde_json::from_str(&text).unwrap();
        assert_eq!(
            back.evaluate_columns(&|name| new.column(name)).unwrap(),
            found
        );
    }
    let plain = fit("poly(x, 2)", &old).unwrap();
    let centred = fit("poly(center(x), 2)", &old).unwrap();
    let at = |basis: &TermBasis| basis.evaluate_columns(&|name| new.column(name)).unwrap();
    close(&at(&centred)[1], &at(&plain)[1], 1e-12);
}

#[test]
fn levels_are_sorted_and_the_first_is_dropped() {
    let table = Table::new()
        .labels("color", &["red", "blue", "red", "green"])
        .numbers("k", &[10.0, 2.0, 10.0, 2.0])
        .numbers("x", &[1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        fit("color", &table).unwrap().column_names(),
        ["color[green]", "color[red]"]
    );
    assert_eq!(
        columns("color", &table),
        [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 1.0, 0.0]]
    );
    assert_eq!(
        fit("0 + color", &table).unwrap().column_names(),
        ["color[blue]", "color[green]", "color[red]"]
    );
    assert_eq!(fit("C(k)", &table).unwrap().column_names(), ["k[10]"]);
    assert_eq!(columns("C(k)", &table), [[1.0, 0.0, 1.0, 0.0]]);
    assert_eq!(
        fit("x:color", &table).unwrap().column_names(),
        ["x:color[blue]", "x:color[green]", "x:color[red]"]
    );
    assert_eq!(columns("x:color", &table)[2], [1.0, 0.0, 3.0, 0.0]);
    let basis = fit("color", &table).unwrap().factors.remove(0);
    assert_eq!(basis.level_names(), ["blue", "green", "red"]);
    assert_eq!(
        basis.level_codes(&|name| table.column(name)).unwrap(),
        [2, 0, 2, 1]
    );
}

#[test]
fn the_first_factor_of_a_product_changes_fastest() {
    let table = Table::new()
        .labels("color", &["a", "b", "a", "b"])
        .numbers("x", &[0.0, 1.0, 2.0, 4.0]);
    assert_eq!(
        fit("color:poly(x, 2)", &table).unwrap().column_names(),
        [
            "color[a]:poly(x, 2)[1]",
            "color[b]:poly(x, 2)[1]",
            "color[a]:poly(x, 2)[2]",
            "color[b]:poly(x, 2)[2]"
        ]
    );
    let (found, poly) = (
        columns("color:poly(x, 2)", &table),
        columns("poly(x, 2)", &table),
    );
    assert_eq!(
        found[1],
        [0.0, poly[0][1], 0.0, poly[0][3]].map(|value| value + 0.0)
    );
}

#[test]
fn a_saved_basis_yields_the_same_bits() {
    let table = Table::new()
        .labels("color", &["red", "blue", "red", "green"])
        .numbers("x", &[1.5, 2.25, 3.0, 4.1]);
    for source in [
        "poly(x, 2)",
        "scale(x)",
        "center(x)",
        "log(x)",
        "color",
        "C(x)",
        "I(x^2):color",
    ] {
        let basis = fit(source, &table).unwrap();
        let text = serde_json::to_string(&basis).unwrap();
        let read: TermBasis = serde_json::from_str(&text).unwrap();
        let lookup = |name: &str| table.column(name);
        assert_eq!(read.column_names(), basis.column_names());
        assert_eq!(
            read.evaluate_columns(&lookup).unwrap(),
            basis.evaluate_columns(&lookup).unwrap()
        );
    }
}

#[test]
fn what_cannot_be_fitted_says_why() {
    let table = Table::new()
        .numbers("x", &[1.0, -1.0, 1.0])
        .numbers("c", &[2.0, 2.0, 2.0])
        .numbers("m", &[2.0, f64::NAN, 2.0])
        .numbers("short", &[2.0])
        .numbers("none", &[])
        .labels("one", &["a", "a", "a"])
        .labels("text", &["a", "b", "b"]);
    let cases = [
        (
            "log(x)",
            "log(x): expects finite numbers, found NaN in row 2\n  \
             hint: look for a logarithm, a root or a division that is not defined there",
        ),
        ("m", "m: expects finite numbers, found NaN in row 2"),
        ("C(m)", "C(m): expects finite numbers, found NaN in row 2"),
        (
            "scale(c)",
            "scale(c): expects values that differ, found 2 in every row",
        ),
        (
            "poly(x, 2)",
            "poly(x, 2): degree 2 expects more than 2 distinct values, found 2",
        ),
        (
            "C(one)",
            "column \"one\" expects two levels or more, found only \"a\"",
        ),
        ("log(text)", "column \"text\" expects numbers, found text"),
        (
            "I(x + short)",
            "x + short: expects columns of one length, found several",
        ),
        ("gone", "no column \"gone\" in the table"),
        ("C(gone)", "no column \"gone\" in the table"),
        (
            "scale(none)",
            "scale(none): expects at least one row, found none",
        ),
        (
            "center(none)",
            "center(none): expects at least one row, found none",
        ),
        ("C(none)", "C(none): expects at least one row, found none"),
    ];
    for (source, message) in cases {
        assert_eq!(fit(source, &table).unwrap_err().to_string(), message);
    }
}

#[test]
fn new_levels_are_refused_by_name() {
    let old = Table::new()
        .labels("color", &["red", "blue"])
        .numbers("k", &[1.0, 2.0]);
    let new = Table::new()
        .labels("color", &["blue", "rde"])
        .numbers("k", &[7.0, 1.0]);
    let basis = fit("color", &old);
    assert_eq!(
        basis
            .unwrap()
            .evaluate_columns(&|name| new.column(name))
            .unwrap_err()
            .to_string(),
        "column \"color\": the level \"rde\" was not in the table that was fitted\n  \
         hint: did you mean \"red\"?"
    );
    let basis = fit("C(k)", &old).unwrap();
    assert_eq!(
        basis
            .evaluate_columns(&|name| new.column(name))
            .unwrap_err()
            .to_string(),
        "column \"k\": the level \"7\" was not in the table that was fitted\n  \
         hint: leave such rows out, fit again with rows of that level, or take it for the first \
         with --new-levels reference"
    );
    let swapped = Table::new().numbers("color", &[1.0]).labels("k", &["1"]);
    let message = basis
        .evaluate_columns(&|name| swapped.column(name))
        .unwrap_err()
        .to_string();
    assert_eq!(message, "column \"k\" expects numbers, found text");
}

#[test]
fn a_level_can_be_named_as_the_reference() {
    let table = Table::new().labels("color", &["red", "blue", "green", "red"]);
    let basis = fit("C(color, ref = \"green\")", &table).unwrap();
    assert_eq!(basis.column_names(), ["color[blue]", "color[red]"]);
    let found = basis.evaluate_columns(&|name| table.column(name)).unwrap();
    assert_eq!(found, [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]]);
    let numbers = Table::new().numbers("x", &[3.0, -1.0, 2.0]);
    let basis = fit("C(x, ref = 2)", &numbers).unwrap();
    assert_eq!(basis.column_names(), ["x[-1]", "x[3]"]);
}

#[test]
fn sum_contrasts_have_names_of_their_own_and_add_up_to_nothing() {
    let table = Table::new().labels("color", &["red", "blue", "green"]);
    let basis = fit("C(color, sum, levels = c(red, green, blue))", &table).unwrap();
    assert_eq!(
        basis.column_names(),
        ["C(color, sum)[red]", "C(color, sum)[green]"]
    );
    let found = basis.evaluate_columns(&|name| table.column(name)).unwrap();
    assert_eq!(found, [[1.0, -1.0, 0.0], [0.0, -1.0, 1.0]]);
    assert!(found.iter().all(|column| column.iter().sum::<f64>() == 0.0));
}

#[test]
fn without_an_intercept_every_coded_level_has_a_column_in_its_order() {
    let table = Table::new().labels("color", &["red", "blue"]);
    let basis = fit("0 + C(color, sum, levels = c(red, blue))", &table).unwrap();
    assert_eq!(basis.column_names(), ["color[red]", "color[blue]"]);
    let found = basis.evaluate_columns(&|name| table.column(name)).unwrap();
    assert_eq!(found, [[1.0, 0.0], [0.0, 1.0]]);
}

#[test]
fn levels_that_the_formula_names_must_be_those_of_the_table() {
    let table = Table::new().labels("color", &["red", "blue", "green"]);
    let told = |source: &str| fit(source, &table).unwrap_err().to_string();
    assert_eq!(
        told("C(color, ref = \"gren\")"),
        "column \"color\": no row has the level \"gren\", which the formula names\n  hint: did you mean \"green\"?"
    );
    assert_eq!(
        told("C(color, levels = c(red, blue))"),
        "column \"color\": the level \"green\" is not among levels = c(...)\n  \
         hint: name every level, or leave such rows out"
    );
}

#[test]
fn a_comparison_is_one_where_it_holds() {
    let table = Table::new().numbers("x", &[1.0, 2.0, 3.0]);
    assert_eq!(columns("I(x > 2)", &table), [[0.0, 0.0, 1.0]]);
    assert_eq!(columns("I((x >= 2)*x)", &table), [[0.0, 2.0, 3.0]]);
    assert_eq!(
        columns("I((x == 2) + 2*(x != 2))", &table),
        [[2.0, 1.0, 2.0]]
    );
    let saved = serde_json::to_string(&fit("I(x < 2)", &table).unwrap()).unwrap();
    let again: TermBasis = serde_json::from_str(&saved).unwrap();
    let found = again.evaluate_columns(&|name| table.column(name)).unwrap();
    assert_eq!(found, [[1.0, 0.0, 0.0]]);
}
