//! Writes a long table to fit: as many rows as asked for, in memory for a few thousand of them.
//!
//! ```text
//! cargo run --release --example long_table -- 10000000 20 long.parquet
//! ```
//!
//! The first column, `y`, is 0 or 1 with log odds −1 + 0.5 x1 − 0.5 x2; the others are standard
//! normal numbers.

use std::error::Error;
use std::path::Path;

use lehr::numeric::stream::Stream;
use lehr::prelude::*;
use lehr::table::Sink;

const BLOCK: usize = 8192;

/// The block of rows with this number.
fn block(columns: usize, rows: usize, number: u64) -> Result<Table, Box<dyn Error>> {
    let mut stream = Stream::new(1, "long table", number);
    let mut x = vec![vec![0.0; rows]; columns - 1];
    for column in &mut x {
        stream.fill_normal(column);
    }
    let label = |row: usize| {
        let logit = -1.0 + 0.5 * x[0][row] - 0.5 * x[1][row];
        f64::from(stream.uniform() < 1.0 / (1.0 + (-logit).exp()))
    };
    let mut table = Table::new().with_number("y", (0..rows).map(label).collect())?;
    for (k, column) in x.into_iter().enumerate() {
        table = table.with_number(&format!("x{}", k + 1), column)?;
    }
    Ok(table)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, columns, path] = &arguments[..] else {
        return Err("expected a number of rows, one of columns and the name of a file".into());
    };
    let (rows, columns): (usize, usize) = (rows.parse()?, columns.parse()?);
    if columns < 3 {
        return Err("expected at least three columns".into());
    }
    let mut sink = Sink::create_file(Path::new(path), &block(columns, 1, 0)?)?;
    for (number, start) in (0..rows).step_by(BLOCK).enumerate() {
        let count = BLOCK.min(rows - start);
        sink.push_table(&block(columns, count, number as u64)?)?;
    }
    Ok(sink.close_file()?)
}
