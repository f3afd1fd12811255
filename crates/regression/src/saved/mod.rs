//! A saved fit: the model, the posterior and what a report needs, without the table.

mod against;
mod arviz;
mod best;
mod calibration;
mod data_check;
mod date;
mod effects;
mod evaluator;
mod explained;
mod forecaster;
mod function;
mod local;
mod loo;
mod outlier;
mod pointwise;
mod prior_check;
mod prior_only;
mod replication;
mod report;
mod response;
mod sensitivity;
mod simulation;
mod spared;
mod subject;
mod summary;
mod testimony;
mod weighting;

use std::path::Path;

use lehr_density::FlatDraws;
use lehr_file::{Kind, load, save};
use lehr_infer::judge::Level;
use lehr_infer::posterior::Posterior;
use lehr_model::Program;
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::learn::option::NewLevels;
use crate::named_draws::NamedDraws;
use crate::option::{Groups, PredictionLevel};
use crate::workflow::error::Error;

pub use against::{Against, Difference};
pub use arviz::{ArvizExport, DrawForm, PosteriorReport, RowGroup};
pub use best::best_of;
pub use calibration::Calibration;
pub use data_check::DataCheck;
pub(crate) use date::today;
pub use effects::{Effect, EffectAverager, EffectKind, EffectQuestion, EffectScale, Effects};
pub use evaluator::{Evaluation, Evaluator, Scores};
pub use forecaster::{Forecaster, PredictionDetails, Predictions};
pub use loo::{
    ComparedModel, Folds, Loo, LooError, LooMeasure, LooRow, LooSummary, ModelComparison,
    columns_of, compare_models, optional_columns_of,
};
pub use prior_check::{PriorPredictive, PriorStatistic};
pub use prior_only::PRIOR_ONLY;
pub use sensitivity::PriorSensitivity;
pub use simulation::{Ranks, Simulation};
pub use subject::Subject;
pub use testimony::Testimony;
pub use weighting::Shift;

/// A posterior with the model it is of, so that tables can be predicted. The version is raised
/// whenever its content changes its form.
const FIT: Kind = Kind {
    tag: b"regr-fit",
    words: "a saved fit",
    version: 10,
};

/// Draws that [`SavedFit::predict`] uses.
const PREDICTION_DRAWS: usize = 200;
/// Draws that [`SavedFit::evaluate`] uses.
const EVALUATION_DRAWS: usize = 256;

/// Everything a fit leaves behind.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedFit {
    /// The version of the program that made it.
    pub version: String,
    /// The day on which it was made.
    pub date: String,
    /// The model without its rows.
    pub subject: Subject,
    /// The posterior.
    pub posterior: Posterior,
    /// Seconds of reading.
    pub read_seconds: f64,
    /// Rows left out because a value was missing.
    pub dropped_rows: u64,
    /// What of the user's data is in the file, in words.
    pub contents: String,
    /// What a report shows of the data.
    pub data_check: DataCheck,
    /// The same for each response, where there are several.
    pub response_checks: Vec<DataCheck>,
}

impl SavedFit {
    /// Writes the fit, all or nothing.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        Ok(save(path.as_ref(), FIT, self)?)
    }

    /// Reads a fit.
    pub fn load(path: impl AsRef<Path>) -> Result<SavedFit, Error> {
        let path = path.as_ref();
        match load(path, FIT) {
            Ok(saved) => Ok(saved),
            // A bare posterior is a fit too; any other file is refused as no saved fit.
            Err(refused) => match Posterior::load(path) {
                Ok(posterior) => SavedFit::of(posterior),
                Err(_) => Err(refused.into()),
            },
        }
    }

    /// The fit of a model that need not be a regression, by what its posterior stored of it.
    /// It lacks what only the table could tell: how well the model describes it.
    pub fn of(posterior: Posterior) -> Result<SavedFit, Error> {
        let model = posterior.origin.model.as_ref().ok_or(Error::NoModel)?;
        let program = Program::from_stored(model)?;
        Ok(SavedFit {
            version: posterior.origin.version.clone(),
            date: String::new(),
            subject: Subject::Program(Box::new(program)),
            read_seconds: 0.0,
            dropped_rows: 0,
            contents: posterior.origin.contents.clone(),
            data_check: DataCheck::default(),
            response_checks: Vec::new(),
            posterior,
        })
    }

    /// What the user should know of the data: classes and their numbers, columns left out,
    /// outliers.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.subject.notes();
        notes.extend(self.data_check.remark(&self.subject.response()));
        let names = self.subject.several().map(crate::Several::names);
        let checks = names.into_iter().flatten().zip(&self.response_checks);
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

    /// How rows are predicted by at most so many draws.
    pub fn forecaster(&self, draws: usize) -> Forecaster<'_> {
        Forecaster {
            draws: self.places(draws.min(self.posterior.n_draws())),
            saved: self,
            new_levels: NewLevels::Sample,
            level: PredictionLevel::Groups,
            seed: 0,
            details: PredictionDetails::default(),
        }
    }

    /// Predicts the rows of a table, which may lack the response. The effects of groups that
    /// were not fitted are drawn from those of all groups.
    pub fn predict(&self, table: &Table) -> Result<Predictions, Error> {
        self.forecaster(PREDICTION_DRAWS).predict(table, 0)
    }

    /// Scores the fit on the rows of a table that has the response.
    pub fn evaluate(&self, table: &Table) -> Result<Evaluation, Error> {
        let forecaster = self.forecaster(EVALUATION_DRAWS);
        let mut evaluator = Evaluator::new(&forecaster);
        evaluator.push(table, 0)?;
        evaluator.finish(table.dropped_rows())
    }

    /// At most so many draws of z, as they are kept, to compute with. Where importance weights correct the fit
    /// they are drawn by weight, so that all count the same afterwards.
    pub(crate) fn draws(&self, most: usize) -> Vec<&[f64]> {
        let size = self.posterior.latents.size().max(1);
        let all: Vec<&[f64]> = self.posterior.draws.chunks_exact(size).collect();
        let places = self.places(most.min(all.len()));
        places.into_iter().map(|place| all[place]).collect()
    }

    /// The numbers of so many draws that all count the same.
    fn places(&self, count: usize) -> Vec<usize> {
        resampled(&used_weights(&self.posterior), count)
    }

    /// The coefficients of every draw, unweighted.
    pub fn raw_draws(&self, groups: Groups) -> Vec<NamedDraws> {
        coefficients(&self.subject, &self.posterior, groups)
    }

    /// The coefficients of draws that all count the same: where importance weights correct the
    /// fit they are drawn again by weight.
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

/// Systematic resampling: the places at equal steps of the cumulated weight.
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

/// The weights that all summaries and exports use: of importance where they correct the draws,
/// else all the same.
fn used_weights(posterior: &Posterior) -> Vec<f64> {
    let total = posterior.n_draws();
    match posterior.draws_level() {
        Level::Corrected => posterior.weights(),
        _ => vec![1.0 / total.max(1) as f64; total],
    }
}

/// The coefficients of every draw of a posterior, unweighted.
fn coefficients(subject: &Subject, posterior: &Posterior, groups: Groups) -> Vec<NamedDraws> {
    let draws = FlatDraws {
        latents: &posterior.draws,
        size: posterior.latents.size(),
        params: &posterior.param_values,
    };
    subject.coefficients(&posterior.latents, draws, groups)
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
