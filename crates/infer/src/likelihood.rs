//! The log likelihood of many z on all rows, a block of lanes at a time.

use lehr_density::Density;

use crate::full_data::{AllRows, FullData, Query};
use lehr_rows::LANES;

/// The log likelihood of any z on all rows, with θ fixed.
pub(crate) struct Likelihoods<'d> {
    rows: AllRows<'d>,
    params: &'d [f64],
    size: usize,
    /// z of every lane; unused lanes keep their values.
    block: Vec<f64>,
}

impl<'d> Likelihoods<'d> {
    pub(crate) fn new(density: &'d dyn Density, params: &'d [f64]) -> Likelihoods<'d> {
        let size = density.latents().size();
        Likelihoods {
            rows: AllRows::of(density),
            params,
            size,
            block: vec![0.0; LANES * size],
        }
    }

    /// Σ log p(yₙ | z, xₙ) of up to [`LANES`] z, one after another.
    pub(crate) fn of(&mut self, latents: &[f64]) -> Vec<f64> {
        self.block[..latents.len()].copy_from_slice(latents);
        let query = Query::LogLikelihood { lanes: LANES };
        let sums = self.rows.sum(query, &[&self.block, self.params]);
        // A likelihood that does not depend on z is the same for every lane.
        let count = latents.len() / self.size.max(1);
        sums[0].iter().copied().cycle().take(count).collect()
    }
}
