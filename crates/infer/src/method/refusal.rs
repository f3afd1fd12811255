//! The refusals that methods share, in one sentence each.

use lehr_density::Density;

use super::MethodInfo;
use crate::error::{FitError, StartError};

impl MethodInfo {
    /// The error of a model or a setting that does not suit the method.
    pub(crate) fn refuse(&self, problem: impl Into<String>, hint: impl Into<String>) -> FitError {
        FitError::Setting {
            method: self.name,
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    /// The error of a start, as an error of the fit.
    pub(crate) fn start_error(&self, error: StartError) -> FitError {
        match error {
            StartError::Train(error) => error.into(),
            StartError::Refusal { problem, hint } => self.refuse(problem, hint),
        }
    }

    /// Refuses local latents that cannot be integrated out, and models without latents.
    pub(crate) fn check_latents(&self, density: &dyn Density) -> Result<(), FitError> {
        let locals = density.locals();
        if let Some(site) = locals.and_then(|own| own.layout().sites().first()) {
            let name = &site.name;
            let problem = format!("the model gives each row a latent of its own, {name:?}");
            let hint = "up to two latents per row are integrated out for any method; \
                        use semi-dais for up to eight, or write some in closed form";
            return Err(self.refuse(problem, hint));
        }
        if density.latents().size() == 0 {
            let problem = "the model has no latents to infer";
            return Err(self.refuse(problem, "sample at least one site"));
        }
        Ok(())
    }

    /// Refuses too few draws, and settings with a problem.
    pub(crate) fn check_settings(
        &self,
        draws: usize,
        problem: Option<String>,
    ) -> Result<(), FitError> {
        if draws < 25 {
            let problem =
                format!("{draws} draws were asked for, fewer than the 25 a verdict needs");
            return Err(self.refuse(problem, "1000 is usual"));
        }
        let refuse = |problem| Err(self.refuse(problem, "leave it out for the usual value"));
        problem.map_or(Ok(()), refuse)
    }
}
