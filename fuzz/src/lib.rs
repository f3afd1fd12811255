//! Everything that lehr reads from outside, each as one function of any bytes: it must return an error or a value, and
//! never panic. Fuzzers call these functions with bytes that they search for (`targets/`), and property tests with
//! bytes that are drawn at random or damaged (`tests/`).

mod checkpoint;
mod csv;
mod formula;
mod saved_fit;
mod sealed;
mod worker_message;

use lehr::prelude::Table;

pub use checkpoint::{check_checkpoint, example_checkpoint};
pub use csv::check_csv;
pub use formula::check_formula;
pub use saved_fit::{check_saved_fit, example_fit};
pub use worker_message::{check_worker_message, example_messages};

/// A table with numbers and groups, which the examples are fitted to.
fn example_table() -> Table {
    let rows = 0..60_u32;
    let x: Vec<f64> = rows
        .clone()
        .map(|row| f64::from(row) / 30.0 - 1.0)
        .collect();
    let y = rows
        .clone()
        .map(|row| f64::from(row % 7) + x[row as usize])
        .collect();
    let groups = rows.map(|row| row % 4).collect();
    let names = ["a", "b", "c", "d"].map(String::from).to_vec();
    Table::new()
        .with_number("x", x)
        .and_then(|table| table.with_number("y", y))
        .and_then(|table| table.with_category("g", groups, names))
        .expect("columns of one length")
}
