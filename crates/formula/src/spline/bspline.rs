//! B-splines: functions that are zero outside a few neighbouring intervals and add up to 1.

use serde::{Deserialize, Serialize};

/// The B-splines of one degree on a sequence of knots (de Boor 1978). Between the inner ends of the
/// sequence they are nonnegative and add up to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BSpline {
    degree: usize,
    /// The knots in ascending order, `degree` of them beyond either end.
    knots: Vec<f64>,
}

impl BSpline {
    /// The splines on a range whose ends are repeated as in R's `bs`, with these inner knots.
    pub fn with_knots(degree: usize, inside: &[f64], [low, high]: [f64; 2]) -> Self {
        let ends = degree + 1;
        let low = std::iter::repeat_n(low, ends);
        let high = std::iter::repeat_n(high, ends);
        Self {
            degree,
            knots: low.chain(inside.iter().copied()).chain(high).collect(),
        }
    }

    /// `count` splines of a degree on equal steps, as for P-splines.
    ///
    /// # Panics
    /// If `count` is not larger than the degree.
    pub fn evenly_spaced(degree: usize, count: usize, [low, high]: [f64; 2]) -> Self {
        assert!(count > degree, "{count} functions of degree {degree}");
        let pieces = count - degree;
        let step = (high - low) / pieces as f64;
        let knot = |at: usize| match at.checked_sub(degree) {
            // The ends are exact, however the steps are rounded.
            Some(inner) if inner == pieces => high,
            _ => low + step * (at as f64 - degree as f64),
        };
        Self {
            degree,
            knots: (0..=count + degree).map(knot).collect(),
        }
    }

    /// The degree of the polynomials.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// How many functions there are.
    pub fn count(&self) -> usize {
        self.knots.len() - self.degree - 1
    }

    /// The range on which they add up to 1.
    pub fn range(&self) -> [f64; 2] {
        [self.knots[self.degree], self.knots[self.count()]]
    }

    /// The knots from the lower to the upper end.
    pub fn inner_knots(&self) -> &[f64] {
        &self.knots[self.degree..=self.count()]
    }

    /// All functions at a value in the range.
    pub fn basis_values(&self, x: f64) -> Vec<f64> {
        self.basis_derivatives(x, 0)
    }

    /// The derivatives of an order, at most the degree, of all functions at a value in the range.
    ///
    /// ```text
    /// B⁽ʳ⁾ᵢ,ₚ = p (B⁽ʳ⁻¹⁾ᵢ,ₚ₋₁/(tᵢ₊ₚ − tᵢ) − B⁽ʳ⁻¹⁾ᵢ₊₁,ₚ₋₁/(tᵢ₊ₚ₊₁ − tᵢ₊₁))
    /// ```
    pub fn basis_derivatives(&self, x: f64, order: usize) -> Vec<f64> {
        let lowest = self.degree - order.min(self.degree);
        let mut values = self.of_degree(x, lowest);
        for degree in lowest + 1..=self.degree {
            let share = |at: usize| {
                let width = self.knots[at + degree] - self.knots[at];
                if width > 0.0 { values[at] / width } else { 0.0 }
            };
            let next = (0..values.len() - 1).map(|at| degree as f64 * (share(at) - share(at + 1)));
            values = next.collect();
        }
        values
    }

    /// The functions of a lower degree on the same knots, by the recurrence of Cox and de Boor.
    fn of_degree(&self, x: f64, degree: usize) -> Vec<f64> {
        let knots = &self.knots;
        let mut values = vec![0.0; knots.len() - 1];
        values[self.find_piece(x)] = 1.0;
        for degree in 1..=degree {
            for at in 0..values.len() - 1 {
                let rising = blend_weight(x - knots[at], knots[at + degree] - knots[at]);
                let ahead = knots[at + degree + 1];
                let falling = blend_weight(ahead - x, ahead - knots[at + 1]);
                values[at] = rising * values[at] + falling * values[at + 1];
            }
            values.pop();
        }
        values
    }

    /// The interval that contains a value; the upper end belongs to the last interval.
    fn find_piece(&self, x: f64) -> usize {
        let after = self.knots.partition_point(|knot| *knot <= x);
        let last = self.knots.partition_point(|knot| *knot < self.range()[1]) - 1;
        after.saturating_sub(1).clamp(self.degree, last)
    }
}

/// A fraction of a width; 0 for an empty one.
fn blend_weight(part: f64, width: f64) -> f64 {
    if width > 0.0 { part / width } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places([low, high]: [f64; 2]) -> impl Iterator<Item = f64> {
        (0..=60).map(move |k| low + (high - low) * f64::from(k) / 60.0)
    }

    #[test]
    fn functions_add_up_to_one_and_are_nowhere_negative() {
        let range = [-1.0, 4.0];
        for degree in 0..=4 {
            for spline in [
                BSpline::with_knots(degree, &[0.3, 0.5, 3.0], range),
                BSpline::evenly_spaced(degree, degree + 5, range),
            ] {
                for x in places(range) {
                    let values = spline.basis_values(x);
                    assert_eq!(values.len(), spline.count());
                    assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-14, "{x}");
                    assert!(values.iter().all(|value| *value >= 0.0), "{x}: {values:?}");
                    let positive = values.iter().filter(|value| **value > 0.0).count();
                    assert!(positive <= degree + 1);
                }
            }
        }
    }

    #[test]
    fn on_equal_steps_a_cubic_function_is_the_closed_form() {
        // Knots at 0, 1, …; the function in the middle is ⅙u³, ⅙(1 + 3u + 3u² − 3u³), and back.
        let spline = BSpline::evenly_spaced(3, 7, [0.0, 4.0]);
        for x in places([0.0, 4.0]) {
            let piece = |u: f64| match u {
                u if (0.0..1.0).contains(&u) => u.powi(3) / 6.0,
                u if (1.0..2.0).contains(&u) => {
                    let u = u - 1.0;
                    (1.0 + 3.0 * u + 3.0 * u * u - 3.0 * u.powi(3)) / 6.0
                }
                _ => 0.0,
            };
            let expected = if x < 2.0 { piece(x) } else { piece(4.0 - x) };
            let centre = if x == 2.0 { 4.0 / 6.0 } else { expected };
            assert!((spline.basis_values(x)[3] - centre).abs() < 1e-14, "{x}");
        }
    }

    #[test]
    fn without_knots_inside_they_are_the_polynomials_of_bernstein() {
        let spline = BSpline::with_knots(3, &[], [2.0, 4.0]);
        for x in places([2.0, 4.0]) {
            let t = (x - 2.0) / 2.0;
            let s = 1.0 - t;
            let expected = [s * s * s, 3.0 * t * s * s, 3.0 * t * t * s, t * t * t];
            for (found, expected) in spline.basis_values(x).iter().zip(expected) {
                assert!((found - expected).abs() < 1e-14, "{x}");
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_the_values() {
        let spline = BSpline::with_knots(3, &[0.4, 0.7], [0.0, 1.0]);
        let step = 1e-5;
        for order in 0..2 {
            for x in [0.1, 0.39, 0.5, 0.93] {
                let after = spline.basis_derivatives(x + step, order);
                let before = spline.basis_derivatives(x - step, order);
                let slopes = spline.basis_derivatives(x, order + 1);
                for ((a, b), slope) in after.iter().zip(&before).zip(slopes) {
                    let found = (a - b) / (2.0 * step);
                    assert!((found - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{x}");
                }
            }
        }
    }
}
