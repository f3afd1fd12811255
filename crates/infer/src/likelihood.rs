//! Passes over all rows, and the log likelihoods of given points.

use lehr_density::Density;
use lehr_density::job::{LogLikelihood, all_rows};
use lehr_rows::{RowJob, RowStore, fold};

/// The result of a job on all rows of a store. If rows cannot be reached, the fit ends
/// ([`RowsError::unwind`]), because no caller could continue without them.
pub(crate) fn fold_rows<J: RowJob>(rows: &dyn RowStore, job: &J) -> J::Partial {
    fold(rows, job).unwrap_or_else(|error| error.unwind())
}

/// The log likelihood of any z on all rows, with θ fixed, a few z at a time.
pub(crate) struct Likelihoods<'d> {
    density: &'d dyn Density,
    rows: Box<dyn RowStore + 'd>,
    params: &'d [f64],
}

impl<'d> Likelihoods<'d> {
    pub(crate) fn new(density: &'d dyn Density, params: &'d [f64]) -> Likelihoods<'d> {
        Likelihoods {
            density,
            rows: all_rows(density),
            params,
        }
    }

    /// Σ log p(yₙ | z, xₙ) for several z, which are stored one after another.
    pub(crate) fn of(&self, latents: &[f64]) -> Vec<f64> {
        let job = LogLikelihood::new(self.density, latents, self.params);
        fold_rows(&*self.rows, &job.in_full_lanes())
    }
}
