//! Diagnostics of chains: convergence, effective sizes, divergences, energies.

use lehr_numeric::summary::{
    effective_size_bulk, effective_size_tail, mean, mean_error, split_rank_rhat,
};
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::trace::Trace;
use crate::estimate::Level;

/// R̂ below the first is good (Vehtari et al. 2021); above the second the chains disagree.
const GOOD_R_HAT: f64 = 1.01;
const BAD_R_HAT: f64 = 1.05;
/// Effective draws that quantiles and means need.
const ENOUGH: f64 = 400.0;
/// Below this the energies are explored too slowly (Betancourt 2016).
const LEAST_INFORMATION: f64 = 0.3;
/// With a larger share of divergences the draws are not trusted.
const MOST_DIVERGENT: f64 = 0.01;
/// A larger share of truncated trajectories is reported.
const MOST_SATURATED: f64 = 0.05;
/// Chains in lockstep whose acceptances differ by more than this should not share a step size.
const MOST_APART: f64 = 0.3;

/// Diagnostics of the draws of Markov chains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chains {
    /// The number of chains. They have equally many draws, one chain after another.
    pub count: usize,
    /// Draws of each chain.
    pub length: usize,
    /// The number of draws planned for all chains; there are fewer if they were stopped.
    pub planned: usize,
    /// Iterations before the first draw that is kept.
    pub warm_up: usize,
    /// Draws, by number, whose trajectory diverged.
    pub divergences: Vec<usize>,
    /// Trajectories that were cut at the maximal depth.
    pub saturated: usize,
    /// Rank-normalised split R̂ of every unconstrained latent.
    pub r_hat: Vec<f64>,
    /// Effective draws for the centre of every unconstrained latent.
    pub bulk: Vec<f64>,
    /// Effective draws for the 5 % and 95 % quantiles of every unconstrained latent.
    pub tail: Vec<f64>,
    /// Monte Carlo standard error of the mean of every unconstrained latent.
    pub error: Vec<f64>,
    /// E-BFMI of each chain, 1 on a Gaussian.
    pub energy_information: Vec<f64>,
    /// The mean acceptance of each chain.
    pub acceptances: Vec<f64>,
    /// The energy of every draw.
    pub energies: Vec<f64>,
    /// Gradients computed, the warm-up included.
    pub gradients: u64,
    /// Doubts of the method itself about the draws, which no diagnostic would show.
    pub doubts: Vec<Failure>,
}

impl Chains {
    /// The diagnostics of a run.
    pub fn of(trace: &Trace) -> Chains {
        let size = trace.draws.len() / trace.len().max(1);
        let length = trace.length();
        let columns: Vec<Vec<f64>> = (0..size).map(|place| trace.coordinate(place)).collect();
        let each = |judge: fn(&[&[f64]]) -> f64| {
            let judged = columns.iter().map(|column| {
                let chains: Vec<&[f64]> = column.chunks(length.max(1)).collect();
                judge(&chains)
            });
            judged.collect()
        };
        let energies = trace.energies.chunks(length.max(1));
        Chains {
            count: trace.chains,
            length,
            planned: trace.planned,
            warm_up: trace.warm_up,
            divergences: trace.divergences.clone(),
            saturated: trace.saturated,
            r_hat: each(split_rank_rhat),
            bulk: each(effective_size_bulk),
            tail: each(effective_size_tail),
            error: each(mean_error),
            energy_information: energies.map(energy_information).collect(),
            acceptances: trace.acceptances.clone(),
            energies: trace.energies.clone(),
            gradients: trace.gradients,
            doubts: trace.doubts.clone(),
        }
    }

    /// Whether the chains ran to their end.
    pub fn is_complete(&self) -> bool {
        self.count * self.length >= self.planned
    }

    /// The largest R̂; NaN if any is.
    pub fn largest_r_hat(&self) -> f64 {
        self.r_hat.iter().copied().fold(1.0, worse(f64::max))
    }

    /// The smallest number of effective draws, for the centre or the tails; NaN if any is.
    pub fn fewest_effective(&self) -> f64 {
        let sizes = self.bulk.iter().chain(&self.tail).copied();
        sizes.fold(f64::INFINITY, worse(f64::min))
    }

    /// The smallest E-BFMI of the chains; NaN if any is.
    pub fn least_information(&self) -> f64 {
        let all = self.energy_information.iter().copied();
        all.fold(f64::INFINITY, worse(f64::min))
    }

    fn share(&self, count: usize) -> f64 {
        count as f64 / (self.count * self.length).max(1) as f64
    }

    /// How reliable the draws are.
    pub fn level(&self) -> Level {
        // NaN fails every comparison.
        let agree = self.largest_r_hat() <= BAD_R_HAT;
        if !agree || self.share(self.divergences.len()) > MOST_DIVERGENT {
            return Level::Untrusted;
        }
        let failures = self.failures().into_iter().map(|one| one.level);
        failures.max().unwrap_or(Level::Reliable)
    }

    /// Each diagnostic that fails, with advice.
    pub fn failures(&self) -> Vec<Failure> {
        let (r_hat, effective) = (self.largest_r_hat(), self.fewest_effective());
        let (divergences, information) = (self.divergences.len(), self.least_information());
        let failure =
            |good: bool, found: String, advice| (!good).then(|| Failure::new(found, advice));
        let mut failures: Vec<Failure> = [
            failure(
                r_hat < GOOD_R_HAT,
                format!("R̂ up to {r_hat:.3}"),
                "run the chains longer, or use nuts",
            ),
            failure(
                effective > ENOUGH,
                format!("{effective:.0} effective draws"),
                "draw more",
            ),
            failure(
                divergences == 0,
                format!("{divergences} divergences"),
                "write spreads non-centred, or raise target-accept to 0.95, or try walnuts",
            ),
            failure(
                information > LEAST_INFORMATION,
                format!("E-BFMI {information:.2}"),
                "write spreads non-centred",
            ),
        ]
        .into_iter()
        .flatten()
        .collect();
        failures.extend(self.of_settings());
        failures.extend(self.doubts.iter().cloned());
        failures
    }

    /// Failures of the settings rather than of the draws.
    fn of_settings(&self) -> impl Iterator<Item = Failure> {
        let share = self.share(self.saturated);
        let cut = (share > MOST_SATURATED).then(|| {
            let share = 100.0 * share;
            let found = format!("{share:.0} % of trajectories at the maximal depth");
            Failure::new(found, "raise max-depth")
        });
        let low = self.acceptances.iter().copied().fold(1.0, f64::min);
        let high = self.acceptances.iter().copied().fold(0.0, f64::max);
        let apart = (high - low > MOST_APART).then(|| {
            Failure::new(
                format!("acceptances from {low:.2} to {high:.2}"),
                "use nuts",
            )
        });
        cut.into_iter().chain(apart)
    }
}

/// The worse of two numbers; NaN is worse than any.
fn worse(of: fn(f64, f64) -> f64) -> impl Fn(f64, f64) -> f64 {
    move |a, b| {
        if a.is_nan() || b.is_nan() {
            f64::NAN
        } else {
            of(a, b)
        }
    }
}

/// E-BFMI = Σ(Eₜ − Eₜ₋₁)²/Σ(Eₜ − Ē)² (Betancourt 2016).
fn energy_information(energies: &[f64]) -> f64 {
    let centre = mean(energies);
    let steps = energies.windows(2).map(|pair| (pair[1] - pair[0]).powi(2));
    steps.sum::<f64>() / energies.iter().map(|e| (e - centre).powi(2)).sum::<f64>()
}
