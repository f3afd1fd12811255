//! The remainder of each row's second-order expansion over the posterior.

use lehr_density::{Density, Point, rows_here};
use lehr_numeric::stream::Stream;

use crate::expansion::{Mode, TaylorOrder, row_remainder};
use crate::guide::Whitening;
use lehr_rows::{Argument, RowPass};

/// Draws that are evaluated side by side, and the number of rounds.
const LANES: usize = 16;
const ROUNDS: usize = 4;
/// The width of the draws relative to the whitening Gaussian. A row far out on the flat side of its
/// likelihood is fitted worst where a draw reaches the steep side, which few draws would.
const WIDER: f64 = 3.0;
/// Rows of a block.
const ROWS: usize = 8192;
/// The most rows that are examined if the table is not in memory, where it is in random order. No
/// more numbers than these are stored.
const MOST: usize = 1 << 20;

/// The remainders of expansions at a mode over draws of a Gaussian around it, [`WIDER`] times as
/// wide as the whitening.
pub(crate) struct Remainder<'a> {
    pub(crate) density: &'a dyn Density,
    pub(crate) mode: &'a Mode,
    pub(crate) whitening: &'a Whitening,
    pub(crate) seed: u64,
}

/// Rows in the numbering of batches, increasing, with their weights.
pub(crate) struct Sample {
    pub(crate) rows: Vec<usize>,
    pub(crate) weights: Vec<f64>,
}

impl Remainder<'_> {
    /// The rows whose log likelihood their own expansion fits worst, in the numbering of batches
    /// and increasing: those with the largest variance of log p(yₙ | z) less its expansion.
    pub(crate) fn worst(&self, count: usize) -> Vec<usize> {
        let mut order = self.ranked(count);
        order.sort_unstable();
        order
    }

    /// The same, worst first, at most `count`.
    pub(crate) fn ranked(&self, count: usize) -> Vec<usize> {
        if count >= self.density.n_rows() {
            return (0..self.density.n_rows()).collect();
        }
        let variances = self.variances();
        let mut order: Vec<usize> = (0..variances.len()).collect();
        // NaN counts as the worst fit.
        order.sort_by(|&a, &b| variances[b].total_cmp(&variances[a]));
        order.truncate(count);
        order
    }

    /// A sample of rows that represents the remainder of all: row n is selected with a probability
    /// πₙ proportional to the standard deviation of its remainder, at most one, and has weight
    /// 1/πₙ. The worst fitted rows are always selected, with weight one.
    pub(crate) fn sample(&self, count: usize) -> Sample {
        let n_rows = self.density.n_rows();
        if count == n_rows {
            return Sample {
                rows: (0..count).collect(),
                weights: vec![1.0; count],
            };
        }
        let deviations = deviations(&self.variances());
        let stands_for = n_rows as f64 / deviations.len() as f64;
        let count = count.min(deviations.len());
        let per_draw = spacing(&deviations, count);
        // Equal steps along the sum of the probabilities, from a random place on.
        let mut next = Stream::new(self.seed, "remainder rows", 0).uniform();
        let (mut sum, mut rows, mut weights) = (0.0, Vec::new(), Vec::new());
        for (row, deviation) in deviations.iter().enumerate() {
            let chance = (deviation / per_draw).min(1.0);
            sum += chance;
            if sum > next && rows.len() < count {
                next += 1.0;
                rows.push(row);
                weights.push(stands_for / chance);
            }
        }
        Sample { rows, weights }
    }

    /// The variance of each row's remainder, for the rows that are examined.
    fn variances(&self) -> Vec<f64> {
        let (density, mode) = (self.density, self.mode);
        let size = mode.latents.len();
        let offsets: Vec<Vec<f64>> = (0..ROUNDS as u64)
            .map(|round| {
                let mut stream = Stream::new(self.seed, "remainder", round);
                offsets(self.whitening, size, &mut stream)
            })
            .collect();
        let mut pass = remainders(density).in_batch_order();
        let most = if rows_here(density).is_resident() {
            density.n_rows()
        } else {
            density.n_rows().min(MOST)
        };
        let mut variances = Vec::with_capacity(most);
        let count = (LANES * ROUNDS) as f64;
        pass.each_block(|rows, block| -> Option<()> {
            let (mut sums, mut squares) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
            for offsets in &offsets {
                let found = block.run(&[&mode.latents, &mode.params, offsets]);
                for (to, output) in [(&mut sums, 0), (&mut squares, 1)] {
                    let parts = found.output(output).iter();
                    to.iter_mut().zip(parts).for_each(|(to, part)| *to += part);
                }
            }
            let both = sums.iter().zip(&squares);
            let left = most - variances.len();
            let variance = |(sum, square): (&f64, &f64)| square / count - (sum / count).powi(2);
            variances.extend(both.map(variance).take(left));
            (variances.len() == most).then_some(())
        });
        variances
    }
}

/// The square roots, none of them zero: no row should have more than a thousand times the weight of
/// a plain sample. Values that are not finite count as the largest finite one.
fn deviations(variances: &[f64]) -> Vec<f64> {
    const LEAST: f64 = 1e-3;
    let finite = variances.iter().filter(|variance| variance.is_finite());
    let worst = finite.fold(0.0_f64, |worst, variance| worst.max(*variance));
    let root = |variance: &f64| {
        let known = Some(*variance).filter(|variance| variance.is_finite());
        known.unwrap_or(worst).max(0.0).sqrt()
    };
    let roots: Vec<f64> = variances.iter().map(root).collect();
    let mean = roots.iter().sum::<f64>() / roots.len() as f64;
    let least = if mean > 0.0 { LEAST * mean } else { 1.0 };
    roots.into_iter().map(|root| root.max(least)).collect()
}

/// The c with Σ min(1, σₙ/c) = `count`.
fn spacing(deviations: &[f64], count: usize) -> f64 {
    let mut falling = deviations.to_vec();
    falling.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut rest: f64 = falling.iter().sum();
    for (certain, deviation) in falling.iter().enumerate().take(count) {
        let spacing = rest / (count - certain) as f64;
        if *deviation <= spacing {
            return spacing;
        }
        rest -= deviation;
    }
    falling[count - 1]
}

/// Draws of the wide Gaussian, as offsets from its centre.
fn offsets(whitening: &Whitening, size: usize, stream: &mut Stream) -> Vec<f64> {
    let mut noise = vec![0.0; LANES * size];
    stream.fill_normal(&mut noise);
    for value in &mut noise {
        *value *= WIDER;
    }
    let draws = noise.chunks_exact(size);
    draws.flat_map(|draw| whitening.spread(draw)).collect()
}

/// Σ r and Σ r² over the lanes' offsets, where r is the remainder of a row's expansion.
fn remainders(density: &dyn Density) -> RowPass<'_> {
    let size = density.latents().size();
    let sizes = [
        Argument::Shared(size),
        Argument::Shared(density.params().size()),
        Argument::PerLane(size),
    ];
    RowPass::in_blocks(rows_here(density), (LANES, ROWS), &sizes, |inputs, rows| {
        let at_mode = Point::new(inputs[0].anchor(), inputs[1]);
        let moved = Point::new(inputs[0] + inputs[2], inputs[1]);
        let left = row_remainder(
            density,
            [&at_mode, &moved],
            rows,
            inputs[2],
            TaylorOrder::Second,
        );
        vec![left.sum_lanes(), left.square().sum_lanes()]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_add_up_to_the_rows_asked_for() {
        let deviations = [9.0, 0.5, 0.25, 7.0, 0.25, 1.0, 0.5];
        for count in 1..7 {
            let spacing = spacing(&deviations, count);
            let chances = deviations.map(|deviation| (deviation / spacing).min(1.0));
            let sum: f64 = chances.iter().sum();
            assert!((sum - count as f64).abs() < 1e-12, "{count}: {chances:?}");
        }
        assert_eq!((9.0 / spacing(&deviations, 4)).min(1.0), 1.0);
    }

    #[test]
    fn no_row_is_out_of_the_question() {
        let found = deviations(&[4.0, 0.0, f64::NAN, f64::INFINITY]);
        assert_eq!(found[2..], [2.0, 2.0]);
        assert!(found[1] > 0.0 && found[1] < 1e-2, "{found:?}");
        assert_eq!(deviations(&[0.0, 0.0]), [1.0, 1.0]);
    }
}
