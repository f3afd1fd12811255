//! How well draws predict rows: log likelihoods, hits, errors and calibration, in constant
//! memory.

use lehr_density::{Density, Role, RowSet};
use lehr_infer::pointwise::pointwise;
use lehr_report::CalibrationBin;

/// The observed response of every row; empty if it is not a number.
pub(crate) fn observed(density: &dyn Density, rows: &RowSet<'_>) -> Vec<f64> {
    let columns = density.columns();
    let is_response = |column: &lehr_density::Column| matches!(column.role, Role::Response { .. });
    let Some(place) = columns.iter().position(is_response) else {
        return Vec::new();
    };
    let column = &columns.0[place];
    if let lehr_density::ColumnKind::Index { .. } = column.kind {
        let mut codes = vec![0; rows.len()];
        density.source().copy_indices(place, rows, &mut codes);
        return codes.into_iter().map(f64::from).collect();
    }
    let mut values = vec![0.0; rows.len() * column.kind.width()];
    density.source().copy_numbers(place, rows, &mut values);
    values
}

/// log of the mean over draws of each row's likelihood. Each draw is flat and unconstrained.
pub(crate) fn log_likelihoods(
    density: &dyn Density,
    draws: &[Vec<f64>],
    params: &[f64],
) -> Vec<f64> {
    let mut means = vec![LogMean::default(); density.n_rows()];
    pointwise(density, &draws.concat(), params, |rows, values| {
        for draw in values.chunks_exact(rows.len()) {
            let means = means[rows.clone()].iter_mut().zip(draw);
            means.for_each(|(mean, value)| mean.push(*value));
        }
    });
    means.iter().map(LogMean::value).collect()
}

/// log of a mean of exponentials, one at a time and without overflow.
#[derive(Clone, Copy, Debug)]
struct LogMean {
    largest: f64,
    sum: f64,
    count: u64,
}

impl Default for LogMean {
    fn default() -> Self {
        LogMean {
            largest: f64::NEG_INFINITY,
            sum: 0.0,
            count: 0,
        }
    }
}

impl LogMean {
    fn push(&mut self, value: f64) {
        self.count += 1;
        if value == f64::NEG_INFINITY {
            return;
        }
        if value > self.largest {
            self.sum = self.sum * (self.largest - value).exp() + 1.0;
            self.largest = value;
        } else {
            self.sum += (value - self.largest).exp();
        }
    }

    fn value(&self) -> f64 {
        self.largest + (self.sum / self.count as f64).ln()
    }
}

/// Cells of predicted probability by its logit, which bins of equal count are merged from.
const CELLS: usize = 400;
/// Bins at the most.
const BINS: f64 = 10.0;

/// Predicted against observed frequencies, gathered row by row.
#[derive(Clone, Debug)]
pub(crate) struct Calibration {
    cells: Vec<(u64, f64, f64)>,
}

impl Default for Calibration {
    fn default() -> Self {
        Calibration {
            cells: vec![(0, 0.0, 0.0); CELLS],
        }
    }
}

impl Calibration {
    /// Adds a row.
    pub(crate) fn push(&mut self, probability: f64, outcome: f64) {
        if !probability.is_finite() {
            return;
        }
        let logit = (probability / (1.0 - probability)).ln().clamp(-10.0, 10.0);
        let cell = ((logit + 10.0) / 20.0 * (CELLS - 1) as f64) as usize;
        let cell = &mut self.cells[cell];
        *cell = (cell.0 + 1, cell.1 + probability, cell.2 + outcome);
    }

    /// Bins of about equal count.
    pub(crate) fn bins(&self) -> Vec<CalibrationBin> {
        let total: u64 = self.cells.iter().map(|cell| cell.0).sum();
        let wanted = (total as f64 / BINS).max(1.0);
        let mut bins = Vec::new();
        let mut open = (0, 0.0, 0.0);
        for cell in &self.cells {
            open = (open.0 + cell.0, open.1 + cell.1, open.2 + cell.2);
            if open.0 as f64 >= wanted {
                bins.push(bin(open));
                open = (0, 0.0, 0.0);
            }
        }
        if open.0 > 0 {
            bins.push(bin(open));
        }
        bins
    }
}

/// One bin with Wilson's 90 % interval around the observed frequency.
fn bin((count, predicted, outcomes): (u64, f64, f64)) -> CalibrationBin {
    const Z: f64 = 1.644_853_626_951_472_7;
    let n = count as f64;
    let share = outcomes / n;
    let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let reach = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    CalibrationBin {
        predicted: predicted / n,
        observed: share,
        count,
        low: (middle - reach).max(0.0),
        high: (middle + reach).min(1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_a_mean_survives_large_numbers() {
        let mut mean = LogMean::default();
        for value in [-1000.0, -1001.0, f64::NEG_INFINITY, -999.0] {
            mean.push(value);
        }
        let expected = -999.0 + ((1.0 + (-1.0_f64).exp() + (-2.0_f64).exp()) / 4.0).ln();
        assert!((mean.value() - expected).abs() < 1e-12);
        assert_eq!(LogMean::default().largest, f64::NEG_INFINITY);
    }

    #[test]
    fn bins_hold_about_a_tenth_of_the_rows_each() {
        let mut calibration = Calibration::default();
        for k in 0..10_000 {
            let p = (f64::from(k) + 0.5) / 10_000.0;
            calibration.push(p, f64::from(k % 10 < (10.0 * p) as i32));
        }
        let bins = calibration.bins();
        assert!((9..=11).contains(&bins.len()), "{}", bins.len());
        for bin in &bins[..bins.len() - 1] {
            assert!((bin.predicted - bin.observed).abs() < 0.06, "{bin:?}");
            assert!(bin.low <= bin.observed && bin.observed <= bin.high);
        }
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), 10_000);
    }
}
