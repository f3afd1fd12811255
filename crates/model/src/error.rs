//! The mistakes that binding a model to a table can find, with their messages.

use std::fmt;

use lehr_density::LayoutError;
use lehr_graph::ShapeError;
use thiserror::Error;

use crate::distribution::ParameterError;

/// All the mistakes found in one binding; at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct BindError {
    /// The mistakes, in the order in which the model meets them.
    pub problems: Vec<Problem>,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = &self.problems[..] {
            return write!(f, "{only}");
        }
        write!(f, "{} mistakes", self.problems.len())?;
        for problem in &self.problems {
            write!(f, "\n{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for BindError {}

/// One mistake in a model or in the table it is bound to. Rows count from 1.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The table has no rows.
    #[error("table: expected at least one row, found none")]
    NoRows,
    /// The model never calls `row.observe`.
    #[error(
        "model: expected an observed column, found none\n  hint: call row.observe(column, distribution) inside m.rows"
    )]
    NothingObserved,
    /// Rows with local latents whose parts have different weights.
    #[error(
        "weight: expected one for whole rows, whose latents of their own share it, found m.rows \
         twice with different weights\n  \
         hint: give every m.rows the same row.weight"
    )]
    PartWeight,
    /// A name that is not among the columns.
    #[error("no column {name:?} in the table\n  hint: {hint}")]
    UnknownColumn {
        /// The unknown name.
        name: String,
        /// The nearest name, or the names there are.
        hint: String,
    },
    /// A column of another type than the model reads.
    #[error("column {name:?}: expected {expected}, found {found}\n  hint: {hint}")]
    WrongKind {
        /// The column.
        name: String,
        /// The type that the model reads.
        expected: &'static str,
        /// The type in the table.
        found: String,
        /// Advice.
        hint: String,
    },
    /// Shapes that do not fit, with the line of the model that joins them.
    #[error("{error}\n  hint: look at the shapes in that line{}", rows_hint(&error.message))]
    Shape {
        /// The graph's error; the axis of rows is written `rows`.
        error: ShapeError,
    },
    /// An observed distribution with another number of densities than one per row.
    #[error(
        "column {name:?}: {distribution} expects one density per row, found shape {found}\n  \
         hint: the parameters of an observed distribution are numbers or have one entry per row"
    )]
    RowShape {
        /// The observed column.
        name: String,
        /// The distribution.
        distribution: &'static str,
        /// The shape, in which the axis of rows is written `rows`.
        found: String,
    },
    /// Values of a column that are not those expected of it.
    #[error("column {name:?}, row {row}: {expected}, found {found}{}{hint}", name_others(*count))]
    BadValue {
        /// The column.
        name: String,
        /// The first such row.
        row: usize,
        /// The values that are expected, as a clause.
        expected: String,
        /// The value in that row.
        found: String,
        /// How many rows have such values.
        count: usize,
        /// A line of advice; empty if there is none.
        hint: String,
    },
    /// Two sites of one name.
    #[error("site {name:?}: names must differ, found it twice\n  hint: rename one of the two")]
    DuplicateSite {
        /// The repeated name.
        name: String,
    },
    /// A site, parameter, factor or named quantity inside `m.rows`.
    #[error(
        "{what} {name:?}: expected outside m.rows, found inside\n  \
         hint: name it before m.rows; a latent of each row's own is row.local"
    )]
    InsideRows {
        /// The kind of the item.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// One column observed twice.
    #[error(
        "column {name:?}: expected one row.observe, found two\n  \
         hint: a column has one distribution; mixtures are one distribution too"
    )]
    DuplicateResponse {
        /// The column.
        name: String,
    },
    /// A distribution of labels or counts where a latent is sampled.
    #[error(
        "site {name:?}: expected a continuous distribution, found {distribution}\n  \
         hint: counts and labels can only be observed; sum them out of the model"
    )]
    Discrete {
        /// The site.
        name: String,
        /// The distribution.
        distribution: &'static str,
    },
    /// A distribution with impossible parameters.
    #[error("{place}: {error}")]
    Parameter {
        /// The site or the observed column, with its kind.
        place: String,
        /// The distribution's error.
        error: ParameterError,
    },
    /// A shape or a start that the support of a site refuses.
    #[error(transparent)]
    Site(#[from] LayoutError),
    /// A term of the model that is not a single number.
    #[error(
        "{what} {name:?}: expected one number, found shape {found}\n  hint: sum it with .sum()"
    )]
    NotANumber {
        /// The kind of the term.
        what: &'static str,
        /// Its name.
        name: String,
        /// Its shape.
        found: String,
    },
    /// An argument that must be a matrix and is not.
    #[error(
        "{what} of {name:?}: expected a matrix, a row for each point, found shape {found}\n  \
         hint: reshape a single column to [points, 1]"
    )]
    NotAMatrix {
        /// The argument.
        what: &'static str,
        /// The item to which it belongs.
        name: String,
        /// Its shape.
        found: String,
    },
    /// Missing or infinite values.
    #[error(
        "column {name:?}: expected {expected}, found {count} {kind}, the first in row {row}\n  hint: {hint}"
    )]
    NotFinite {
        /// The column.
        name: String,
        /// The values that are expected.
        expected: &'static str,
        /// The kind of the values found.
        kind: &'static str,
        /// How many values.
        count: usize,
        /// The first row with one.
        row: usize,
        /// Advice.
        hint: &'static str,
    },
    /// A level that the model was not bound with.
    #[error(
        "column {name:?}: {message}\n  hint: the model has an entry for each level it was bound with and for no other"
    )]
    UnseenLevel {
        /// The category.
        name: String,
        /// The unknown levels.
        message: String,
    },
}

fn name_others(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        _ => format!(" ({count} such rows)"),
    }
}

fn rows_hint(message: &str) -> &'static str {
    if message.contains("rows") {
        "; `rows` is the axis of the table's rows"
    } else {
        ""
    }
}
