//! A regression with its rows.

use std::time::Instant;

use lehr_density::Density;
use lehr_learn::LearnError;
use lehr_model::Bound;
use lehr_regression::{MultivariateRegression, Regression, RegressionError, Specification};
use lehr_table::Table;

use crate::fitted_model::AnyModel;

/// All rows of a model, which stay in files.
pub(crate) trait RowsInFiles: Send + Sync {
    /// The model on a sample of the rows, which can request sums over all of them.
    fn density(&self) -> &dyn Density;

    /// The number of passes over all rows that a fit will need, in words.
    fn ahead(&self) -> String;

    /// The number of passes so far, in words.
    fn words(&self) -> String;
}

/// A regression with its rows, ready to be fitted by any method.
pub struct BoundRegression {
    /// The model without its rows.
    pub subject: AnyModel,
    /// The model on its rows.
    pub bound: Bound,
    /// The automatic choices before the fit.
    pub choices: Vec<(String, String)>,
    /// Seconds of reading.
    pub read_seconds: f64,
    /// Rows left out because a value was missing.
    pub dropped_rows: usize,
    /// The model of each response by itself, if there are several.
    pub(crate) singles: Vec<Bound>,
    /// Whether the rows are in a file of their own, in random order.
    pub(crate) is_on_disk: bool,
    /// All rows, if those of the model are a sample of rows in files.
    pub(crate) streamed: Option<Box<dyn RowsInFiles>>,
}

impl BoundRegression {
    /// Builds the model of a table; `clock` started when its reading did.
    pub fn new(
        specification: &Specification,
        table: &Table,
        clock: Instant,
    ) -> Result<BoundRegression, RegressionError> {
        let dropped = table.dropped_rows();
        if table.n_rows() == 0 && dropped > 0 {
            return Err(LearnError::AllMissing { dropped }.into());
        }
        let subject = AnyModel::from(specification.model(table)?);
        let several = subject.multivariate();
        let several = several.map_or(&[][..], MultivariateRegression::responses);
        let singles = several.iter().map(|own| own.bind(table));
        Ok(BoundRegression {
            bound: subject.bind(&subject.design(table)?)?,
            choices: specification.choices(&subject.regressions()),
            singles: singles.collect::<Result<_, _>>()?,
            subject,
            read_seconds: clock.elapsed().as_secs_f64(),
            dropped_rows: dropped,
            is_on_disk: false,
            streamed: None,
        })
    }

    /// The model of a regression of one response that is bound already. `rows` says where its rows are.
    pub(crate) fn of_one(
        specification: &Specification,
        (regression, bound): (Regression, Bound),
        rows: String,
        clock: Instant,
    ) -> BoundRegression {
        let subject = AnyModel::Regression(Box::new(regression));
        let mut choices = specification.choices(&subject.regressions());
        choices.push(("rows".into(), rows));
        BoundRegression {
            subject,
            bound,
            choices,
            read_seconds: clock.elapsed().as_secs_f64(),
            dropped_rows: 0,
            singles: Vec::new(),
            is_on_disk: false,
            streamed: None,
        }
    }

    /// The model in the form of a fit: on its rows, or on a sample of them with access to all rows
    /// in files.
    pub fn density(&self) -> &dyn Density {
        if let Some(streamed) = &self.streamed {
            return streamed.density();
        }
        &self.bound
    }

    /// The number of times that a fit will read all rows, in words, if they stay in files.
    pub fn ahead(&self) -> Option<String> {
        self.streamed.as_ref().map(|rows| rows.ahead())
    }
}
