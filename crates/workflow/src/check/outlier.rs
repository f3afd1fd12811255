//! Detects responses far outside the range that the fitted model would draw.

use lehr_numeric::summary::{quantile, sorted};

use super::replication::Replication;
use crate::data_check::Outliers;

/// The distance of an outlier, in multiples of the largest distance in all replicated data sets.
const BEYOND: f64 = 2.0;

/// The share of the farthest response's distance by which it can pull other rows away.
const PULLED: f64 = 0.1;

/// Compares the distances of observed responses with those of replicated data sets. Both are in
/// units of their own medians, because an outlier widens the fitted noise.
pub(crate) fn find_outliers(replication: &Replication, seen: &[f64]) -> Option<Outliers> {
    let Replication { centers, sds, .. } = replication;
    let distances = |values: &[f64]| -> Option<Vec<f64>> {
        let rows = values.iter().zip(centers).zip(sds);
        let raw: Vec<f64> = rows.map(|((y, at), sd)| ((y - at) / sd).abs()).collect();
        let usual = quantile(&sorted(&raw), 0.5);
        let measurable = usual > 0.0 && raw.iter().all(|distance| distance.is_finite());
        measurable.then(|| raw.iter().map(|distance| distance / usual).collect())
    };
    let farthest = |values: &Vec<f64>| Some(distances(values)?.into_iter().fold(0.0, f64::max));
    let replicated: Option<Vec<f64>> = replication.replicas.iter().map(farthest).collect();
    let limit = BEYOND * replicated?.into_iter().reduce(f64::max)?;
    let own = distances(seen)?;
    let (row, most) = own.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
    // A row that the farthest one pulls away from its prediction is not itself an outlier.
    let limit = limit.max(PULLED * most);
    let count = own.iter().filter(|distance| **distance > limit).count() as u64;
    (count > 0).then(|| Outliers {
        count,
        farthest: [seen[row], centers[row], sds[row]],
    })
}
