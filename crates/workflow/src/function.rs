//! The fitted functions of a fit, for its report.

use lehr_report::FittedFunction;

use crate::saved_fit::SavedFit;

/// The most draws behind a band.
const DRAWS: usize = 400;

impl SavedFit {
    /// The fitted functions, on the scale of the linear predictor.
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

    /// Notes on lengthscales outside the range of a basis.
    pub(crate) fn stray_lengthscales(&self) -> Vec<String> {
        let Some(regression) = self.subject.regression().filter(|one| one.has_smooths()) else {
            return Vec::new();
        };
        let flat = self.draws(self.posterior.n_draws()).concat();
        regression.stray_lengthscales(&self.posterior.latents.constrain_values(&flat))
    }
}
