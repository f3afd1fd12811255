//! The witness of random probes: how well the density of hyperparameters is known where a determinant is estimated.

use serde::{Deserialize, Serialize};

use super::{Reason, Standing, Witness};
use crate::estimate::Level;
use crate::posterior::Posterior;

pub(super) const WITNESS: Witness = Witness {
    name: "probes",
    standing: Standing::Stands,
    testify,
};

/// Nats between points that move a mean by less than a tenth of a standard deviation.
const CLOSE: f64 = 0.1;

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

fn testify(posterior: &Posterior) -> Option<Reason> {
    let Probed { count, error } = posterior.importance()?.examination.probes?;
    let is_close = error < CLOSE;
    let known = format!("the spreads are not weighed exactly ({count} probes, ± {error:.3} nats)");
    Some(Reason {
        witness: WITNESS.name.into(),
        level: if is_close {
            Level::Reliable
        } else {
            Level::Doubtful
        },
        sentence: known,
        advice: None,
    })
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
