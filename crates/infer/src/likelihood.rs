//! The log likelihoods of given points on all rows.

use lehr_density::Density;
use lehr_density::job::{LogLikelihood, all_rows};
use lehr_rows::{RowStore, RowsError, fold};

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
    pub(crate) fn of(&self, latents: &[f64]) -> Result<Vec<f64>, RowsError> {
        let job = LogLikelihood::new(self.density, latents, self.params);
        fold(&*self.rows, &job.in_full_lanes())
    }
}
