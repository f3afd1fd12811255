//! The summary of its data that a fit stores for the report: histograms, calibration and a few
//! residuals.

use lehr_density::{Density, RowSet};
use lehr_model::Bound;
use lehr_numeric::column;
use lehr_numeric::summary::{mean, quantile, sorted};
use lehr_report::{PredictiveCheck, Residual};

use super::explained::explained;
use super::outlier::find_outliers;
use super::replication::Replication;
use super::sample::{ROWS, some_rows};
use crate::data_check::{Bar, DataCheck};
use crate::fitted_model::Measure;
use crate::saved_fit::SavedFit;
use crate::score::{Calibration, observed};

/// The most residuals that are stored.
const RESIDUALS: usize = 1000;
/// Bars of a histogram.
const BARS: usize = 30;

/// Checks a fit on some of its own rows.
pub(crate) fn check_data(saved: &SavedFit, density: &Bound) -> DataCheck {
    let rows = some_rows(density.n_rows(), ROWS, saved.posterior.origin.seed);
    let set = RowSet::List(&rows);
    let seen = observed(density, &set);
    if rows.is_empty() || seen.len() != rows.len() || saved.subject.is_censored() {
        return DataCheck::default();
    }
    let replication = Replication::new(saved, density, &set);
    let Replication {
        centers, replicas, ..
    } = &replication;
    let measure = saved.subject.measure();
    let mut check = DataCheck {
        rows: rows.len() as u64,
        ..DataCheck::default()
    };
    check.predictive = Some(histograms(&seen, replicas, measure));
    if saved.is_prior_only() {
        return check;
    }
    match measure {
        Measure::Binary => {
            let mut calibration = Calibration::default();
            for (p, y) in centers.iter().zip(&seen) {
                calibration.push(*p, *y);
            }
            check.calibration = calibration.bins();
        }
        Measure::Count => check.bars = bars(&seen, replicas),
        Measure::Class | Measure::Direction | Measure::Joint => {}
        Measure::Amount | Measure::Real => check.residuals = residuals(centers, &seen),
    }
    // Classes and directions have no such variance, and a row's local latent is not part of the
    // model's expectation of it.
    let has_variance = !matches!(measure, Measure::Class | Measure::Direction);
    if has_variance && measure != Measure::Binary {
        check.outliers = find_outliers(&replication, &seen);
    }
    if has_variance && density.locals().is_none() {
        check.explained = explained(saved, density);
    }
    check
}

fn histograms(seen: &[f64], replicas: &[Vec<f64>], measure: Measure) -> PredictiveCheck {
    let edges = edges(seen, measure);
    let replicated = replicas.iter().map(|values| histogram(values, &edges));
    PredictiveCheck::Binned {
        observed: histogram(seen, &edges),
        replicated: replicated.collect(),
        edges,
    }
}

/// Bins of whole numbers if there are few, else of equal width.
fn edges(seen: &[f64], measure: Measure) -> Vec<f64> {
    let in_order = sorted(seen);
    let (low, high) = (in_order[0], in_order[in_order.len() - 1]);
    let whole = measure != Measure::Real && seen.iter().all(|y| y.fract() == 0.0);
    if whole && high - low < BARS as f64 {
        let high = if high == low { low + 1.0 } else { high };
        let bars = 0..=(high - low) as usize + 1;
        return bars.map(|k| low - 0.5 + k as f64).collect();
    }
    // The outermost values would make empty bins.
    let (low, high) = (quantile(&in_order, 0.002), quantile(&in_order, 0.998));
    let width = ((high - low) / BARS as f64).max(f64::MIN_POSITIVE.max(1e-12 * low.abs()));
    (0..=BARS).map(|k| low + width * k as f64).collect()
}

fn histogram(values: &[f64], edges: &[f64]) -> Vec<f64> {
    let mut counts = vec![0.0; edges.len() - 1];
    for value in values {
        let above = edges.partition_point(|edge| edge <= value);
        if above > 0 && above <= counts.len() {
            counts[above - 1] += 1.0;
        }
    }
    counts
}

fn bars(seen: &[f64], replicas: &[Vec<f64>]) -> Vec<Bar> {
    let most = quantile(&sorted(seen), 0.99).max(1.0).min(BARS as f64) as u64;
    let count = |values: &[f64], value: u64| column::count(values, value as f64) as f64;
    let bar = |value: u64| {
        let expected: Vec<f64> = replicas.iter().map(|values| count(values, value)).collect();
        let in_order = sorted(&expected);
        Bar {
            value,
            observed: count(seen, value),
            expected: mean(&expected),
            interval: [quantile(&in_order, 0.05), quantile(&in_order, 0.95)],
        }
    };
    (0..=most).map(bar).collect()
}

fn residuals(centers: &[f64], seen: &[f64]) -> Vec<Residual> {
    let stride = seen.len().div_ceil(RESIDUALS).max(1);
    let pairs = centers.iter().zip(seen).step_by(stride);
    let one = |(fitted, y): (&f64, &f64)| Residual {
        fitted: *fitted,
        residual: y - fitted,
    };
    pairs.map(one).collect()
}
