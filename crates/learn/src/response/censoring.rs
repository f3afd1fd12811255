//! Bounded responses: `y | cens(c)`, `y | trunc(lb, ub)`.

use std::fmt::Write;

use lehr_formula::{ColumnExpr, Response};
use lehr_table::Column;
use serde::{Deserialize, Serialize};

use super::response_column::ResponseColumn;
use crate::column_name::{HIGH, LOW, STATUS, UPPER};
use crate::error::LearnError;
use crate::response_rule::ResponseForm;
use crate::source::Source;

/// The numeric codes of a censoring state, and its words, as in brms.
const STATUSES: [(f64, &str); 4] = [
    (-1.0, "left"),
    (0.0, "none"),
    (1.0, "right"),
    (2.0, "interval"),
];

/// Replaces a limit of 0, so that its logarithm is finite.
const LEAST: f64 = 1e-300;

impl ResponseColumn {
    /// The bounds of the response in every row, with the upper ends of intervals; `None` if all
    /// responses are known exactly.
    pub fn censored_response(
        &self,
        source: &Source<'_>,
        values: &[f64],
    ) -> Result<Option<CensoredResponse>, LearnError> {
        let Some(censoring) = &self.response.censoring else {
            return Ok(None);
        };
        let place = format!("cens({})", censoring.status);
        let status = statuses(&censoring.status, &place, source)?;
        let Some(expr) = &censoring.upper else {
            let upper = None;
            return match status.iter().position(|code| *code == 2.0) {
                None => Ok(Some(CensoredResponse { status, upper })),
                Some(row) => Err(LearnError::column(
                    format!("{place}, row {}", source.first + row + 1),
                    "where the interval ends",
                    "interval and no upper end",
                    format!("write cens({}, upper)", censoring.status),
                )),
            };
        };
        let upper = source.evaluate(expr)?;
        let wrong = |row: &usize| status[*row] == 2.0 && upper[*row] <= values[*row];
        if let Some(row) = (0..status.len()).find(wrong) {
            return Err(LearnError::column(
                format!("{censoring}, row {}", source.first + row + 1),
                format!("an interval that ends above {}, its start", values[row]),
                upper[row].to_string(),
                "the response is where an interval starts",
            ));
        }
        let end = |row: usize| match status[row] {
            2.0 => upper[row],
            _ => values[row] + 1.0,
        };
        Ok(Some(CensoredResponse {
            upper: Some((0..status.len()).map(end).collect()),
            status,
        }))
    }

    /// The columns of bounds for rows with unknown responses.
    pub fn placeholder_bounds(&self, rows: usize) -> Vec<(&'static str, Vec<f64>)> {
        let Some(censoring) = &self.response.censoring else {
            return Vec::new();
        };
        let mut columns = vec![(STATUS, vec![0.0; rows])];
        if censoring.upper.is_some() {
            columns.push((UPPER, vec![self.stand_in() + 1.0; rows]));
        }
        columns
    }

    /// The limits of every row, by the names of the model's columns.
    pub fn limits(&self, source: &Source<'_>) -> Result<Vec<(&'static str, Vec<f64>)>, LearnError> {
        let Some(truncation) = &self.response.truncation else {
            return Ok(Vec::new());
        };
        let form = self.rule.form;
        let lowest = |value: f64| match form {
            ResponseForm::Positive => value.max(LEAST),
            ResponseForm::Count => value.max(0.0).ceil(),
            _ => value,
        };
        let highest = |value: f64| match form {
            ResponseForm::Count => value.floor(),
            _ => value,
        };
        let limit = |expr: &Option<ColumnExpr>, bound: &dyn Fn(f64) -> f64| {
            let values = expr.as_ref().map(|expr| source.evaluate(expr));
            let values = values.transpose()?;
            Ok::<_, LearnError>(values.map(|all| all.into_iter().map(bound).collect::<Vec<f64>>()))
        };
        let low = limit(&truncation.low, &lowest)?;
        let high = limit(&truncation.high, &highest)?;
        self.check_limits(low.as_deref(), high.as_deref(), source.first)?;
        let both = [low.map(|low| (LOW, low)), high.map(|high| (HIGH, high))];
        Ok(both.into_iter().flatten().collect())
    }

    /// Refuses limits that leave nothing between them.
    fn check_limits(
        &self,
        low: Option<&[f64]>,
        high: Option<&[f64]>,
        first: usize,
    ) -> Result<(), LearnError> {
        let Some(high) = high else {
            return Ok(());
        };
        let least = match self.rule.form {
            ResponseForm::Positive | ResponseForm::Count => 0.0,
            _ => f64::NEG_INFINITY,
        };
        let is_count = self.rule.is_count();
        let is_empty = |row: &usize| {
            let low = low.map_or(least, |low| low[*row]);
            if is_count {
                low > high[*row]
            } else {
                low >= high[*row]
            }
        };
        let Some(row) = (0..high.len()).find(is_empty) else {
            return Ok(());
        };
        let low = low.map_or(least, |low| low[row]);
        Err(LearnError::column(
            format!("{}, row {}", self.truncation(), first + row + 1),
            format!("an upper limit above {low}, the lower one"),
            high[row].to_string(),
            "lb is the least that was kept, ub the largest",
        ))
    }

    fn truncation(&self) -> String {
        let own = self.response.truncation.as_ref();
        own.map_or_else(String::new, ToString::to_string)
    }

    /// Refuses responses beyond their limits.
    pub fn check_within(
        &self,
        values: &[f64],
        limits: &[(&'static str, Vec<f64>)],
        first: usize,
    ) -> Result<(), LearnError> {
        for (name, ends) in limits {
            let is_low = *name == LOW;
            let beyond = |row: &usize| {
                if is_low {
                    values[*row] < ends[*row]
                } else {
                    values[*row] > ends[*row]
                }
            };
            let Some(row) = (0..values.len()).find(beyond) else {
                continue;
            };
            let side = if is_low { "or more" } else { "or less" };
            return Err(LearnError::column(
                format!("{}, row {}", self.place(), first + row + 1),
                format!("{} {side}, by {}", ends[row], self.truncation()),
                values[row].to_string(),
                "trunc(...) says that no row lies beyond its limits; cens(...) is for rows that are only \
                    known to",
            ));
        }
        Ok(())
    }
}

/// The bounds of the response, row by row.
pub struct CensoredResponse {
    pub status: Vec<f64>,
    pub upper: Option<Vec<f64>>,
}

impl CensoredResponse {
    /// The bounds as columns of the model.
    pub fn columns(self) -> Vec<(&'static str, Vec<f64>)> {
        let upper = self.upper.map(|values| (UPPER, values));
        [(STATUS, self.status)].into_iter().chain(upper).collect()
    }
}

/// The number of rows of each censoring state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StatusCount([usize; STATUSES.len()]);

impl StatusCount {
    /// Adds a block.
    pub(crate) fn add_rows(&mut self, status: &[f64]) {
        for (count, (code, _)) in self.0.iter_mut().zip(STATUSES) {
            *count += status.iter().filter(|one| **one == code).count();
        }
    }

    /// Adds the counts of more rows.
    pub(crate) fn merge(&mut self, other: StatusCount) {
        let pairs = self.0.iter_mut().zip(other.0);
        pairs.for_each(|(own, more)| *own += more);
    }

    /// A note for the user, if any row is censored.
    pub(crate) fn note(&self, response: &Response) -> Option<String> {
        let all: usize = self.0.iter().sum();
        let named = STATUSES.iter().zip(self.0);
        let mut parts = String::new();
        for ((_, word), count) in named.filter(|((code, _), count)| *code != 0.0 && *count > 0) {
            let comma = if parts.is_empty() { "" } else { ", " };
            let _ = write!(parts, "{comma}{count} {word}");
        }
        response.censoring.as_ref()?;
        Some(match &parts[..] {
            "" => format!("{response}: no row is censored"),
            _ => format!("{response}: {parts} of {all} rows are censored"),
        })
    }
}

/// The censoring states of a column, from words, numbers or Boolean values (true means
/// right-censored).
fn statuses(name: &str, place: &str, source: &Source<'_>) -> Result<Vec<f64>, LearnError> {
    let wrong = |row: usize, found: String| {
        LearnError::column(
            format!("{place}, row {}", source.first + row + 1),
            "none, left, right or interval, or 0, -1, 1 or 2",
            found,
            "right: the response is more than what stands there; left: it is that or less",
        )
    };
    if let Column::Category { codes, levels } = source.column(name) {
        let known = |level: &String| {
            let word = level.trim().to_lowercase();
            let mut all = STATUSES.iter();
            let found = all.find(|(code, name)| *name == word || code.to_string() == word);
            found.map(|(code, _)| *code)
        };
        let by_level: Vec<Option<f64>> = levels.iter().map(known).collect();
        let of = |(row, code): (usize, &u32)| {
            let place = *code as usize;
            by_level[place].ok_or_else(|| wrong(row, format!("{:?}", levels[place])))
        };
        return codes.iter().enumerate().map(of).collect();
    }
    let values = source.evaluate(&ColumnExpr::Column(name.to_owned()))?;
    let is_known = |value: &f64| STATUSES.iter().any(|(code, _)| code == value);
    match values.iter().position(|value| !is_known(value)) {
        None => Ok(values),
        Some(row) => Err(wrong(row, values[row].to_string())),
    }
}
