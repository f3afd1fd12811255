//! A saved fit: the model, the posterior and the data of a report, without the table.

mod date;
mod group_draws;
mod local;
mod response;
mod summary;

use std::path::Path;

use lehr_density::FlatDraws;
use lehr_file::{FileKind, load_value, save_value};
use lehr_infer::judge::Level;
use lehr_infer::posterior::Posterior;
use lehr_learn::LearnError;
use lehr_model::Program;
use lehr_regression::{Groups, NamedDraws};
use serde::{Deserialize, Serialize};

use crate::data_check::DataCheck;
use crate::error::Error;
use crate::fitted_model::AnyModel;

pub(crate) use date::today;
pub(crate) use summary::{error, plain, weigh};

/// A posterior with its model, so that tables can be predicted. The version is raised whenever the
/// format changes.
const FIT: FileKind = FileKind {
    tag: b"regr-fit",
    words: "a saved fit",
    version: 10,
};

/// The remark on fits that are draws of the prior.
pub const PRIOR_ONLY: &str = "these are draws of the prior: the response was not fitted";

/// The complete result of a fit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedFit {
    /// The version of the program that made it.
    pub version: String,
    /// The day on which it was made.
    pub date: String,
    /// The model without its rows.
    pub subject: AnyModel,
    /// The posterior.
    pub posterior: Posterior,
    /// Seconds of reading.
    pub read_seconds: f64,
    /// Rows left out because a value was missing.
    pub dropped_rows: u64,
    /// The user's data in the file, in words.
    pub contents: String,
    /// The report's summary of the data.
    pub data_check: DataCheck,
    /// The same for each response, if there are several.
    pub response_checks: Vec<DataCheck>,
}

impl SavedFit {
    /// Writes the fit to a file, which appears complete or not at all.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(save_value(path.as_ref(), FIT, self)?)
    }

    /// Loads a fit.
    pub fn load(path: impl AsRef<Path>) -> Result<SavedFit, Error> {
        let path = path.as_ref();
        match load_value(path, FIT) {
            Ok(saved) => Ok(saved),
            // A bare posterior is also accepted; any other file is refused because it is not a
            // saved fit.
            Err(refused) => match Posterior::load(path) {
                Ok(posterior) => SavedFit::of(posterior),
                Err(_) => Err(refused.into()),
            },
        }
    }

    /// The fit of any model, from the description that its posterior stores. It lacks the checks
    /// that need the table.
    pub fn of(posterior: Posterior) -> Result<SavedFit, Error> {
        let model = posterior.origin.model.as_ref().ok_or(Error::NoModel)?;
        let program = Program::from_stored(model)?;
        Ok(SavedFit {
            version: posterior.origin.version.clone(),
            date: String::new(),
            subject: AnyModel::Program(Box::new(program)),
            read_seconds: 0.0,
            dropped_rows: 0,
            contents: posterior.origin.contents.clone(),
            data_check: DataCheck::default(),
            response_checks: Vec::new(),
            posterior,
        })
    }

    /// Notes for the user on the data: classes and their numbers, columns left out, outliers.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.subject.notes();
        notes.extend(self.data_check.remark(&self.subject.response()));
        let names = self.subject.response_names().iter();
        let checks = names.zip(&self.response_checks);
        notes.extend(checks.filter_map(|(name, check)| check.remark(name)));
        notes
    }

    /// Whether no diagnostic warns.
    pub fn is_trusted(&self) -> bool {
        !self.posterior.verdict().warns()
    }

    /// Whether summaries are weighted by importance.
    pub fn is_corrected(&self) -> bool {
        self.posterior.draws_level() == Level::Corrected
    }

    /// θ, flat and unconstrained.
    pub(crate) fn params(&self) -> &[f64] {
        &self.posterior.param_values
    }

    /// Whether the draws come from the prior, without any fitted row.
    pub fn is_prior_only(&self) -> bool {
        self.posterior.is_prior()
    }

    /// Refuses draws of the prior if a fit is needed.
    pub(crate) fn fitted(&self, what: &str) -> Result<(), LearnError> {
        if !self.is_prior_only() {
            return Ok(());
        }
        Err(LearnError::column(
            what,
            "a fit of the response",
            "draws of the prior (--prior-only)",
            "fit it without --prior-only",
        ))
    }

    /// At most `most` draws of z, as they are kept, for computations. If importance weights correct
    /// the fit they are resampled by weight, so that all have equal weight.
    pub(crate) fn draws(&self, most: usize) -> Vec<&[f64]> {
        let size = self.posterior.latents.size().max(1);
        let all: Vec<&[f64]> = self.posterior.draws.chunks_exact(size).collect();
        let places = self.places(most.min(all.len()));
        places.into_iter().map(|place| all[place]).collect()
    }

    /// The numbers of this many equally weighted draws.
    pub(crate) fn places(&self, count: usize) -> Vec<usize> {
        resampled(&used_weights(&self.posterior), count)
    }

    /// The coefficients of every draw, unweighted.
    pub fn raw_draws(&self, groups: Groups) -> Vec<NamedDraws> {
        coefficients(&self.subject, &self.posterior, groups)
    }

    /// The coefficients of equally weighted draws: if importance weights correct the fit they are
    /// resampled by weight.
    pub fn even_draws(&self, groups: Groups) -> Vec<NamedDraws> {
        let mut coefficients = self.raw_draws(groups);
        if self.is_corrected() {
            let places = self.places(self.posterior.n_draws());
            for one in &mut coefficients {
                one.values = places.iter().map(|&place| one.values[place]).collect();
            }
        }
        coefficients
    }
}

/// Systematic resampling: the places at equal steps of the cumulative weight.
fn resampled(weights: &[f64], count: usize) -> Vec<usize> {
    let (mut place, mut reached) = (0, weights.first().copied().unwrap_or(0.0));
    let mut places = Vec::with_capacity(count);
    for step in 0..count {
        let wanted = (step as f64 + 0.5) / count as f64;
        while reached < wanted && place + 1 < weights.len() {
            place += 1;
            reached += weights[place];
        }
        places.push(place);
    }
    places
}

/// The weights for all summaries and exports: importance weights if they correct the draws, else
/// equal ones.
pub(crate) fn used_weights(posterior: &Posterior) -> Vec<f64> {
    let total = posterior.n_draws();
    match posterior.draws_level() {
        Level::Corrected => posterior.weights(),
        _ => vec![1.0 / total.max(1) as f64; total],
    }
}

/// The coefficients of every draw of a posterior, unweighted.
pub(crate) fn coefficients(
    subject: &AnyModel,
    posterior: &Posterior,
    groups: Groups,
) -> Vec<NamedDraws> {
    let draws = FlatDraws {
        latents: &posterior.draws,
        size: posterior.latents.size(),
        params: &posterior.param_values,
    };
    subject.coefficients_of_draws(&posterior.latents, draws, groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_repeated_in_proportion_to_their_weights() {
        let weights = [0.1, 0.0, 0.45, 0.05, 0.4];
        let places = resampled(&weights, 200);
        for (place, weight) in weights.iter().enumerate() {
            let found = places.iter().filter(|other| **other == place).count();
            assert!(
                (found as f64 - 200.0 * weight).abs() <= 1.0,
                "{place}: {found}"
            );
        }
        assert_eq!(resampled(&[0.25; 4], 4), [0, 1, 2, 3]);
    }
}
