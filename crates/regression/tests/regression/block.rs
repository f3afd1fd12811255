//! A regression learns the same from blocks of a table as from the whole table.

use lehr_learn::{Blocks, EachBlock, LearnError};
use lehr_regression::{Family, Regression};
use lehr_table::{Column, Table};

/// A table in blocks of a given number of rows, each with the levels of its own rows only.
struct Pieces<'a>(&'a Table, usize);

impl Blocks for Pieces<'_> {
    fn names(&self) -> &[String] {
        self.0.names()
    }

    fn is_text(&self, name: &str) -> bool {
        self.0.is_text(name)
    }

    fn each(&self, _columns: &[&str], visit: &mut EachBlock<'_>) -> Result<(), LearnError> {
        let rows: Vec<usize> = (0..self.0.n_rows()).collect();
        let empty = self.0.head(0);
        visit(&empty)?;
        for part in rows.chunks(self.1) {
            visit(&own_levels(&self.0.select_rows(part)))?;
        }
        Ok(())
    }
}

fn own_levels(block: &Table) -> Table {
    let mut own = Table::new();
    for (name, column) in block.columns() {
        let column = match column {
            Column::Category { codes, levels } => {
                let mut used: Vec<String> = levels.to_vec();
                used.retain(|level| {
                    let place = levels.iter().position(|other| other == level).unwrap();
                    codes.contains(&(place as u32))
                });
                column.recode_levels(name, &used.into()).unwrap()
            }
            other => other.clone(),
        };
        own.insert(name, column).unwrap();
    }
    own
}

/// Columns of every kind, without symmetries.
fn table() -> Table {
    let wave = |k: usize, speed: f64| (speed * k as f64 + 0.3).sin();
    let rows = 0..97_usize;
    let numbers = |speed: f64| rows.clone().map(|k| wave(k, speed)).collect::<Vec<f64>>();
    let count = |speed: f64| (rows.clone()).map(move |k| (4.0 + 3.9 * wave(k, speed)).floor());
    let levels = ["a", "b", "c", "d"].map(String::from).to_vec();
    let code = |speed: f64| {
        (rows.clone())
            .map(|k| (2.0 + 1.99 * wave(k, speed)) as u32)
            .collect()
    };
    Table::new()
        .with_number("y", numbers(0.7))
        .and_then(|t| t.with_number("x", numbers(1.3)))
        .and_then(|t| t.with_number("twin", numbers(1.3)))
        .and_then(|t| t.with_number("n", count(0.9).map(|n| n + 8.0).collect()))
        .and_then(|t| t.with_number("k", count(1.9).collect()))
        .and_then(|t| t.with_number("same", vec![3.0; rows.len()]))
        .and_then(|t| t.with_boolean("hit", rows.clone().map(|k| wave(k, 2.3) > 0.1).collect()))
        .and_then(|t| t.with_category("color", code(1.1), levels.clone()))
        .and_then(|t| t.with_category("site", code(3.7), levels))
        .unwrap()
}

#[test]
fn pieces_of_a_table_teach_what_the_whole_teaches() {
    let table = table();
    for (formula, family) in [
        ("y ~ x + color + same + twin", Family::Gaussian),
        ("y ~ 0 + x + C(k) + offset(n)", Family::Student),
        (
            "y ~ poly(x, 3) + scale(n) + center(k) + log(n)",
            Family::Gaussian,
        ),
        (
            "hit ~ x*color + (1 + x | site) + (1 | color:k)",
            Family::Bernoulli,
        ),
        ("cbind(k, n) ~ I(x^2) + (1 | site)", Family::Binomial),
        (
            "k ~ x + offset(log(n)) + (0 + color | site)",
            Family::Poisson,
        ),
        (
            "y ~ s(x) + ns(n, df = 3) + bs(x, df = 5, degree = 2)",
            Family::Gaussian,
        ),
        (
            "y ~ s(x, bs = \"cc\") + s(n, bs = \"ps\", k = 5)",
            Family::Student,
        ),
        ("y ~ mo(k) + x", Family::Gaussian),
        ("color ~ x", Family::Categorical),
        ("k ~ x + (1 | site/color)", Family::Ordinal),
    ] {
        let whole = Regression::new(formula, family, &[], &table).unwrap();
        for rows in [1, 10, 96] {
            let pieces = Pieces(&table, rows);
            let learnt = Regression::learn(formula, family, &[], &pieces).unwrap();
            assert_eq!(learnt, whole, "{formula} in pieces of {rows}");
        }
    }
}

#[test]
fn mistakes_are_told_with_the_row_of_the_whole_table() {
    let mut table = table();
    let mut x = table.number("x").unwrap().to_vec();
    x[57] = f64::INFINITY;
    table.replace("x", Column::Number(x)).unwrap();
    let pieces = Pieces(&table, 10);
    for (formula, expected) in [
        ("y ~ x", "the first in row 58"),
        ("k ~ n", "column \"k\", row 1:"),
        (
            "n ~ log(k)",
            "log(k): expects finite numbers, found -inf in row",
        ),
    ] {
        let error = Regression::learn(formula, Family::Bernoulli, &[], &pieces);
        let error = error.expect_err(formula).to_string();
        assert!(error.contains(expected), "{formula}: {error}");
    }
    let none = Regression::learn("y ~ k", Family::Gaussian, &[], &Pieces(&table.head(0), 10));
    assert_eq!(none, Err(LearnError::NoRows.into()));
}
