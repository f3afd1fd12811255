//! A covariate whose true value is a latent variable of the row: measured with error, `me(x, sd)`,
//! or missing in some rows, `mi(x)`.

use lehr_formula::{CovariateTerm, Intercept};
use lehr_table::{Column, Moment};
use serde::{Deserialize, Serialize};

use crate::column_name::{ERROR, GAP, MEASURED, SEEN, UNKNOWN};
use crate::error::LearnError;
use crate::response_rule::ResponseForm;
use crate::source::Source;

/// The covariate with the constants learned from the fitted table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Covariate {
    /// The term of the formula.
    pub term: CovariateTerm,
    /// The value that is subtracted from the covariate.
    pub centre: f64,
    /// The divisor of the values.
    pub scale: f64,
    /// The mean of the present values.
    pub mean: f64,
}

/// The covariate while its table is read.
#[derive(Clone, PartialEq)]
pub(crate) struct CovariateLearner {
    term: CovariateTerm,
    moment: Moment,
    missing: usize,
}

impl CovariateLearner {
    pub(crate) fn new(term: &CovariateTerm) -> CovariateLearner {
        CovariateLearner {
            term: term.clone(),
            moment: Moment::default(),
            missing: 0,
        }
    }

    /// Adds a block.
    pub(crate) fn add_rows(&mut self, source: &Source<'_>) -> Result<(), LearnError> {
        errors(&self.term, source)?;
        for value in values(&self.term, source) {
            if value.is_nan() {
                self.missing += 1;
            } else {
                self.moment.push_value(value);
            }
        }
        Ok(())
    }

    /// The covariate, if its values vary.
    pub(crate) fn finish(
        self,
        form: ResponseForm,
        intercept: Intercept,
    ) -> Result<(Covariate, Option<String>), LearnError> {
        let (mean, scale) = (self.moment.mean(), self.moment.scale());
        let label = self.term.term_label();
        if self.moment.count() == 0 {
            return Err(LearnError::column(
                label,
                "a value in some rows",
                format!("none in {} rows", self.missing),
                "leave the term out",
            ));
        }
        if self.moment.count() < 2 || scale <= 4.0 * f64::EPSILON * mean.abs() {
            return Err(LearnError::column(
                label,
                "values that differ",
                format!("{} values, all the same", self.moment.count()),
                "leave the term out",
            ));
        }
        let is_centred = intercept == Intercept::Present || form == ResponseForm::Ordered;
        let note = self.term.error.is_none().then(|| {
            let rows = self.moment.count() as usize + self.missing;
            format!("{label}: missing in {} of {rows} rows", self.missing)
        });
        let made = Covariate {
            term: self.term,
            centre: if is_centred { mean } else { 0.0 },
            scale,
            mean,
        };
        Ok((made, note))
    }
}

/// The observed covariate; NaN if it is missing.
fn values(term: &CovariateTerm, source: &Source<'_>) -> Vec<f64> {
    source.numbers(&term.column).unwrap_or_default().to_vec()
}

/// The standard deviation of its errors in every row; `None` if it has gaps instead.
fn errors(term: &CovariateTerm, source: &Source<'_>) -> Result<Option<Vec<f64>>, LearnError> {
    let Some(expr) = &term.error else {
        return Ok(None);
    };
    let spreads = source.evaluate(expr)?;
    match spreads.iter().position(|spread| *spread <= 0.0) {
        None => Ok(Some(spreads)),
        Some(row) => Err(LearnError::column(
            format!("{term}, row {}", source.first + row + 1),
            "errors of a standard deviation above 0",
            spreads[row].to_string(),
            format!(
                "give every row the spread of its error, a small one where {0} is as good as exact, or write {0} alone",
                term.column
            ),
        )),
    }
}

impl Covariate {
    /// The model's columns for a block.
    pub fn columns(&self, source: &Source<'_>) -> Result<Vec<(&'static str, Column)>, LearnError> {
        let seen = values(&self.term, source);
        let more = if let Some(spreads) = errors(&self.term, source)? {
            let spreads = spreads.iter().map(|spread| spread / self.scale);
            (ERROR, spreads.collect())
        } else {
            let gap = |value: &f64| if value.is_nan() { UNKNOWN } else { 0.0 };
            (GAP, seen.iter().map(gap).collect())
        };
        // As a response it keeps its own unit, in which densities are reported.
        let as_seen = |value: &f64| if value.is_nan() { self.centre } else { *value };
        let whole: Vec<f64> = seen.iter().map(as_seen).collect();
        let standard = |value: &f64| (value - self.centre) / self.scale;
        let own = whole.iter().map(standard).collect();
        let columns = [(MEASURED, own), (SEEN, whole), more].into_iter();
        Ok(columns
            .map(|(name, values)| (name, Column::Number(values)))
            .collect())
    }

    /// The text of the term.
    pub fn term(&self) -> String {
        self.term.to_string()
    }

    /// The names of the coefficient, and of the mean and the standard deviation of true values.
    pub fn names(&self) -> [String; 3] {
        covariate_names(&self.term.term_label())
    }

    /// Mean and standard deviation of true values on the original scale, from the model's.
    pub fn original(&self, mean: f64, spread: f64) -> [f64; 2] {
        [self.centre + self.scale * mean, self.scale * spread]
    }
}

/// The names of the coefficient, and of the mean and the standard deviation of true values, from a
/// term's label.
pub fn covariate_names(label: &str) -> [String; 3] {
    [
        label.to_owned(),
        format!("{label}.mean"),
        format!("{label}.sd"),
    ]
}
