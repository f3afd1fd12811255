//! The smooth functions of a fit, for its report.

use lehr_report::FittedFunction;

use crate::saved_fit::SavedFit;

/// Draws that a band is made of at the most.
const DRAWS: usize = 400;

impl SavedFit {
    /// The smooth functions as they were fitted, on the scale of the linear predictor.
    pub fn functions(&self) -> Vec<FittedFunction> {
        let Some(regression) = self.subject.regression().filter(|one| one.has_functions()) else {
            return Vec::new();
        };
        let posterior = &self.posterior;
        let flat = self.draws(DRAWS).concat();
        let draws = posterior.latents.constrain_values(&flat);
        let learned = posterior.params.constrain_values(&posterior.param_values);
        regression.functions(&draws, &learned)
    }

    /// What to tell of lengthscales for which a basis was not made.
    pub(crate) fn stray_lengthscales(&self) -> Vec<String> {
        let Some(regression) = self.subject.regression().filter(|one| one.has_smooths()) else {
            return Vec::new();
        };
        let flat = self.draws(self.posterior.n_draws()).concat();
        regression.stray_lengthscales(&self.posterior.latents.constrain_values(&flat))
    }
}
