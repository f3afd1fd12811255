//! log p(D, z) of many points, on all rows.

use super::Subject;
use crate::difference_estimator::Estimator;
use crate::error::TrainError;
use crate::expansion::LogPrior;
use crate::likelihood::Likelihoods;
use crate::run::Run;
use lehr_rows::{LANES, RowsError};

/// Evaluates log p(D, z) for any z, on all rows, wherever they are stored.
pub(super) struct Joint<'a> {
    subject: &'a Subject<'a>,
    prior: LogPrior,
    rows: JointRows<'a>,
}

/// The rows of the evaluation.
enum JointRows<'a> {
    All(Likelihoods<'a>),
    Some(Estimator<'a>),
}

impl JointRows<'_> {
    fn of(&mut self, latents: &[f64]) -> Result<Vec<f64>, RowsError> {
        match self {
            JointRows::All(rows) => rows.of(latents),
            JointRows::Some(rows) => {
                let estimates = rows.of(latents).into_iter();
                Ok(estimates.map(|(value, _)| value).collect())
            }
        }
    }
}

impl<'a> Joint<'a> {
    pub(super) fn new(subject: &'a Subject<'a>) -> Joint<'a> {
        Joint {
            subject,
            prior: LogPrior::new(subject.density),
            rows: JointRows::All(Likelihoods::new(subject.density, subject.params)),
        }
    }

    /// Evaluates on the sampled rows that gave the weights; `None` if all rows did.
    pub(super) fn by_sample(subject: &'a Subject<'a>) -> Option<Joint<'a>> {
        let (density, params) = (subject.density, subject.params);
        let rows = Estimator::again(density, params, subject.sampling?, subject.seed);
        Some(Joint {
            rows: JointRows::Some(rows),
            ..Joint::new(subject)
        })
    }

    /// log p(D, z) of every point, one z after another; −∞ instead of NaN.
    pub(super) fn values(&mut self, points: &[f64]) -> Result<Vec<f64>, RowsError> {
        let (size, params) = (self.subject.density.latents().size(), self.subject.params);
        let mut values = Vec::with_capacity(points.len() / size);
        for part in points.chunks(LANES * size) {
            let sums = self.rows.of(part)?;
            for (z, sum) in part.chunks_exact(size).zip(sums) {
                let value = self.prior.at(z, params).0 + sum;
                values.push(if value.is_nan() {
                    f64::NEG_INFINITY
                } else {
                    value
                });
            }
        }
        Ok(values)
    }
}

/// log p(D, z) of every point, one z after another; −∞ instead of NaN.
///
/// # Errors
/// If the observer stops the fit.
pub(super) fn log_joint(
    subject: &Subject<'_>,
    points: &[f64],
    run: &mut Run<'_>,
) -> Result<Vec<f64>, TrainError> {
    let size = subject.density.latents().size();
    let mut joint = Joint::new(subject);
    let count = points.len() / size;
    let mut values = Vec::with_capacity(count);
    for part in points.chunks(LANES * size) {
        values.extend(joint.values(part)?);
        run.tell_count(values.len(), "points", count)?;
    }
    Ok(values)
}
