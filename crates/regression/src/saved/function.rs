//! The smooth functions of a fit, for its report.

use lehr_density::SiteValue;
use lehr_report::FittedFunction;

use super::SavedFit;
use crate::regression::Regression;
use crate::smooth::FunctionDraws;

/// Draws that a band is made of at the most.
const DRAWS: usize = 400;

impl SavedFit {
    /// The smooth functions as they were fitted, on the scale of the linear predictor.
    pub fn functions(&self) -> Vec<FittedFunction> {
        let Some(regression) = self.subject.regression().filter(|one| one.has_smooths()) else {
            return Vec::new();
        };
        let flat = self.draws(DRAWS).concat();
        regression.functions(&self.posterior.latents.constrain_values(&flat))
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

impl Regression {
    /// Whether the formula has smooth functions.
    pub(crate) fn has_smooths(&self) -> bool {
        !self.smooths.is_empty()
    }

    /// Which rows' inputs of smooth functions are kept, in words.
    pub(crate) fn kept_places(&self) -> Option<String> {
        let most = self
            .smooths
            .iter()
            .map(|smooth| smooth.places[0].len())
            .max()?;
        Some(format!(
            "where up to {most} rows lie on the smooth functions"
        ))
    }

    fn functions(&self, sites: &[SiteValue]) -> Vec<FittedFunction> {
        let blueprint = &self.blueprint;
        let mut found = Vec::new();
        for (place, head) in blueprint.heads.iter().enumerate() {
            let class =
                (blueprint.heads.len() > 1).then(|| self.outcome.classes[place + 1].as_str());
            for (smooth, plan) in self.smooths.iter().zip(&blueprint.smooths) {
                let draws = FunctionDraws::new(smooth, plan, blueprint.unit, sites, head);
                found.extend(draws.functions(class));
            }
        }
        found
    }

    fn stray_lengthscales(&self, sites: &[SiteValue]) -> Vec<String> {
        let mut found = Vec::new();
        for (smooth, plan) in self.smooths.iter().zip(&self.blueprint.smooths) {
            for head in &self.blueprint.heads {
                found.extend(plan.strays(smooth, &plan.lengthscale_draws(sites, head)));
            }
        }
        found
    }
}
