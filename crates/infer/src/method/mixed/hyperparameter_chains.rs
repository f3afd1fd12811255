//! Markov chains over the hyperparameters, for densities that axes do not represent.

use rayon::prelude::*;

use crate::chains::{
    ChainError, ChainStage, Chains, Evaluator, Metric, NotFinite, NutsSampler, Sample, Surface,
    bridged,
};
use crate::collapse::{Axes, Bench, Care, Collapsed, Mode, NAME, Near};
use crate::error::FitError;
use crate::estimate::Estimate;
use crate::run::Run;

/// Draws of the hyperparameters.
pub(super) struct Walked {
    /// θ after θ, some of every chain.
    pub(super) thetas: Vec<f64>,
    pub(super) chains: Chains,
    /// The log of the integral of the collapsed density.
    pub(super) evidence: Option<Estimate>,
}

/// The collapsed density along the axes of its mode.
pub(super) struct Hyper<'a> {
    pub(super) collapsed: &'a Collapsed<'a>,
    pub(super) axes: &'a Axes,
    pub(super) mode: &'a Mode,
}

impl Hyper<'_> {
    /// Runs chains and keeps `draws` of their draws.
    pub(super) fn walk(&self, draws: usize, run: &mut Run<'_>) -> Result<Walked, FitError> {
        const CHAINS: usize = 4;
        // The least number of draws for R̂.
        const LEAST_DRAWS: usize = 1000;
        let nuts = NutsSampler {
            chains: CHAINS,
            draws: draws.div_ceil(CHAINS).max(LEAST_DRAWS),
            warm_up: 300,
            // A standard deviation near 0 is a narrow region.
            target_acceptance: 0.95,
            max_depth: 8,
            walnuts: false,
            metric: Metric::Diagonal,
        };
        let seed = run.seed;
        let value = [self.mode.value];
        let mut stage = ChainStage::new(run, self.mode.theta.iter().chain(&value))?;
        let trace = nuts.run_on(self, seed, &mut stage);
        let trace = trace.map_err(|error| refused(&error))?;
        stage.finish()?;
        let sample = Sample {
            draws: &trace.draws,
            chains: trace.chains,
            weights: None,
        };
        let size = self.collapsed.size();
        let values = |points: &[f64]| Ok::<_, FitError>((self.values(points), 0.0));
        Ok(Walked {
            evidence: bridged(&sample, (size, seed), values)?,
            chains: Chains::of(&trace),
            thetas: trace.thinned(draws).draws,
        })
    }

    /// The collapsed log density at one θ after another.
    fn values(&self, thetas: &[f64]) -> Vec<f64> {
        let value = |bench: &mut Bench, theta: &[f64]| {
            let at = self
                .collapsed
                .at(theta, &self.mode.near, Care::Slope, bench);
            at.map_or(f64::NEG_INFINITY, |at| at.value)
        };
        thetas
            .par_chunks_exact(self.collapsed.size())
            .map_init(|| self.collapsed.bench(), value)
            .collect()
    }
}

fn refused(error: &ChainError) -> FitError {
    FitError::Setting {
        method: NAME,
        problem: error.to_string(),
        hint: "use another method, such as nuts".into(),
    }
}

impl Surface for Hyper<'_> {
    fn size(&self) -> usize {
        self.collapsed.size()
    }

    fn origin(&self) -> Vec<f64> {
        vec![0.0; self.collapsed.size()]
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(HyperBench {
            hyper: self,
            bench: self.collapsed.bench(),
            near: &self.mode.near,
        })
    }

    fn kept(&self, x: &[f64]) -> Vec<f64> {
        self.axes.theta(x)
    }
}

/// One chain's memory for evaluations.
struct HyperBench<'a> {
    hyper: &'a Hyper<'a>,
    bench: Bench,
    near: &'a Near,
}

impl Evaluator for HyperBench<'_> {
    fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<f64, NotFinite> {
        let Hyper {
            collapsed, axes, ..
        } = self.hyper;
        let found = collapsed.slope(&axes.theta(x), self.near, &mut self.bench);
        let (value, own) = found.ok_or(NotFinite)?;
        slope.copy_from_slice(&axes.pulled(&own));
        let is_finite = value.is_finite() && slope.iter().all(|entry| entry.is_finite());
        is_finite.then_some(value).ok_or(NotFinite)
    }
}
