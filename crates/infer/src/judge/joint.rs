//! log p(D, z) of many points, on all rows.

use super::Subject;
use crate::likelihood::{LANES, Likelihoods};
use crate::observer::{End, Progress};
use crate::run::Run;
use crate::start::Prior;
use crate::train::TrainError;

/// log p(D, z) of every point, one z after another; −∞ where it is not a number.
///
/// # Errors
/// If somebody wants to stop.
pub(super) fn log_joint(
    subject: &Subject<'_>,
    points: &[f64],
    run: &mut Run<'_>,
) -> Result<Vec<f64>, TrainError> {
    let size = subject.density.latents().size();
    let mut prior = Prior::new(subject.density);
    let mut likelihoods = Likelihoods::new(subject.density, subject.params);
    let count = points.len() / size;
    let mut values = Vec::with_capacity(count);
    for part in points.chunks(LANES * size) {
        let sums = likelihoods.of(part);
        for (z, sum) in part.chunks_exact(size).zip(sums) {
            let value = prior.at(z, subject.params).0 + sum;
            values.push(if value.is_nan() {
                f64::NEG_INFINITY
            } else {
                value
            });
        }
        let end = End::At(count as u64);
        run.tell(&Progress::counted(values.len() as u64, "points", end))?;
    }
    Ok(values)
}
