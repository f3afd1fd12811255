//! Every way a table can be refused, each as one sentence and one hint.

use std::path::PathBuf;

use thiserror::Error;

use crate::kind::Kind;

/// What was wrong with a table, a file or a request on them. Its text says where, what was
/// expected and what was found; a second line, where there is one, says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// A name that is not among the columns.
    #[error("no column {name:?} in the table{}", did_you_mean(nearest.as_deref()))]
    UnknownColumn {
        /// The name asked for.
        name: String,
        /// The column whose name differs least, when one is close.
        nearest: Option<String>,
    },
    /// Two columns of one name.
    #[error("column {name:?}: names must differ, found it twice\n  hint: rename one of the two")]
    DuplicateColumn {
        /// The repeated name.
        name: String,
    },
    /// Two columns of one name in a file. Places count from 1.
    #[error("{}: columns {first} and {second} are both called {name:?}\n  hint: rename one of the two", path.display())]
    DuplicateName {
        /// The file.
        path: PathBuf,
        /// The repeated name.
        name: String,
        /// The place of its first column.
        first: usize,
        /// The place of its second.
        second: usize,
    },
    /// Columns of different lengths in one table.
    #[error("column {name:?} has {rows} rows, but column {other:?} has {other_rows}")]
    RowMismatch {
        /// The column that was to be added.
        name: String,
        /// Its rows.
        rows: usize,
        /// A column that is there already.
        other: String,
        /// The rows of that one.
        other_rows: usize,
    },
    /// A matrix whose values do not fill its shape.
    #[error("column {name:?}: {rows} rows of {width} need {expected} values, found {values}",
        expected = rows.saturating_mul(*width))]
    Shape {
        /// The matrix.
        name: String,
        /// Declared rows.
        rows: usize,
        /// Declared numbers per row.
        width: usize,
        /// Values given.
        values: usize,
    },
    /// A category code without a level.
    #[error("column {name:?}, row {row}: expected a code below {levels}, found {code}")]
    CodeOutOfRange {
        /// The category column.
        name: String,
        /// The row, counted from 1.
        row: usize,
        /// The code found there.
        code: u32,
        /// The number of levels.
        levels: usize,
    },
    /// A column of another kind than the one needed.
    #[error("column {name:?}: expected {expected}, found {found}")]
    WrongKind {
        /// The column.
        name: String,
        /// What was needed, with its article.
        expected: &'static str,
        /// What it holds.
        found: Kind,
    },
    /// Levels that a category must not have.
    #[error("column {name:?}: {count} levels were not seen before, such as {example:?}")]
    UnseenLevel {
        /// The category column.
        name: String,
        /// One of them.
        example: String,
        /// How many there are.
        count: usize,
    },
    /// A value that is not among the levels a column was given.
    #[error(
        "column {name:?}: expected one of {levels}, found {found:?}\n  hint: list every level in --levels, in order"
    )]
    UnlistedLevel {
        /// The column.
        name: String,
        /// The value.
        found: String,
        /// The levels it was given.
        levels: String,
    },
    /// Missing values where none are allowed.
    #[error(
        "missing values among {rows} rows: {}\n  hint: {}",
        counts(columns),
        mend(columns, *rows)
    )]
    Missing {
        /// Each column that has some, and how many.
        columns: Vec<(String, usize)>,
        /// The rows of the table.
        rows: usize,
    },
    /// Infinities where finite numbers are needed.
    #[error("column {name:?}: expected finite numbers, found {count} infinite")]
    Infinite {
        /// The column.
        name: String,
        /// How many.
        count: usize,
    },
    /// Numbers whose squares leave the range of doubles.
    #[error(
        "column {name:?}: its spread is too large to be standardised\n  hint: divide the column by a constant first"
    )]
    Overflow {
        /// The column.
        name: String,
    },
    /// A vector of the wrong length.
    #[error("{what}: expected {expected} values, found {found}")]
    Length {
        /// What the vector is.
        what: &'static str,
        /// Values needed.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as a verb.
        action: &'static str,
        /// Its reason.
        source: std::io::Error,
    },
    /// A CSV cell that is not what its column holds. Line and field count from 1.
    #[error("{}:{line}:{field}: column {column:?} expects {expected}, found {found:?}\n  hint: {}", path.display(), cell_hint(found, column))]
    Cell {
        /// The file.
        path: PathBuf,
        /// The line on which the record starts.
        line: u64,
        /// The field within the record.
        field: usize,
        /// The column's name.
        column: String,
        /// What it holds, with its article.
        expected: String,
        /// The cell, shortened.
        found: String,
    },
    /// A CSV record with more or fewer fields than the first.
    #[error("{}:{line}: expected {expected} fields, found {found}\n  hint: a field that contains the delimiter must be quoted, and no row may end in one", path.display())]
    Ragged {
        /// The file.
        path: PathBuf,
        /// The line on which the record starts.
        line: u64,
        /// Fields of the header.
        expected: u64,
        /// Fields of this record.
        found: u64,
    },
    /// A quote that was opened and never closed.
    #[error("{}:{line}: expected a closing quote, found none up to the end of the file\n  hint: close the quote on that line, or write a quote within a field twice", path.display())]
    OpenQuote {
        /// The file.
        path: PathBuf,
        /// The line on which the record starts.
        line: u64,
    },
    /// Bytes that are not UTF-8 text.
    #[error("{}:{line}:{field}: expected UTF-8 text, found other bytes\n  hint: convert the file, for instance with iconv -t UTF-8", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
        /// The line on which the record starts.
        line: u64,
        /// The field within the record.
        field: usize,
    },
    /// A column of a type that has no meaning as a number or a category.
    #[error("{}: column {name:?} has type {kind}, which cannot be read\n  hint: leave the column out with --columns", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The column.
        name: String,
        /// Its type, as the format calls it.
        kind: String,
    },
    /// A shard whose columns are not those of the first.
    #[error("{}: {found}, but {} has {expected}\n  hint: all shards of a table have the same columns in the same order", shard.display(), first.display())]
    Shard {
        /// The shard that disagrees.
        shard: PathBuf,
        /// The shard that set the schema.
        first: PathBuf,
        /// What the first has at that place.
        expected: String,
        /// What this one has.
        found: String,
    },
    /// A path that names no table.
    #[error("{}: {reason}\n  hint: {hint}", path.display())]
    NoTable {
        /// The path or pattern.
        path: PathBuf,
        /// Why.
        reason: &'static str,
        /// What to do.
        hint: &'static str,
    },
    /// A file that its format's reader or writer refuses.
    #[error("{}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What its format's library says.
        reason: String,
    },
    /// One of our own files, cut short or altered.
    #[error("{}: the file is damaged: {reason}\n  hint: convert the table again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// One of our own files, written by a later version.
    #[error("{}: expected format version {known} or older, found {found}\n  hint: a newer lehr wrote it; update, or convert the table again", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version this build reads.
        known: u32,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| {
        format!("\n  hint: did you mean {name:?}?")
    })
}

/// The columns with missing values, at most ten by name so that a wide table stays one line.
fn counts(columns: &[(String, usize)]) -> String {
    let shown: Vec<String> = (columns.iter().take(10))
        .map(|(name, count)| format!("{name:?} {count}"))
        .collect();
    match columns.len().saturating_sub(10) {
        0 => shown.join(", "),
        more => format!("{}, and {more} more columns", shown.join(", ")),
    }
}

/// What to do about missing values: leaving out rows only helps where some would be left.
fn mend(columns: &[(String, usize)], rows: usize) -> String {
    match columns.iter().find(|(_, count)| *count == rows) {
        Some((name, _)) => {
            format!("column {name:?} has no value at all: leave it out of the formula")
        }
        None => "leave out the rows that have any with --missing drop".into(),
    }
}

/// A text as it would be typed in a shell: bare when that is safe, otherwise quoted.
fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./+%:@".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    format!("{text:?}")
}

/// What to do about a cell that is not what its column holds.
fn cell_hint(found: &str, column: &str) -> String {
    const SUMS: [&str; 6] = ["total", "totals", "sum", "mean", "average", "subtotal"];
    if SUMS.contains(&found.trim().to_lowercase().as_str()) {
        return "delete the line, which sums up other lines".into();
    }
    format!(
        "name missing values with --missing-text {}, or read the column as text with --categorical {}",
        word(found),
        word(column)
    )
}
