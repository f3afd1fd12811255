//! The findings of an examination, kept with the fit.

use serde::{Deserialize, Serialize};

use super::quantity::{Gap, Quantity};
use crate::estimate::Level;

/// What was seen when a fit was examined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Examination {
    /// Every number that the fit is read by.
    pub quantities: Vec<Quantity>,
    /// The grid, if the posterior was summed over one.
    pub grid: Option<Grid>,
    /// The chains of the second opinion, if any were run.
    pub opinion: Option<Opinion>,
    /// Modes of the posterior that the draws miss.
    pub modes: Vec<OtherMode>,
    /// Latents along which the posterior reaches further than the draws, where no chains ran.
    pub tails: Vec<HeavyTail>,
    /// Whether nobody was to look at more than the weights.
    pub omitted: bool,
    /// How well the density of the hyperparameters is known, where random probes tell it.
    pub probes: Option<Probed>,
}

/// A grid over a posterior that has been found to be fine and wide enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grid {
    /// How many points it has.
    pub points: usize,
    /// The log evidence, summed over it.
    pub log_evidence: f64,
}

/// Chains that were run from the draws. What they say of every quantity is with the quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// How many chains there were.
    pub chains: usize,
    /// Draws of each that count.
    pub length: usize,
    /// Their mean acceptance.
    pub acceptance: f64,
    /// Gradients on all rows that they took.
    pub gradients: u64,
    /// How far they can be relied on by their own measures.
    pub level: Level,
}

/// A mode that the draws miss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OtherMode {
    /// z there.
    pub latents: Vec<f64>,
    /// The share of the posterior's mass there, by Laplace's approximation, beside that of the
    /// mode that the draws surround.
    pub mass: f64,
    /// The share of the draws there.
    pub drawn: f64,
}

/// A latent along which the posterior is not what the draws are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeavyTail {
    /// The latent, by name.
    pub name: String,
    /// How far the draws are off.
    pub raw: Gap,
    /// How far the weighted draws are off.
    pub weighted: Gap,
}

/// What probes leave open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Probed {
    /// How many there were.
    pub count: usize,
    /// The standard error of log densities beside each other, over the points that count, in nats.
    pub error: f64,
}

impl Probed {
    /// From the logarithms that each probe gives at each point, and the weights of the points. What is the same at all
    /// points has no part in any result. `None` if there are no probes.
    pub(crate) fn of(logs: &[Vec<f64>], weights: &[f64]) -> Option<Probed> {
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
        Some(Probed {
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
        let found = Probed::of(&alike, &[0.5, 0.5]).unwrap();
        assert!(found.error < 1e-12 && found.count == 2);
        // Around their means the probes are at ∓½ and ±½: sd √½ at both points, error √½/√2.
        let apart = [vec![1.0, 3.0], vec![2.0, 2.0]];
        let found = Probed::of(&apart, &[0.5, 0.5]).unwrap();
        assert!((found.error - 0.5).abs() < 1e-12, "{found:?}");
        assert!(Probed::of(&[Vec::new()], &[1.0]).is_none());
    }
}
