//! What a model names besides its sites, with the draws of a posterior.

use lehr_density::{Density, FlatDraws, SiteValue, quantities};

use crate::posterior::Posterior;

impl Posterior {
    /// The quantities that the fitted model names besides its sites, under each draw. The
    /// density may be bound to any rows of the same columns.
    pub fn deterministics(&self, density: &dyn Density) -> Vec<SiteValue> {
        let Some(predictive) = density.predictive() else {
            return Vec::new();
        };
        let draws = FlatDraws {
            latents: &self.draws,
            size: self.latents.size(),
            params: &self.param_values,
        };
        quantities(draws, |at| predictive.deterministics(at))
    }
}
