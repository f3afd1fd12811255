//! The tables of the cases, made of literal seeds.

mod covariates;
mod noise;
mod responses;

use std::ffi::OsStr;
use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use lehr::prelude::Table;
use lehr::table::{ReadOptions, TableFiles};

use covariates::Covariates;
use noise::Noise;

/// A table that lines may name as `NAME.csv`, `NAME.parquet`, or `NAME-parts` for a folder of Parquet files of unequal
/// length.
struct Named {
    name: &'static str,
    rows: usize,
    seed: u64,
    /// The columns that it has; all if none is named.
    columns: &'static [&'static str],
}

const TABLES: &[Named] = &[
    Named {
        name: "plain",
        rows: 240,
        seed: 11,
        columns: &[],
    },
    Named {
        name: "new",
        rows: 60,
        seed: 12,
        columns: &[],
    },
    // More rows than one part of a file on disk has.
    Named {
        name: "long",
        rows: 9000,
        seed: 13,
        columns: &[
            "x1", "x2", "dose", "step", "color", "site", "teacher", "y", "hit", "count",
        ],
    },
    // More rows than the sample of a table in files, and enough that group sums are computed in one
    // pass.
    Named {
        name: "vast",
        rows: 80_000,
        seed: 14,
        columns: &["x1", "dose", "site", "teacher", "y", "count"],
    },
];

impl Named {
    fn cells(&self) -> Cells {
        let mut cells = cells(self.rows, self.seed);
        cells.retain(|(name, _)| self.columns.is_empty() || self.columns.contains(name));
        cells
    }
}

/// The columns with empty cells.
const GAPS: [&str; 2] = ["gap", "lost"];

/// Columns of text cells.
type Cells = Vec<(&'static str, Vec<String>)>;

/// Writes the table that a word names into the folder, unless the word names none or the table
/// exists.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(folder: &Path, word: &str) -> Result<()> {
    let path = folder.join(word);
    let named = |one: &&Named| {
        let rest = word.strip_prefix(one.name);
        matches!(rest, Some(".csv" | ".parquet" | "-parts"))
    };
    let Some(named) = TABLES.iter().find(named).filter(|_| !path.exists()) else {
        return Ok(());
    };
    let cells = named.cells();
    match path.extension().and_then(OsStr::to_str) {
        Some("csv") => Ok(fs::write(&path, text(&cells, 0..named.rows))?),
        Some(_) => write_parquet(&path, &text(&cells, 0..named.rows)),
        None => write_parts(&path, &cells, named.rows),
    }
}

/// Files with a seventh of the rows in the first, one row in the second, and the rest in the last
/// three.
fn write_parts(folder: &Path, cells: &Cells, rows: usize) -> Result<()> {
    fs::create_dir(folder)?;
    let cuts = [0, rows / 7, rows / 7 + 1, rows / 2, rows - 3, rows];
    for (k, pair) in cuts.windows(2).enumerate() {
        let path = folder.join(format!("part-{k}.parquet"));
        write_parquet(&path, &text(cells, pair[0]..pair[1]))?;
    }
    Ok(())
}

fn write_parquet(path: &Path, text: &str) -> Result<()> {
    let csv = path.with_extension("parquet.csv");
    fs::write(&csv, text)?;
    let gaps: Vec<&str> = GAPS.into_iter().filter(|gap| text.contains(gap)).collect();
    let options = ReadOptions::default().keep_columns(&gaps);
    let table = TableFiles::open_inputs(&[&csv])?.read_table(&options, &mut |_| ())?;
    table.write(path)?;
    Ok(fs::remove_file(csv)?)
}

/// Some rows as comma-separated text.
fn text(cells: &Cells, rows: Range<usize>) -> String {
    let names: Vec<&str> = cells.iter().map(|(name, _)| *name).collect();
    let mut text = names.join(",");
    for row in rows {
        text.push('\n');
        let cells: Vec<&str> = cells.iter().map(|(_, cells)| &*cells[row]).collect();
        text.push_str(&cells.join(","));
    }
    text.push('\n');
    text
}

/// The smallest table without its gaps, for models written in Rust.
///
/// # Errors
/// If it cannot be written and read.
pub(super) fn small() -> Result<Table> {
    let named = &TABLES[1];
    let mut cells = named.cells();
    cells.retain(|(name, _)| !GAPS.contains(name));
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("small.csv");
    fs::write(&path, text(&cells, 0..named.rows))?;
    Ok(Table::read(path)?)
}

/// The whole table: covariates, and a response for each kind of family.
fn cells(rows: usize, seed: u64) -> Cells {
    let mut noise = Noise::new(seed, rows);
    let covariates = Covariates::new(&mut noise);
    let mut cells = covariates.cells(&mut noise);
    cells.extend(responses::cells(&covariates, &mut noise));
    cells
}

fn numbers(values: &[f64]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

fn names(codes: &[usize], names: &[&str]) -> Vec<String> {
    codes.iter().map(|code| names[*code].to_owned()).collect()
}
