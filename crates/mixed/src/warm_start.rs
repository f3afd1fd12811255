//! The effects at a nearby θ, as a warm start of the search for those at another θ.

use crate::marginal_point::{Detail, MarginalPoint};
use crate::variational_gaussian::VariationalGaussian;

/// The largest distance up to which the parabolas are used.
const FAR: f64 = 0.7;

/// The effects at a nearby θ, from which a search for them starts.
#[derive(Clone, Default)]
pub struct WarmStart {
    theta: Vec<f64>,
    state: Option<VariationalGaussian>,
    /// Their variational gap.
    gap: f64,
    /// Their changes with each entry of θ.
    paths: Vec<QuadraticPath>,
}

/// The parabola that a gap and all numbers of a Gaussian follow as one entry of θ changes.
#[derive(Clone)]
struct QuadraticPath {
    /// The change of θ that is one unit.
    step: f64,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl QuadraticPath {
    /// Through three lists of numbers: one step below, here, and one step above.
    fn through([below, here, above]: [&[f64]; 3], step: f64) -> QuadraticPath {
        let pairs = || below.iter().zip(above);
        let middles = pairs().map(|(low, high)| 0.5 * (low + high));
        QuadraticPath {
            step,
            first: pairs().map(|(low, high)| 0.5 * (high - low)).collect(),
            second: middles
                .zip(here)
                .map(|(middle, here)| middle - here)
                .collect(),
        }
    }

    fn add(&self, change: f64, into: &mut [f64]) {
        let x = change / self.step;
        let paths = self.first.iter().zip(&self.second);
        for (number, (first, second)) in into.iter_mut().zip(paths) {
            *number += x * (first + x * second);
        }
    }
}

impl WarmStart {
    /// The effects at an evaluated θ.
    pub(crate) fn of(at: &MarginalPoint) -> WarmStart {
        match &at.detail {
            Detail::Normal(_) => WarmStart::default(),
            Detail::Other(other) => WarmStart {
                theta: at.theta.clone(),
                state: Some(other.state.clone()),
                gap: other.gap,
                paths: Vec::new(),
            },
        }
    }

    /// The gap, and the numbers of the Gaussian.
    fn numbers(&self) -> Option<Vec<f64>> {
        let mut found = vec![self.gap];
        found.extend(self.state.as_ref()?.numbers());
        Some(found)
    }

    /// Fits the parabolas for each entry of θ to the effects one step above and one step below.
    pub(crate) fn fit_paths(&mut self, sides: &[[WarmStart; 2]], steps: &[f64]) {
        let Some(here) = self.numbers() else {
            return;
        };
        let path = |(sides, step): (&[WarmStart; 2], &f64)| {
            let [above, below] = sides.each_ref().map(WarmStart::numbers);
            Some(QuadraticPath::through([&below?, &here, &above?], *step))
        };
        let paths: Option<Vec<QuadraticPath>> = sides.iter().zip(steps).map(path).collect();
        self.paths = paths.unwrap_or_default();
    }

    /// The nearby Gaussian, extrapolated to θ, and the predicted variational gap, if there is one.
    pub(crate) fn predict(&self, theta: &[f64]) -> Option<(VariationalGaussian, Option<f64>)> {
        let changes = theta.iter().zip(&self.theta).map(|(new, old)| new - old);
        let state = self.state.as_ref()?;
        if self.paths.is_empty() || changes.clone().any(|change| change.abs() >= FAR) {
            return Some((state.clone(), None));
        }
        let mut numbers = self.numbers()?;
        for (change, path) in changes.zip(&self.paths) {
            path.add(change, &mut numbers);
        }
        Some((state.with_numbers(&numbers[1..]), Some(numbers[0])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bend_is_exact_for_parabolas() {
        let at = |x: f64| [3.0 - 2.0 * x + 0.5 * x * x, x];
        let path = QuadraticPath::through([&at(0.7), &at(1.0), &at(1.3)], 0.3);
        let mut found = at(1.0);
        path.add(-1.4, &mut found);
        let wanted = at(-0.4);
        assert!((found[0] - wanted[0]).abs() < 1e-12 && (found[1] - wanted[1]).abs() < 1e-12);
    }
}
