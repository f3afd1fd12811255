//! The findings of an examination, stored with the fit.

use serde::{Deserialize, Serialize};

use super::quantity::{Gap, Quantity};
use crate::estimate::Level;

/// The findings of a fit's examination.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Examination {
    /// Every reported number of the fit.
    pub quantities: Vec<Quantity>,
    /// The grid, if the posterior was summed over one.
    pub grid: Option<Grid>,
    /// The chains of the second opinion, if any were run.
    pub opinion: Option<Opinion>,
    /// Modes of the posterior that the draws miss.
    pub modes: Vec<OtherMode>,
    /// Latents along which the posterior reaches further than the draws, where no chains ran.
    pub tails: Vec<HeavyTail>,
    /// Whether only the weights were to be examined.
    pub omitted: bool,
    /// The accuracy of the density of the hyperparameters, if random probes estimate it.
    pub probes: Option<ProbeAccuracy>,
}

/// A grid over a posterior that has been verified to be fine and wide enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// How many points it has.
    pub points: usize,
    /// The log evidence, summed over it.
    pub log_evidence: f64,
}

/// Chains that were run from the draws. Their moments are stored with each quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// How many chains there were.
    pub chains: usize,
    /// Draws of each after the warm-up.
    pub length: usize,
    /// Their mean acceptance.
    pub acceptance: f64,
    /// Gradients on all rows that they took.
    pub gradients: u64,
    /// Their reliability by their own diagnostics.
    pub level: Level,
}

/// A mode that the draws miss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherMode {
    /// z there.
    pub latents: Vec<f64>,
    /// The share of the posterior's mass there by Laplace's approximation, compared with the mode
    /// that the draws surround.
    pub mass: f64,
    /// The share of the draws there.
    pub drawn: f64,
}

/// A latent along which the posterior differs from the draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeavyTail {
    /// The latent, by name.
    pub name: String,
    /// The error of the draws.
    pub raw: Gap,
    /// The error of the weighted draws.
    pub weighted: Gap,
}

/// The uncertainty from random probes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeAccuracy {
    /// The number of probes.
    pub count: usize,
    /// The standard error of differences of log densities over the weighted points, in nats.
    pub error: f64,
}

impl ProbeAccuracy {
    /// From the logarithms that each probe gives at each point, and the weights of the points. An
    /// error common to all points does not affect any result. `None` if there are no probes.
    pub(crate) fn of(logs: &[Vec<f64>], weights: &[f64]) -> Option<ProbeAccuracy> {
        let used = || logs.iter().zip(weights).filter(|(own, _)| !own.is_empty());
        let count = used().next()?.0.len();
        let mass: f64 = used().map(|(_, weight)| weight).sum();
        let mean = |probe: usize| used().map(|(own, w)| w * own[probe]).sum::<f64>() / mass;
        let means: Vec<f64> = (0..count).map(mean).collect();
        let variance = |own: &[f64]| {
            let moved: Vec<f64> = own.iter().zip(&means).map(|(a, b)| a - b).collect();
            lehr_numeric::summary::sd(&moved).powi(2) / count as f64
        };
        let sum: f64 = used().map(|(own, w)| w * variance(own)).sum();
        Some(ProbeAccuracy {
            count,
            error: (sum / mass).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_probes_differ_by_at_all_points_alike_does_not_count() {
        let alike = [vec![1.0, 3.0], vec![2.0, 4.0]];
        let found = ProbeAccuracy::of(&alike, &[0.5, 0.5]).unwrap();
        assert!(found.error < 1e-12 && found.count == 2);
        // Around their means the probes are at ∓½ and ±½: sd √½ at both points, error √½/√2.
        let apart = [vec![1.0, 3.0], vec![2.0, 2.0]];
        let found = ProbeAccuracy::of(&apart, &[0.5, 0.5]).unwrap();
        assert!((found.error - 0.5).abs() < 1e-12, "{found:?}");
        assert!(ProbeAccuracy::of(&[Vec::new()], &[1.0]).is_none());
    }
}
