//! Adam on one flat slice of parameters (Kingma & Ba 2015), for maximisation.

use serde::{Deserialize, Serialize};

/// Decay rates and the stabiliser of the denominator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdamSettings {
    /// Decay of the mean of gradients.
    pub first_decay: f64,
    /// Decay of the mean of squared gradients.
    pub second_decay: f64,
    /// Added to the root of the mean square.
    pub stabiliser: f64,
}

impl Default for AdamSettings {
    fn default() -> Self {
        Self {
            first_decay: 0.9,
            second_decay: 0.999,
            stabiliser: 1e-8,
        }
    }
}

impl AdamSettings {
    /// Updates both moment estimates of a number with a slope and returns its move uphill. `step`
    /// is the rate over 1 − β₁ᵗ and `correction` is 1 / (1 − β₂ᵗ).
    #[inline]
    pub fn move_value(
        self,
        memory: [&mut f64; 2],
        slope: f64,
        [step, correction]: [f64; 2],
    ) -> f64 {
        let [first, second] = memory;
        *first += (1.0 - self.first_decay) * (slope - *first);
        *second += (1.0 - self.second_decay) * (slope * slope - *second);
        step * *first / ((*second * correction).sqrt() + self.stabiliser)
    }
}

/// The optimiser's whole state. An optimiser that is saved and loaded continues with the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    settings: AdamSettings,
    first: Vec<f64>,
    second: Vec<f64>,
    /// All bits set for a free parameter, none for a frozen one: `&` with the bits of a number
    /// gives the number or zero without a branch, even for NaN.
    active: Vec<u64>,
    /// Decays to the power of the steps taken, as running products.
    first_power: f64,
    second_power: f64,
    steps: u64,
}

impl Adam {
    /// An optimiser of `count` parameters, none frozen.
    pub fn new(count: usize, settings: AdamSettings) -> Self {
        Self {
            settings,
            first: vec![0.0; count],
            second: vec![0.0; count],
            active: vec![u64::MAX; count],
            first_power: 1.0,
            second_power: 1.0,
            steps: 0,
        }
    }

    /// Freezes a range of parameters: they keep their values and their moments start anew.
    ///
    /// # Panics
    /// If the range ends beyond the parameters.
    pub fn freeze(&mut self, range: std::ops::Range<usize>) {
        self.active[range.clone()].fill(0);
        self.first[range.clone()].fill(0.0);
        self.second[range].fill(0.0);
    }

    /// Sets the gradient of frozen parameters to zero, so that a norm counts only free ones.
    pub fn zero_frozen(&self, gradient: &mut [f64]) {
        for (slope, &active) in gradient.iter_mut().zip(&self.active) {
            *slope = kept_share(*slope, active);
        }
    }

    /// One step uphill. Frozen parameters stay, even where their gradient is not finite.
    ///
    /// # Panics
    /// If the slices differ in length from the optimiser.
    pub fn ascend(&mut self, rate: f64, parameters: &mut [f64], gradient: &[f64]) {
        let count = self.first.len();
        assert_eq!(
            (parameters.len(), gradient.len()),
            (count, count),
            "lengths"
        );
        let settings = self.settings;
        self.steps += 1;
        self.first_power *= settings.first_decay;
        self.second_power *= settings.second_decay;
        let pace = [
            rate / (1.0 - self.first_power),
            1.0 / (1.0 - self.second_power),
        ];
        let (first, second) = (&mut self.first[..count], &mut self.second[..count]);
        let active = &self.active[..count];
        for i in 0..count {
            let slope = kept_share(gradient[i], active[i]);
            let moved = settings.move_value([&mut first[i], &mut second[i]], slope, pace);
            parameters[i] += kept_share(moved, active[i]);
        }
    }
}

#[inline]
fn kept_share(value: f64, active: u64) -> f64 {
    f64::from_bits(value.to_bits() & active)
}

/// Shortens the gradient to `limit` if its Euclidean norm is larger; returns the norm it had.  If
/// the norm is not finite the gradient is left unchanged; the caller skips the step.
pub fn clip_norm(gradient: &mut [f64], limit: f64) -> f64 {
    let norm = euclidean_norm(gradient);
    if norm > limit && norm.is_finite() {
        let ratio = limit / norm;
        for slope in gradient {
            *slope *= ratio;
        }
    }
    norm
}

/// Euclidean norm without overflow of the squares.
fn euclidean_norm(values: &[f64]) -> f64 {
    let plain = sum_squares(values, 1.0).sqrt();
    if plain.is_finite() {
        return plain;
    }
    let largest = values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest.is_infinite() || values.iter().any(|x| x.is_nan()) {
        return plain;
    }
    sum_squares(values, 1.0 / largest).sqrt() * largest
}

/// Σ(scale·x)² in four running sums, so that the loop vectorises in a fixed order.
fn sum_squares(values: &[f64], scale: f64) -> f64 {
    let mut sums = [0.0; 4];
    let (chunks, rest) = values.as_chunks::<4>();
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum += (scale * x) * (scale * x);
        }
    }
    let rest: f64 = rest.iter().map(|x| (scale * x) * (scale * x)).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_steps_are_those_of_the_paper() {
        // From the update rule of Kingma & Ba with exact powers, in extended precision.
        let mut adam = Adam::new(1, AdamSettings::default());
        let mut x = [0.5];
        for (slope, expected) in EXPECTED {
            adam.ascend(0.01, &mut x, &[slope]);
            assert!((x[0] - expected).abs() < 1e-15, "{} for {expected}", x[0]);
        }
        assert_eq!(adam.steps, 3);
    }

    const EXPECTED: [(f64, f64); 3] = [
        (2.0, 0.509_999_999_95),
        (-1.0, 0.512_663_370_329_756_8),
        (0.25, 0.515_419_816_889_564),
    ];

    #[test]
    fn it_climbs_to_the_top_of_a_badly_scaled_hill() {
        let mut adam = Adam::new(2, AdamSettings::default());
        let mut x = [3.0, -2.0];
        for step in 0..8000 {
            let rate = 0.05 * (1.0 - f64::from(step) / 8000.0);
            let gradient = [-1e-3 * (x[0] - 1.0), -1e3 * (x[1] - 1.0)];
            adam.ascend(rate, &mut x, &gradient);
        }
        assert!(
            (x[0] - 1.0).abs() < 1e-4 && (x[1] - 1.0).abs() < 1e-4,
            "{x:?}"
        );
    }

    #[test]
    fn a_frozen_parameter_stays_and_keeps_bad_gradients_out() {
        let mut adam = Adam::new(3, AdamSettings::default());
        let mut x = [1.0, 2.0, 3.0];
        adam.ascend(0.1, &mut x, &[1.0; 3]);
        let before = x;
        adam.freeze(1..2);
        let mut gradient = [1.0, f64::NAN, 1.0];
        adam.ascend(0.1, &mut x, &gradient);
        assert!(x[0] > before[0] && x[1] == before[1] && x[2] > before[2]);
        adam.zero_frozen(&mut gradient);
        assert_eq!(gradient, [1.0, 0.0, 1.0]);
    }

    #[test]
    fn a_saved_state_goes_on_with_the_same_bits() {
        let slope = |x: &[f64], step: u64| [(x[0] * step as f64).sin(), 0.3 - x[1]];
        let mut adam = Adam::new(2, AdamSettings::default());
        let mut x = [0.1, 0.2];
        let run = |adam: &mut Adam, x: &mut [f64; 2], steps: std::ops::Range<u64>| {
            for step in steps {
                let gradient = slope(x, step);
                adam.ascend(1e-2, x, &gradient);
            }
        };
        run(&mut adam, &mut x, 0..50);
        let saved = serde_json::to_string(&adam).unwrap();
        let mut copy: Adam = serde_json::from_str(&saved).unwrap();
        let mut y = x;
        run(&mut adam, &mut x, 50..100);
        run(&mut copy, &mut y, 50..100);
        assert_eq!(x.map(f64::to_bits), y.map(f64::to_bits));
        assert_eq!(adam, copy);
    }

    #[test]
    fn clipping_keeps_the_direction_and_returns_the_norm() {
        let mut gradient = [3.0, 4.0];
        assert_eq!(clip_norm(&mut gradient, 10.0), 5.0);
        assert_eq!(gradient, [3.0, 4.0]);
        assert_eq!(clip_norm(&mut gradient, 1.0), 5.0);
        assert!((gradient[0] - 0.6).abs() < 1e-15 && (gradient[1] - 0.8).abs() < 1e-15);
        let mut huge = [3e200, 4e200, 0.0, 0.0, 0.0];
        assert!((clip_norm(&mut huge, 1.0) / 5e200 - 1.0).abs() < 1e-15);
        assert!((huge[1] - 0.8).abs() < 1e-15);
        let mut bad = [1.0, f64::NAN];
        assert!(clip_norm(&mut bad, 1.0).is_nan() && bad[0] == 1.0);
        assert_eq!(clip_norm(&mut [f64::INFINITY, 1.0], 1.0), f64::INFINITY);
        assert_eq!(clip_norm(&mut [], 1.0), 0.0);
    }
}
