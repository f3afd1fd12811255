//! Chains on a surrogate of the log likelihood, and then one pass over all rows that weighs their
//! draws.

use std::time::Instant;

use lehr_density::Density;
use lehr_numeric::pareto::{Pareto, TailShape};

use super::fit::{ChainMethod, Target, refusal};
use crate::chains::{
    ChainError, ChainProgress, Chains, LogDensity, Sample, Trace, log_evidence, seen,
};
use crate::difference_estimator::DifferenceEstimate;
use crate::draw::sparing;
use crate::error::{FitError, TrainError};
use crate::estimate::Evidence;
use crate::expansion::LogPrior;
use crate::guide::WhitenedDensity;
use crate::judge::{KeptDraws, Subject};
use crate::posterior::{Examination, FitRecord, Posterior, Proposal};
use crate::run::Run;
use crate::surrogate::Surrogate;
use lehr_rows::watch::Phase;

/// The least effective share of thinned draws.
const INDEPENDENT: f64 = 0.9;
/// The largest thinning factor.
const MOST_THINNING: usize = 16;
/// The draws that R̂ needs: with fewer it is too large even for independent chains.
const LEAST: usize = 4000;

/// log p(z) + Ψ̂(z) in whitened coordinates, where Ψ̂ is a surrogate without learned quantities: the
/// target of this many draws with this seed.
pub(crate) fn surrogate_target<'d>(
    method: &dyn ChainMethod,
    place: WhitenedDensity<'d>,
    surrogate: &dyn Surrogate,
    asked: (usize, u64),
) -> Target<'d> {
    let log_density = LogDensity::of(place, method.lanes(), |context, x| {
        let at = context.at(x);
        context.density().log_prior(&at) + surrogate.log_likelihood(context, &at)
    });
    Target::on(log_density, place, asked)
}

/// Draws of chains on a surrogate, weighed on all rows.
pub(crate) struct WeightedChains {
    chains: Chains,
    draws: Vec<f64>,
    pareto: Pareto,
    /// The accuracy of the weights, if they come from a sample of the rows.
    sampling: Option<DifferenceEstimate>,
    /// Seconds of the chains, and of the pass.
    seconds: [f64; 2],
}

impl WeightedChains {
    /// Runs chains on the target's log density, thins their draws until they are nearly
    /// independent, and weighs each by all rows relative to the surrogate.
    pub(crate) fn new(
        method: &dyn ChainMethod,
        density: &dyn Density,
        target: &mut Target<'_>,
        run: &mut Run<'_>,
    ) -> Result<WeightedChains, FitError> {
        run.begin(Phase::CHAINS);
        let clock = Instant::now();
        let wanted = target.draws;
        let (trace, chains) = long_enough(method, target, run)?;
        let draws = thinned(&trace, wanted);
        let chain_seconds = clock.elapsed().as_secs_f64();
        run.begin(Phase::EVALUATE);
        let clock = Instant::now();
        let (values, sampling) = sparing(density, &draws, run)?;
        let log_weights = log_weights(density, &target.log_density, &draws, &values);
        Ok(WeightedChains {
            chains,
            pareto: Pareto::new(&log_weights)?,
            draws,
            sampling,
            seconds: [chain_seconds, clock.elapsed().as_secs_f64()],
        })
    }

    /// Whether the weights correct the draws, or are nearly equal.
    pub(crate) fn fits(&self) -> bool {
        TailShape::of(&self.pareto).serves()
    }

    /// k̂ of the weights.
    pub(crate) fn shape(&self) -> f64 {
        self.pareto.shape
    }

    /// Examines the draws, and estimates the evidence if weights correct them.
    pub(crate) fn conclude(
        self,
        mut record: FitRecord,
        density: &dyn Density,
        run: &mut Run<'_>,
    ) -> Result<Posterior, FitError> {
        let clock = Instant::now();
        let evidence = self.evidence(density, run)?;
        run.begin(Phase::EXAMINE);
        let subject = Subject {
            // The weights give the evidence relative to the surrogate's only.
            log_evidence: (evidence.as_ref()).map_or(f64::NEG_INFINITY, |one| one.estimate.mean),
            sampling: self.sampling.as_ref(),
            ..Subject::new(density, &[], &self.draws, &self.pareto, run.seed)
        };
        let (examination, better) = Examination::of(&subject, run)?;
        let mut kept = KeptDraws::new(better, self.draws, self.pareto);
        let choices = &mut record.choices;
        if let Some(DifferenceEstimate { rows, error, .. }) = &self.sampling {
            let words = format!("{rows} of {} rows, ± {error:.4} nats", density.total_rows());
            choices.push(("weights".into(), words));
        }
        choices.extend(kept.words.take().map(|words| ("draws".to_owned(), words)));
        let [train, weighing] = self.seconds;
        record.seconds.train = train;
        record.seconds.evaluate = weighing + clock.elapsed().as_secs_f64();
        let proposal = Proposal::Chains(Box::new(self.chains));
        let (draws, diagnostics) = kept.into_importance(proposal, examination);
        Ok(Posterior {
            evidence,
            ..Posterior::new(density, draws, diagnostics, record, run.seed)
        })
    }

    fn evidence(
        &self,
        density: &dyn Density,
        run: &mut Run<'_>,
    ) -> Result<Option<Evidence>, TrainError> {
        if !self.fits() {
            return Ok(None);
        }
        run.begin(Phase::EVIDENCE);
        let sample = Sample {
            draws: &self.draws,
            chains: self.chains.count,
            weights: Some(&self.pareto.weights()),
        };
        Ok(log_evidence(density, &sample, run)?.map(Evidence::estimated))
    }
}

/// Chains long enough that the wanted number of nearly independent draws can be taken from them.
fn long_enough(
    method: &dyn ChainMethod,
    target: &mut Target<'_>,
    run: &mut Run<'_>,
) -> Result<(Trace, Chains), FitError> {
    let wanted = target.draws;
    let mut times = LEAST.div_ceil(wanted).min(MOST_THINNING);
    loop {
        target.draws = wanted * times;
        let watch = &mut |progress: &ChainProgress| run.progress(&seen(progress));
        let trace = method.sample(target, watch);
        let trace = trace.map_err(|error| refusal(method.info(), error))?;
        if !trace.is_complete() {
            let done = trace.len() as u64;
            return Err(refusal(method.info(), ChainError::Stopped { done }));
        }
        let chains = Chains::of(&trace);
        let worth = chains.bulk.iter().copied().fold(f64::INFINITY, f64::min);
        if worth >= INDEPENDENT * wanted as f64 || times == MOST_THINNING {
            return Ok((trace, chains));
        }
        // NaN counts as zero effective draws.
        let more = (times * wanted) as f64 / worth.max(1.0);
        times = (more.ceil() as usize).clamp(times + 1, MOST_THINNING);
    }
}

/// The wanted number of draws or a few more, evenly from every chain, the last ones included.
fn thinned(trace: &Trace, wanted: usize) -> Vec<f64> {
    let (length, size) = (trace.length(), trace.draws.len() / trace.len());
    let each = wanted.div_ceil(trace.chains).min(length);
    let every = length / each;
    let of_chain = |chain: usize| {
        let last = (chain + 1) * length;
        (0..each).rev().map(move |k| last - 1 - k * every)
    };
    let places = (0..trace.chains).flat_map(of_chain);
    places
        .flat_map(|at| &trace.draws[at * size..][..size])
        .copied()
        .collect()
}

/// r = log p(D, z) less the log density of the draws.
fn log_weights(
    density: &dyn Density,
    moved_on: &LogDensity<'_>,
    draws: &[f64],
    values: &[f64],
) -> Vec<f64> {
    let size = density.latents().size();
    let mut prior = LogPrior::new(density);
    let own = moved_on.values(draws);
    let each = draws.chunks_exact(size).zip(values).zip(own);
    each.map(|((z, value), own)| value + prior.at(z, &[]).0 - own)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_thinned_within_every_chain() {
        let trace = Trace {
            chains: 2,
            draws: (0..12).map(f64::from).collect(),
            energies: vec![0.0; 12],
            ..Trace::default()
        };
        assert_eq!(thinned(&trace, 4), [2.0, 5.0, 8.0, 11.0]);
        assert_eq!(thinned(&trace, 12).len(), 12);
    }
}
