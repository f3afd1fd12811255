//! The effect of importance weights on a fit.

use lehr_regression::Groups;
use serde::Serialize;

use crate::saved_fit::{SavedFit, plain, weigh};

/// The effect of the weights on a coefficient.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// The coefficient.
    pub name: String,
    /// Corrected minus plain mean, in plain standard deviations.
    pub mean_moved: f64,
    /// Corrected over plain standard deviation.
    pub sd_ratio: f64,
}

impl SavedFit {
    /// The effect of the weights on each coefficient, largest first.
    pub fn shifts(&self) -> Vec<Shift> {
        let weights = self.posterior.weights();
        let coefficients = self.raw_draws(Groups::Leave).into_iter();
        let mut shifts: Vec<Shift> = coefficients
            .map(|one| {
                let (own, corrected) = (plain(&one.values), weigh(&one.values, &weights));
                Shift {
                    name: one.name.to_string(),
                    mean_moved: (corrected.mean - own.mean) / own.sd,
                    sd_ratio: corrected.sd / own.sd,
                }
            })
            .collect();
        shifts.sort_by(|a, b| b.mean_moved.abs().total_cmp(&a.mean_moved.abs()));
        shifts
    }

    /// The rise of the bound over the last third of its trace, by comparing the halves of that
    /// third.
    pub fn late_rise(&self) -> f64 {
        // A result without training has the bounds of a search, which need not rise.
        let training = (self.posterior.training()).filter(|training| training.iterations > 0);
        let history = training.map_or(&[][..], |training| &training.history);
        let late = &history[history.len() - history.len() / 3..];
        let (first, second) = late.split_at(late.len() / 2);
        let mean = |part: &[(u64, f64)]| {
            part.iter().map(|(_, bound)| bound).sum::<f64>() / part.len().max(1) as f64
        };
        mean(second) - mean(first)
    }
}
