//! The summary of its data that a fit stores for the report: histograms, calibration and a few
//! residuals.

use lehr_report::{CalibrationBin, CountBin, PredictiveCheck, Residual};
use serde::{Deserialize, Serialize};

/// One bar of a rootogram.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Bar {
    pub(crate) value: u64,
    pub(crate) observed: f64,
    pub(crate) expected: f64,
    pub(crate) interval: [f64; 2],
}

/// The report's summary of the data.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DataCheck {
    /// Histograms of observed and replicated responses.
    pub predictive: Option<PredictiveCheck>,
    /// For binary outcomes.
    pub calibration: Vec<CalibrationBin>,
    /// For numbers.
    pub residuals: Vec<Residual>,
    pub(crate) bars: Vec<Bar>,
    pub(crate) outliers: Option<Outliers>,
    /// Draws of R² on these rows, by name.
    pub(crate) explained: Vec<(String, Vec<f64>)>,
    pub(crate) rows: u64,
}

impl DataCheck {
    /// Observed against expected counts.
    pub fn rootogram(&self) -> Vec<CountBin> {
        let bin = |bar: &Bar| CountBin {
            value: bar.value,
            observed: bar.observed,
            expected: bar.expected,
            interval: Some(bar.interval),
        };
        self.bars.iter().map(bin).collect()
    }

    /// A sentence on responses far outside the model's predictions, if there are any.
    pub(crate) fn remark(&self, response: &str) -> Option<String> {
        let found = self.outliers.as_ref()?;
        Some(found.sentence(response, self.rows))
    }

    /// The user's data in a file that contains this summary, in addition to `rows`, those of the
    /// guide.
    pub(crate) fn contents(&self, rows: &str) -> String {
        let mut parts = vec![rows.to_owned()];
        parts.retain(|rows| !rows.is_empty());
        parts.push("names, levels and scales of the columns".into());
        if self.rows > 0 {
            parts.push(format!("histograms of the response of {} rows", self.rows));
        }
        if !self.residuals.is_empty() {
            parts.push(format!(
                "fitted values and residuals of {} rows",
                self.residuals.len()
            ));
        }
        if self.outliers.is_some() {
            parts.push("the response of the farthest outlier".into());
        }
        parts.join("; ")
    }
}

/// Gross outliers among the rows that were checked.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Outliers {
    pub(crate) count: u64,
    /// The farthest response, its expectation, and the predictive standard deviation.
    pub(crate) farthest: [f64; 3],
}

impl Outliers {
    /// The sentence for the user, about this many rows.
    pub(crate) fn sentence(&self, response: &str, rows: u64) -> String {
        let [found, expected, sd] = self.farthest;
        let are = if self.count == 1 { "lies" } else { "lie" };
        format!(
            "{response}: {} of {rows} rows {are} far beyond what the model would draw, the farthest {found} \
             where {} ± {} is expected; look at them, or try --family student",
            self.count,
            short(expected),
            short(sd)
        )
    }
}

/// A number with four digits.
fn short(value: f64) -> String {
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.digits$}")
}
