//! The log evidence from both sides, by bidirectional Monte Carlo: the bound of a guide from below,
//! and from above the mean of its log weights at draws of the posterior itself (Grosse, Ghahramani
//! and Adams 2015).
//!
//! Forwards, E log w = log p(D) − KL(q ‖ p) for paths that the guide draws. Backwards, for paths
//! that end at a draw of the posterior and whose beginning is drawn from there, E log w = log p(D)
//! + KL(p ‖ q). U − L is the sum of both divergences.

use lehr_density::Density;
use lehr_numeric::summary::{mean, mean_error};

use crate::condensed::ReducedDensity;
use crate::error::FitError;
use crate::estimate::Estimate;
use crate::posterior::{Moments, Posterior};

/// L ≤ log p(D) ≤ U, up to the errors of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sandwich {
    /// L
    pub lower: Estimate,
    /// U
    pub upper: Estimate,
    /// Whether U comes from weighted draws, which makes it an estimate of the bound.
    pub is_corrected: bool,
}

impl Sandwich {
    /// U − L: the sum of the divergences between the guide's paths and the posterior's.
    pub fn width(&self) -> Estimate {
        self.upper.less(self.lower)
    }
}

impl Posterior {
    /// The log evidence from both sides, given draws of the same posterior by Markov chains on all
    /// rows or by importance weights on them; `None` if this is not the fit of a guide, or if the
    /// guide cannot be run backwards.
    ///
    /// # Errors
    /// If the fit cannot be read, or the density belongs to another model.
    pub fn sandwich(
        &self,
        density: &dyn Density,
        exact: &Posterior,
        seed: u64,
    ) -> Result<Option<Sandwich>, FitError> {
        let Some(lower) = self.bound() else {
            return Ok(None);
        };
        let sampler = self.sampler()?;
        let marginal = self.marginal(density);
        let density = marginal.density();
        let condensed = ReducedDensity::of(density)?.filter(|_| self.origin.condensed);
        let weights = match &condensed {
            Some(condensed) => sampler.reverse_log_weights(condensed, &exact.draws, seed)?,
            None => sampler.reverse_log_weights(density, &exact.draws, seed)?,
        };
        Ok(weights.map(|weights| Sandwich {
            lower,
            upper: upper(&weights, exact),
            is_corrected: exact.log_weights().is_some(),
        }))
    }
}

/// The mean of a guide's log weights at draws of the posterior.
fn upper(values: &[f64], exact: &Posterior) -> Estimate {
    if exact.log_weights().is_some() {
        let found = Moments::weighted(values, &exact.weights());
        return Estimate {
            mean: found.mean,
            error: found.mean_error,
        };
    }
    let length = values.len() / exact.n_chains().unwrap_or(1);
    let chains: Vec<&[f64]> = values.chunks(length.max(1)).collect();
    Estimate {
        mean: mean(values),
        error: mean_error(&chains),
    }
}
