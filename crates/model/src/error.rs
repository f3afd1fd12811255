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
    /// A value that its distribution cannot produce.
    #[error("column {name:?}, row {row}: {distribution} expects {expected}, found {found}{}", name_others(*count))]
    Label {
        /// The observed column.
        name: String,
        /// The first such row.
        row: usize,
        /// The distribution.
        distribution: String,
        /// The values that the distribution allows.
        expected: String,
        /// The value in that row.
        found: String,
        /// How many rows have such values.
        count: usize,
    },
    /// More successes than trials.
    #[error("column {name:?}, row {row}: {distribution} expects at most {limit}, the trials in \
             column {trials:?}, found {found}{}", name_others(*count))]
    Trials {
        /// The observed column.
        name: String,
        /// The first such row.
        row: usize,
        /// The distribution.
        distribution: String,
        /// The column of trials.
        trials: String,
        /// The trials in that row.
        limit: f64,
        /// The successes in that row.
        found: f64,
        /// How many rows have such values.
        count: usize,
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
    /// Missing values.
    #[error(
        "column {name:?}: expected a value in every row, found {count} missing, the first in row \
         {row}\n  \
         hint: leave such rows out with drop_missing, or fill them in before binding"
    )]
    Missing {
        /// The column.
        name: String,
        /// How many values.
        count: usize,
        /// The first row with one.
        row: usize,
    },
    /// Infinite values.
    #[error(
        "column {name:?}: expected finite numbers, found {count} infinite, the first in row \
         {row}\n  \
         hint: look for a logarithm of zero or a division by zero upstream"
    )]
    Infinite {
        /// The column.
        name: String,
        /// How many values.
        count: usize,
        /// The first row with one.
        row: usize,
    },
    /// A number that is not a valid row number.
    #[error("column {name:?}, row {row}: an index is a whole number from 0 on, found {found}{}\n  \
             hint: make it a category, whose levels are numbered for you", name_others(*count))]
    NotAnIndex {
        /// The index column.
        name: String,
        /// The first such row.
        row: usize,
        /// The value in that row.
        found: f64,
        /// How many rows have such values.
        count: usize,
    },
    /// An index past the end of an array it reads.
    #[error("column {name:?}, row {row}: expected an index below {length}, the length of the \
             array it reads, found {found}{}\n  \
             hint: give the array m.levels({name:?}) entries", name_others(*count))]
    IndexRange {
        /// The index column.
        name: String,
        /// The first such row.
        row: usize,
        /// The index in that row.
        found: u32,
        /// The leading length of the array.
        length: usize,
        /// How many rows have such values.
        count: usize,
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
    /// A negative weight.
    #[error("column {name:?}, row {row}: expected a weight from 0 on, found {found}{}", name_others(*count))]
    Weight {
        /// The weight column.
        name: String,
        /// The first such row.
        row: usize,
        /// The value in that row.
        found: f64,
        /// How many rows have such values.
        count: usize,
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
