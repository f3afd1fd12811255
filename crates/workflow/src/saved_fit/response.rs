//! One response of a fit of several, as a separate fit.

use lehr_infer::posterior::Posterior;
use lehr_learn::LearnError;

use super::SavedFit;
use crate::error::Error;
use crate::fitted_model::AnyModel;

impl SavedFit {
    /// The fit of one response, by its name. Its draws are those of the whole fit, and it supports
    /// everything that a fit of one response does: predictions, effects, scores, a report.
    ///
    /// # Errors
    /// If there is no such response.
    pub fn response(&self, name: &str) -> Result<SavedFit, Error> {
        match &self.subject {
            AnyModel::Several(several) => self.response_at(several.place(name)?),
            other if other.response() == name => Ok(self.clone()),
            other => Err(LearnError::column(
                "--response",
                format!("the response {}", other.response()),
                format!("{name:?}"),
                "leave it out: the fit has one response",
            )
            .into()),
        }
    }

    /// The fit of each response if there are several, in their order; else the fit itself.
    ///
    /// # Errors
    /// If a model cannot be restored.
    pub fn responses(&self) -> Result<Vec<SavedFit>, Error> {
        match &self.subject {
            AnyModel::Several(several) => {
                let places = 0..several.names().len();
                places.map(|place| self.response_at(place)).collect()
            }
            _ => Ok(vec![self.clone()]),
        }
    }

    pub(crate) fn response_at(&self, place: usize) -> Result<SavedFit, Error> {
        let several = self.subject.multivariate();
        let several = several.expect("a fit of several responses");
        let whole = (&self.posterior.latents, &self.posterior.draws[..]);
        let (latents, draws) = several.draws_of(place, whole)?;
        Ok(SavedFit {
            version: self.version.clone(),
            date: self.date.clone(),
            subject: AnyModel::Regression(Box::new(several.responses()[place].clone())),
            posterior: Posterior {
                draws,
                latents,
                ..self.posterior.clone()
            },
            read_seconds: self.read_seconds,
            dropped_rows: self.dropped_rows,
            contents: self.contents.clone(),
            data_check: self.response_checks.get(place).cloned().unwrap_or_default(),
            response_checks: Vec::new(),
        })
    }
}
