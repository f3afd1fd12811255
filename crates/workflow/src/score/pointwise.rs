//! The observed responses of rows, and their likelihood under the draws.

use lehr_density::{Density, Role, RowSet, Values};
use lehr_infer::pointwise::pointwise;

/// The observed response of every row; empty if it is not a number.
pub(crate) fn observed(density: &dyn Density, rows: &RowSet<'_>) -> Vec<f64> {
    let columns = density.columns();
    let is_response = |column: &lehr_density::Column| matches!(column.role, Role::Response { .. });
    let Some(place) = columns.iter().position(is_response) else {
        return Vec::new();
    };
    match Values::of_rows(density.source(), (place, columns.0[place].kind), rows) {
        Values::Numbers { values, .. } => values.to_vec(),
        Values::Indices(codes) => codes.iter().copied().map(f64::from).collect(),
    }
}

/// The logarithm of the mean over draws of each row's likelihood. Each draw is flat and
/// unconstrained.
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

/// The logarithm of a mean of exponentials, updated one at a time and without overflow.
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
}
