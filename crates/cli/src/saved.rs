//! A saved fit: the model, the posterior and what a report needs, without the table.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use lehr_file::{load, save};
use lehr_infer::context::PARAMS;
use lehr_infer::file::FIT;
use lehr_infer::posterior::Posterior;
use lehr_numeric::pareto::Trust;
use lehr_regression::{Groups, NamedDraws, Regression};
use serde::{Deserialize, Serialize};

use crate::checking::Material;
use crate::outcome::Outcome;

/// Everything a fit leaves behind.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedFit {
    /// The version of the program that made it.
    pub(crate) version: String,
    /// The day on which it was made.
    pub(crate) date: String,
    /// The model without its rows.
    pub(crate) regression: Regression,
    /// The posterior.
    pub(crate) posterior: Posterior,
    /// Seconds of reading.
    pub(crate) read_seconds: f64,
    /// Rows left out because a value was missing.
    pub(crate) dropped_rows: u64,
    /// What of the user's data is in the file, in words.
    pub(crate) contents: String,
    /// What a report shows of the data.
    pub(crate) material: Material,
}

impl SavedFit {
    /// Writes the fit, all or nothing.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        Ok(save(path, FIT, self)?)
    }

    /// Reads a fit.
    pub(crate) fn load(path: &Path) -> Result<SavedFit> {
        Ok(load(path, FIT)?)
    }

    /// Whether the diagnostics warn.
    pub(crate) fn outcome(&self) -> Outcome {
        let trusted = self.posterior.pareto.trust != Trust::Untrusted;
        let gained = !self.posterior.is_below_base();
        if trusted && gained && self.posterior.trained.converged {
            Outcome::Done
        } else {
            Outcome::Warned
        }
    }

    /// Whether summaries are to be weighted.
    pub(crate) fn is_corrected(&self) -> bool {
        self.posterior.pareto.trust == Trust::Corrected
    }

    /// θ, flat and unconstrained.
    pub(crate) fn params(&self) -> &[f64] {
        self.posterior.trained.learned.get(PARAMS).unwrap_or(&[])
    }

    /// At most so many draws of z to compute with. Where importance weights correct the fit
    /// they are drawn by weight, so that all count the same afterwards.
    pub(crate) fn draws(&self, most: usize) -> Vec<&[f64]> {
        let size = self.posterior.latents.size().max(1);
        let all: Vec<&[f64]> = self.posterior.draws.chunks_exact(size).collect();
        let places = self.places(most.min(all.len()));
        places.into_iter().map(|place| all[place]).collect()
    }

    /// Systematic resampling: the draws at equal steps of the cumulated weight.
    fn places(&self, count: usize) -> Vec<usize> {
        let total = self.posterior.n_draws();
        let weights = if self.is_corrected() {
            self.posterior.pareto.weights()
        } else {
            vec![1.0 / total.max(1) as f64; total]
        };
        let (mut place, mut reached) = (0, weights.first().copied().unwrap_or(0.0));
        let mut places = Vec::with_capacity(count);
        for step in 0..count {
            let wanted = (step as f64 + 0.5) / count as f64;
            while reached < wanted && place + 1 < total {
                place += 1;
                reached += weights[place];
            }
            places.push(place);
        }
        places
    }

    /// The coefficients of every draw, unweighted.
    pub(crate) fn coefficients(&self, groups: Groups) -> Vec<NamedDraws> {
        self.regression
            .coefficients(&self.posterior.sites(), groups)
    }

    /// The coefficients of draws that all count the same.
    pub(crate) fn resampled(&self, groups: Groups) -> Vec<NamedDraws> {
        let mut coefficients = self.coefficients(groups);
        if self.is_corrected() {
            let places = self.places(self.posterior.n_draws());
            for one in &mut coefficients {
                one.values = places.iter().map(|&place| one.values[place]).collect();
            }
        }
        coefficients
    }
}

/// The day in Greenwich, as 2026-11-15 (Howard Hinnant's civil calendar).
pub(crate) fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let days = since.map_or(0, |time| (time.as_secs() / 86_400) as i64) + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}
