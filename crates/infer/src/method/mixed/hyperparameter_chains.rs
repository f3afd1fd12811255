//! Markov chains over the hyperparameters, for densities that axes do not represent.

use lehr_mixed::{Accuracy, MixedSearch, MixedWorkspace};
use rayon::prelude::*;

use super::NAME;
use crate::chains::{
    ChainError, ChainStage, Chains, Evaluator, LogDensityFn, Metric, NutsSampler, Sample,
    ValueError, bridged,
};
use crate::error::FitError;
use crate::estimate::Estimate;
use crate::run::Run;

/// Draws of the hyperparameters.
pub(super) struct HyperparameterDraws {
    /// θ after θ, some of every chain.
    pub(super) thetas: Vec<f64>,
    pub(super) chains: Chains,
    /// The log of the integral of the marginal density.
    pub(super) evidence: Option<Estimate>,
}

/// Chains over the marginal density along the axes through its mode.
pub(super) struct HyperparameterChains<'a> {
    pub(super) search: &'a MixedSearch<'a>,
}

impl HyperparameterChains<'_> {
    /// Runs chains and keeps `draws` of their draws.
    pub(super) fn walk(
        &self,
        draws: usize,
        run: &mut Run<'_>,
    ) -> Result<HyperparameterDraws, FitError> {
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
        let mode = &self.search.mode;
        let value = [mode.value];
        let mut stage = ChainStage::new(run, mode.theta.iter().chain(&value))?;
        let trace = nuts.run(self, seed, &mut stage);
        let trace = trace.map_err(|error| refused(&error))?;
        stage.finish()?;
        let sample = Sample {
            draws: &trace.draws,
            chains: trace.chains,
            weights: None,
        };
        let size = self.search.marginal.size();
        let values = |points: &[f64]| Ok::<_, FitError>((self.values(points), 0.0));
        Ok(HyperparameterDraws {
            evidence: bridged(&sample, (size, seed), values)?,
            chains: Chains::of(&trace),
            thetas: trace.thinned(draws).draws,
        })
    }

    /// The marginal log density at one θ after another.
    fn values(&self, thetas: &[f64]) -> Vec<f64> {
        let (marginal, near) = (self.search.marginal, &self.search.mode.warm_start);
        let value = |workspace: &mut MixedWorkspace, theta: &[f64]| {
            let at = marginal.evaluate(theta, near, Accuracy::Slope, workspace);
            at.map_or(f64::NEG_INFINITY, |at| at.value)
        };
        thetas
            .par_chunks_exact(marginal.size())
            .map_init(|| marginal.workspace(), value)
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

impl LogDensityFn for HyperparameterChains<'_> {
    fn size(&self) -> usize {
        self.search.marginal.size()
    }

    fn origin(&self) -> Vec<f64> {
        vec![0.0; self.size()]
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(MarginalEvaluator {
            search: self.search,
            workspace: self.search.marginal.workspace(),
        })
    }

    fn kept(&self, x: &[f64]) -> Vec<f64> {
        self.search.axes.theta(x)
    }
}

/// One chain's memory for evaluations.
struct MarginalEvaluator<'a> {
    search: &'a MixedSearch<'a>,
    workspace: MixedWorkspace,
}

impl Evaluator for MarginalEvaluator<'_> {
    fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<f64, ValueError> {
        let (axes, near) = (&self.search.axes, &self.search.mode.warm_start);
        let theta = axes.theta(x);
        let found = (self.search.marginal).gradient(&theta, near, &mut self.workspace);
        let (value, own) = found.ok_or(ValueError::NotFinite)?;
        slope.copy_from_slice(&axes.pull_back(&own));
        let is_finite = value.is_finite() && slope.iter().all(|entry| entry.is_finite());
        is_finite.then_some(value).ok_or(ValueError::NotFinite)
    }
}
