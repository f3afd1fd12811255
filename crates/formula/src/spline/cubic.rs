//! Cubic splines with two continuous derivatives, by their values and second derivatives at the
//! knots.

use serde::{Deserialize, Serialize};

use super::bspline::BSpline;
use super::sample::evenly_chosen;

/// Several cubic splines on the same knots.
///
/// Between two knots at a distance h, with d = κ₊ − x and e = x − κ₋, a spline with the values v
/// and the second derivatives g at the knots is
///
/// ```text
/// (d v₋ + e v₊)/h + ((d³/h − hd) g₋ + (e³/h − he) g₊)/6
/// ```
///  (Wood 2017, section 5.3.1). Beyond the ends it continues as the tangent line; on a circle it is
///  periodic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CubicSpline {
    /// The knots in ascending order; on a circle the last is the first one period later.
    knots: Vec<f64>,
    /// The values: for each knot, one number per function.
    values: Vec<f64>,
    bends: Vec<f64>,
    width: usize,
    is_circle: bool,
}

impl CubicSpline {
    /// Natural splines, whose second derivatives are zero at the ends: function j is 1 at knot j
    /// and 0 at the others.
    ///
    /// # Panics
    /// If there are fewer than two knots, or they do not ascend.
    pub fn natural(knots: &[f64]) -> Self {
        let count = check_knots(knots, 2);
        let steps: Vec<f64> = knots.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let inner = count - 2;
        let mut system = BandedSystem::new(inner, count);
        for row in 0..inner {
            let [h, next] = [steps[row], steps[row + 1]];
            system.add(row, row, (h + next) / 3.0);
            if row + 1 < inner {
                system.add(row, row + 1, next / 6.0);
                system.add(row + 1, row, next / 6.0);
            }
            system.add_right(row, row, 1.0 / h);
            system.add_right(row, row + 1, -1.0 / h - 1.0 / next);
            system.add_right(row, row + 2, 1.0 / next);
        }
        let mut bends = vec![0.0; count];
        bends.extend(system.solve_banded());
        bends.extend(vec![0.0; count]);
        Self {
            knots: knots.to_vec(),
            values: identity_matrix(count),
            bends: if inner == 0 { vec![0.0; 4] } else { bends },
            width: count,
            is_circle: false,
        }
    }

    /// Periodic splines, for which the first and the last knot are the same place.
    ///
    /// # Panics
    /// If there are fewer than four knots, or they do not ascend.
    pub fn circle(knots: &[f64]) -> Self {
        let count = check_knots(knots, 4) - 1;
        let step = |at: usize| knots[at % count + 1] - knots[at % count];
        let mut system = BandedSystem::new(count, count);
        for row in 0..count {
            let (before, after) = ((row + count - 1) % count, (row + 1) % count);
            let [h, next] = [step(before), step(row)];
            system.add(row, row, (h + next) / 3.0);
            system.add(row, before, h / 6.0);
            system.add(row, after, next / 6.0);
            system.add_right(row, before, 1.0 / h);
            system.add_right(row, row, -1.0 / h - 1.0 / next);
            system.add_right(row, after, 1.0 / next);
        }
        let (mut values, mut bends) = (identity_matrix(count), system.solve_banded());
        values.extend_from_within(..count);
        bends.extend_from_within(..count);
        Self {
            knots: knots.to_vec(),
            values,
            bends,
            width: count,
            is_circle: true,
        }
    }

    /// Cubic B-splines in this form.
    ///
    /// # Panics
    /// If their degree is not 3.
    pub fn of_bsplines(splines: &BSpline) -> Self {
        let knots = splines.inner_knots().to_vec();
        assert_eq!(splines.degree(), 3, "the degree of cubic splines");
        let at = |order| {
            let rows = knots
                .iter()
                .map(|knot| splines.basis_derivatives(*knot, order));
            rows.collect::<Vec<_>>().concat()
        };
        Self {
            values: at(0),
            bends: at(2),
            width: splines.count(),
            knots,
            is_circle: false,
        }
    }

    /// Knots for `count` functions at equal steps in the order of distinct ascending values.
    pub fn knots_of(values: &[f64], count: usize) -> Vec<f64> {
        evenly_chosen(values, count)
    }

    /// How many functions there are.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The knots, the ends included.
    pub fn knots(&self) -> &[f64] {
        &self.knots
    }

    /// Linear combinations of these functions: one for each of `columns` columns of a row-major
    /// matrix.
    #[must_use]
    pub fn combine_columns(&self, matrix: &[f64], columns: usize) -> Self {
        let product = |left: &[f64]| -> Vec<f64> {
            let rows = left.chunks_exact(self.width);
            rows.flat_map(|row| combine_row(row, matrix, columns))
                .collect()
        };
        Self {
            values: product(&self.values),
            bends: product(&self.bends),
            width: columns,
            knots: self.knots.clone(),
            is_circle: self.is_circle,
        }
    }

    /// ∫ f″g″ for all pairs of functions, row-major; second derivatives are linear between knots.
    pub fn penalty_matrix(&self) -> Vec<f64> {
        let width = self.width;
        let mut penalty = vec![0.0; width * width];
        for (piece, pair) in self.knots.windows(2).enumerate() {
            let [left, right] = [piece, piece + 1].map(|knot| &self.bends[knot * width..][..width]);
            let share = (pair[1] - pair[0]) / 6.0;
            for i in 0..width {
                for j in 0..width {
                    penalty[i * width + j] += share
                        * (2.0 * left[i] * left[j]
                            + left[i] * right[j]
                            + right[i] * left[j]
                            + 2.0 * right[i] * right[j]);
                }
            }
        }
        penalty
    }

    /// Empty sums for [`CubicSpline::add_multiplied`].
    pub fn no_products(&self) -> Vec<[f64; 16]> {
        vec![[0.0; 16]; self.knots.len() - 1]
    }

    /// Adds the products of the functions, times a number of the row, at a value between the ends. The
    /// sums are kept for each piece, so that the cost of a row does not depend on the number of functions.
    pub fn add_multiplied(&self, x: f64, multiplier: f64, sums: &mut [[f64; 16]]) {
        let (piece, weights) = self.local_weights(x);
        for (k, sum) in sums[piece].iter_mut().enumerate() {
            *sum += multiplier * multiplier * weights[k / 4] * weights[k % 4];
        }
    }

    /// The sums of the products of all pairs of functions, row-major.
    pub fn cross_products(&self, sums: &[[f64; 16]]) -> Vec<f64> {
        let width = self.width;
        let mut products = vec![0.0; width * width];
        for (piece, sum) in sums.iter().enumerate() {
            let parts = [&self.values, &self.bends]
                .map(|all| [piece, piece + 1].map(|knot| &all[knot * width..][..width]));
            let parts = parts.concat();
            for (k, sum) in sum.iter().enumerate().filter(|(_, sum)| **sum != 0.0) {
                for (i, left) in parts[k / 4].iter().enumerate() {
                    for (j, right) in parts[k % 4].iter().enumerate() {
                        products[i * width + j] += sum * left * right;
                    }
                }
            }
        }
        products
    }

    /// The piece that contains a value between the ends, and the weights of the values and second
    /// derivatives at its ends.
    fn local_weights(&self, x: f64) -> (usize, [f64; 4]) {
        let after = self.knots.partition_point(|knot| *knot <= x);
        let piece = after.saturating_sub(1).min(self.knots.len() - 2);
        let h = self.knots[piece + 1] - self.knots[piece];
        let (d, e) = (self.knots[piece + 1] - x, x - self.knots[piece]);
        let bend = |part: f64| (part.powi(3) / h - h * part) / 6.0;
        (piece, [d / h, e / h, bend(d), bend(e)])
    }

    /// All functions at a value.
    pub fn values_at(&self, x: f64) -> Vec<f64> {
        let (first, last) = (self.knots[0], self.knots[self.knots.len() - 1]);
        let x = if self.is_circle {
            first + (x - first).rem_euclid(last - first)
        } else {
            x
        };
        let within = x.clamp(first, last);
        let (piece, weights) = self.local_weights(within);
        let found = self.mix_rows(piece, weights);
        let beyond = x - within;
        if beyond == 0.0 {
            return found;
        }
        let h = self.knots[piece + 1] - self.knots[piece];
        // The slopes of the weights at a lower and at an upper end.
        let bends = if beyond < 0.0 {
            [-h / 3.0, -h / 6.0]
        } else {
            [h / 6.0, h / 3.0]
        };
        let slopes = self.mix_rows(piece, [-1.0 / h, 1.0 / h, bends[0], bends[1]]);
        let pairs = found.iter().zip(slopes);
        pairs.map(|(value, slope)| value + beyond * slope).collect()
    }

    /// The weighted sum of the values and second derivatives at the ends of a piece.
    fn mix_rows(&self, piece: usize, weights: [f64; 4]) -> Vec<f64> {
        let width = self.width;
        let [before, after] = [piece * width, (piece + 1) * width];
        let one = |j: usize| {
            weights[0] * self.values[before + j]
                + weights[1] * self.values[after + j]
                + weights[2] * self.bends[before + j]
                + weights[3] * self.bends[after + j]
        };
        (0..width).map(one).collect()
    }
}

fn check_knots(knots: &[f64], least: usize) -> usize {
    assert!(knots.len() >= least, "at least {least} knots");
    assert!(
        knots.windows(2).all(|pair| pair[0] < pair[1]),
        "knots ascend"
    );
    knots.len()
}

fn identity_matrix(size: usize) -> Vec<f64> {
    let entry = |k: usize| f64::from(u8::from(k / size == k % size));
    (0..size * size).map(entry).collect()
}

/// Σ rowᵢ matrixᵢⱼ
fn combine_row(row: &[f64], matrix: &[f64], columns: usize) -> Vec<f64> {
    let mut sum = vec![0.0; columns];
    for (value, line) in row.iter().zip(matrix.chunks_exact(columns)) {
        for (sum, entry) in sum.iter_mut().zip(line) {
            *sum += value * entry;
        }
    }
    sum
}

/// A banded system whose matrix is diagonally dominant in each row.
struct BandedSystem {
    size: usize,
    left: Vec<f64>,
    columns: usize,
    right: Vec<f64>,
}

impl BandedSystem {
    fn new(size: usize, columns: usize) -> Self {
        Self {
            size,
            left: vec![0.0; size * size],
            columns,
            right: vec![0.0; size * columns],
        }
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.left[row * self.size + column] += value;
    }

    fn add_right(&mut self, row: usize, column: usize, value: f64) {
        self.right[row * self.columns + column] += value;
    }

    /// The solution, row-major. Diagonally dominant rows need no pivoting.
    fn solve_banded(mut self) -> Vec<f64> {
        let (size, columns) = (self.size, self.columns);
        for pivot in 0..size {
            for row in pivot + 1..size {
                let share = self.left[row * size + pivot] / self.left[pivot * size + pivot];
                if share == 0.0 {
                    continue;
                }
                for column in pivot..size {
                    self.left[row * size + column] -= share * self.left[pivot * size + column];
                }
                for column in 0..columns {
                    let known = self.right[pivot * columns + column];
                    self.right[row * columns + column] -= share * known;
                }
            }
        }
        for row in (0..size).rev() {
            for column in 0..columns {
                let known: f64 = (row + 1..size)
                    .map(|other| {
                        self.left[row * size + other] * self.right[other * columns + column]
                    })
                    .sum();
                let own = self.right[row * columns + column] - known;
                self.right[row * columns + column] = own / self.left[row * size + row];
            }
        }
        self.right
    }
}

#[cfg(test)]
mod tests;
