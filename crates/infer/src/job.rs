//! The table of jobs over all rows, by which another process finds a job by its name.

use lehr_density::Density;
use lehr_density::job::{HessianProducts, LikelihoodGradient, LogLikelihood};
use lehr_rows::{AnyJob, RowJob, RowsError};

use crate::condensed::QrReduction;
use lehr_mixed::GroupSumsJob;

/// A job that can be sent to another process.
pub struct JobInfo {
    /// The name of the job.
    pub name: &'static str,
    /// Reads a message of the job, for a model of the same program.
    read: for<'d> fn(&'d dyn Density, &[u8]) -> Read<'d>,
}

type Read<'d> = Result<Box<dyn AnyJob + 'd>, RowsError>;

/// All jobs.
pub const JOBS: &[JobInfo] = &[
    JobInfo {
        name: LogLikelihood::NAME,
        read: |density, message| Ok(Box::new(LogLikelihood::read(density, message)?)),
    },
    JobInfo {
        name: LikelihoodGradient::NAME,
        read: |density, message| Ok(Box::new(LikelihoodGradient::read(density, message)?)),
    },
    JobInfo {
        name: HessianProducts::NAME,
        read: |density, message| Ok(Box::new(HessianProducts::read(density, message)?)),
    },
    JobInfo {
        name: QrReduction::NAME,
        read: |density, _| Ok(Box::new(QrReduction::read(density)?)),
    },
    JobInfo {
        name: GroupSumsJob::NAME,
        read: |density, message| Ok(Box::new(GroupSumsJob::read(density, message)?)),
    },
];

/// Reads the job of this name from a message, for a model.
///
/// # Errors
/// If there is no such job, or the message does not belong to it.
pub fn read_job<'d>(density: &'d dyn Density, name: &str, message: &[u8]) -> Read<'d> {
    let known = JOBS.iter().find(|job| job.name == name);
    let job = known.ok_or_else(|| {
        RowsError::Lost(format!(
            "rows: expected a job that this version knows, found {name:?}\n  hint: install the same version on \
             every node"
        ))
    })?;
    (job.read)(density, message)
}
