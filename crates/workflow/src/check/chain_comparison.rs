//! The comparison of a fit with Markov chains on the same rows: bounds from both sides, and the
//! differences.

use lehr_infer::bidirectional::Sandwich;
use lehr_infer::fit::Fit;
use lehr_infer::judge::Verdict;
use lehr_infer::posterior::Posterior;
use lehr_regression::Groups;
use lehr_table::Table;
use serde::Serialize;

use crate::error::Error;
use crate::saved_fit::{SavedFit, coefficients, used_weights, weigh};

/// The comparison of a fit with a reference on the same rows.
pub struct ChainComparison {
    /// The method of the reference.
    pub method: String,
    /// The reliability of the reference itself.
    pub verdict: Verdict,
    /// The log evidence from both sides; `None` if the fit's guide cannot be run backwards.
    pub bounds: Option<Sandwich>,
    /// The differences, largest first.
    pub differences: Vec<Difference>,
}

/// The difference of a coefficient between the fit and the reference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The coefficient.
    pub name: String,
    /// The fit's mean minus that of the reference, in standard deviations of the reference.
    pub mean_off: f64,
    /// The fit's standard deviation over that of the reference.
    pub sd_ratio: f64,
}

impl SavedFit {
    /// Fits the model to the rows of the table by another method and compares. The table must be
    /// the fitted one.
    pub fn against(&self, reference: Fit<'_>, table: &Table) -> Result<ChainComparison, Error> {
        self.fitted("--against")?;
        let design = self.subject.design(table)?;
        let bound = self.subject.bind(&design)?;
        let exact = reference.run(&bound)?;
        let seed = exact.origin.seed;
        Ok(ChainComparison {
            method: exact.method().to_owned(),
            verdict: exact.verdict(),
            bounds: self.posterior.sandwich(&bound, &exact, seed)?,
            differences: self.differences(&exact),
        })
    }

    fn differences(&self, exact: &Posterior) -> Vec<Difference> {
        let draws = |of: &Posterior| coefficients(&self.subject, of, Groups::Leave);
        let weights = [&self.posterior, exact].map(used_weights);
        let pairs = draws(&self.posterior).into_iter().zip(draws(exact));
        let mut all: Vec<Difference> = pairs
            .map(|(own, other)| {
                let found = weigh(&own.values, &weights[0]);
                let expected = weigh(&other.values, &weights[1]);
                Difference {
                    name: own.name.to_string(),
                    mean_off: (found.mean - expected.mean) / expected.sd,
                    sd_ratio: found.sd / expected.sd,
                }
            })
            .collect();
        all.sort_by(|a, b| b.mean_off.abs().total_cmp(&a.mean_off.abs()));
        all
    }
}
