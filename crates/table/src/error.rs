//! The reasons for which a table is refused, each as one sentence and one hint.

use std::borrow::Cow;
use std::path::PathBuf;

use thiserror::Error;

use crate::kind::Kind;

/// An error in a table, a file or a request. Its text says where, what was expected and what was
/// found; a second line, if there is one, gives advice.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TableError {
    /// A name that is not among the columns.
    #[error("no column {name:?} in the table{}", did_you_mean(nearest.as_deref()))]
    UnknownColumn {
        /// The name that was requested.
        name: String,
        /// The nearest column name, if one is close.
        nearest: Option<String>,
    },
    /// Two columns of one name.
    #[error("column {name:?}: names must differ, found it twice\n  hint: rename one of the two")]
    DuplicateColumn {
        /// The repeated name.
        name: String,
    },
    /// Columns of different lengths in one table.
    #[error("column {name:?} has {rows} rows, but column {other:?} has {other_rows}")]
    RowMismatch {
        /// The column that was to be added.
        name: String,
        /// Its rows.
        rows: usize,
        /// An existing column.
        other: String,
        /// Its rows.
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
        /// The code in that row.
        code: u32,
        /// The number of levels.
        levels: usize,
    },
    /// A column of another kind than the one needed.
    #[error("column {name:?}: expected {expected}, found {found}")]
    WrongKind {
        /// The column.
        name: String,
        /// The kind that was needed, with its article.
        expected: &'static str,
        /// The kind that was found.
        found: Kind,
    },
    /// Levels that are not among the known ones.
    #[error("column {name:?}: {count} levels were not seen before, such as {example:?}")]
    UnseenLevel {
        /// The category column.
        name: String,
        /// One of them.
        example: String,
        /// How many there are.
        count: usize,
    },
    /// A value that is not among the levels given for a column.
    #[error(
        "column {name:?}: expected one of {levels}, found {found:?}\n  hint: list every level in --levels, in order"
    )]
    UnlistedLevel {
        /// The column.
        name: String,
        /// The value.
        found: String,
        /// The given levels.
        levels: String,
    },
    /// Missing values where none are allowed.
    #[error(
        "missing values among {rows} rows: {}\n  hint: {}",
        list_counts(columns),
        mend_hint(columns, *rows)
    )]
    Missing {
        /// The columns with missing values, and how many each has.
        columns: Vec<(String, usize)>,
        /// The rows of the table.
        rows: usize,
    },
    /// A vector of the wrong length.
    #[error("{what}: expected {expected} values, found {found}")]
    Length {
        /// The name of the vector.
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
        /// The action that was tried, as a verb.
        action: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// A CSV cell that does not fit the type of its column. Line and field count from 1.
    #[error("{}:{line}:{field}: column {column:?} expects {expected}, found {found:?}\n  \
             hint: {}", path.display(), cell_hint(found, column))]
    Cell {
        /// The file.
        path: PathBuf,
        /// The line on which the record starts.
        line: u64,
        /// The field within the record.
        field: usize,
        /// The column's name.
        column: String,
        /// The type of the column, with its article.
        expected: String,
        /// The cell, shortened.
        found: String,
    },
    /// A CSV record with more or fewer fields than the first.
    #[error("{}:{line}: expected {expected} fields, found {found}\n  \
             hint: a field that contains the delimiter must be quoted, and no row may end in one", path.display())]
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
    #[error("{}:{line}: expected a closing quote, found none up to the end of the file\n  \
             hint: close the quote on that line, or write a quote within a field twice", path.display())]
    OpenQuote {
        /// The file.
        path: PathBuf,
        /// The line on which the record starts.
        line: u64,
    },
    /// Bytes that are not UTF-8 text.
    #[error("{}:{line}:{field}: expected UTF-8 text, found other bytes\n  \
             hint: convert the file, for instance with iconv -t UTF-8", path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
        /// The line on which the record starts.
        line: u64,
        /// The field within the record.
        field: usize,
    },
    /// A path that names no table, or a file that cannot be used.
    #[error("{}: {reason}\n  hint: {hint}", path.display())]
    File {
        /// The path or pattern.
        path: PathBuf,
        /// The reason.
        reason: Cow<'static, str>,
        /// Advice.
        hint: &'static str,
    },
    /// A file that its format's reader or writer refuses.
    #[error("{}: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The error of the format's library.
        reason: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| {
        format!("\n  hint: did you mean {name:?}?")
    })
}

/// The columns with missing values, at most ten by name so that a wide table stays one line.
fn list_counts(columns: &[(String, usize)]) -> String {
    let shown: Vec<String> = (columns.iter().take(10))
        .map(|(name, count)| format!("{name:?} {count}"))
        .collect();
    match columns.len().saturating_sub(10) {
        0 => shown.join(", "),
        more => format!("{}, and {more} more columns", shown.join(", ")),
    }
}

/// Advice on missing values: dropping rows only helps if some remain.
fn mend_hint(columns: &[(String, usize)], rows: usize) -> String {
    match columns.iter().find(|(_, count)| *count == rows) {
        Some((name, _)) => {
            format!("column {name:?} has no value at all: leave it out of the formula")
        }
        None => "leave out the rows that have any with --missing drop".into(),
    }
}

/// A text in the form in which it is typed in a shell: bare if that is safe, otherwise quoted.
fn quote_word(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./+%:@".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    format!("{text:?}")
}

/// Advice on a cell that does not fit the type of its column.
fn cell_hint(found: &str, column: &str) -> String {
    const SUMS: [&str; 6] = ["total", "totals", "sum", "mean", "average", "subtotal"];
    if SUMS.contains(&found.trim().to_lowercase().as_str()) {
        return "delete the line, which sums up other lines".into();
    }
    format!(
        "name missing values with --missing-text {}, or read the column as text with --categorical {}",
        quote_word(found),
        quote_word(column)
    )
}
