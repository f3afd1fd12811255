//! Columns that were probably not meant as they are read.

use lehr_regression::Family;
use lehr_table::Table;

use crate::{category, number, refusal, regression};

/// The text of a row.
type Text = fn(i32) -> String;

#[test]
fn text_that_is_probably_no_level_is_asked_about() {
    let rows = 30;
    let numbers = |_: usize| -> Vec<f64> { (0..rows).map(f64::from).collect() };
    let texts = |text: Text| -> Vec<String> { (0..rows).map(text).collect() };
    let cases: [(Text, &str); 4] = [
        (
            |k| format!("${}.20", k % 7),
            "text that looks like numbers, such as \"$0.20\"",
        ),
        (
            |k| format!("{},5", k % 7),
            "text that looks like numbers, such as \"0,5\"",
        ),
        (
            |k| format!("{}/3/2024", 1 + k % 7),
            "text that looks like dates, such as \"1/3/2024\"",
        ),
        (
            |k| format!("id{k}"),
            "30 different texts in 30 rows, as identifiers have",
        ),
    ];
    for (text, found) in cases {
        let texts = texts(text);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let table = category(number(Table::new(), "y", &numbers(0)), "t", &texts);
        let error = refusal("y ~ t", Family::Gaussian, &table);
        assert!(
            error.contains(found) && error.contains("or write C(t)"),
            "{error}"
        );
        regression("y ~ C(t)", Family::Gaussian, &table);
        regression("y ~ 1 + (1 | t)", Family::Poisson, &table);
    }
}

#[test]
fn a_quantity_has_no_classes_in_order() {
    let y: Vec<f64> = (0..30).map(|k| 0.1 * f64::from(k)).collect();
    let x: Vec<f64> = (0..30).map(|k| f64::from(k % 4)).collect();
    let table = number(number(Table::new(), "y", &y), "x", &x);
    assert_eq!(
        refusal("y ~ x", Family::Ordinal, &table),
        "column \"y\": expected at most 20 numbers as classes for family ordinal, found 30\n  \
         hint: use --family gaussian for a quantity, or cut it into classes first",
    );
    regression("x ~ y", Family::Ordinal, &table);
}

#[test]
fn levels_that_differ_in_case_alone_are_asked_about() {
    let numbers: Vec<f64> = (0..30).map(f64::from).collect();
    let texts: Vec<&str> = (0..30).map(|k| ["Yes", "yes ", "no"][k % 3]).collect();
    let table = category(number(Table::new(), "y", &numbers), "t", &texts);
    let error = refusal("y ~ t", Family::Gaussian, &table);
    let expected = "found both \"Yes\" and \"yes \"";
    assert!(
        error.contains(expected) && error.contains("or write C(t)"),
        "{error}"
    );
    regression("y ~ C(t)", Family::Gaussian, &table);
}
