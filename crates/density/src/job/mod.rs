//! Jobs over all rows that read nothing of a model but its log likelihood.

mod gradient;
mod hessian_products;
mod log_likelihood;
mod store;

pub use gradient::{GradientSum, LikelihoodGradient};
pub use hessian_products::HessianProducts;
pub use log_likelihood::LogLikelihood;
pub use store::{all_rows, local_rows};

use lehr_rows::RowsError;

use crate::Density;

/// Adds the entries of an array.
fn add(into: &mut [f64], more: &[f64]) {
    into.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}

/// Checks that a message fits the model for which it is read.
fn check_sizes(density: &dyn Density, latents: usize, params: usize) -> Result<(), RowsError> {
    let expected = [density.latents().size(), density.params().size()];
    if [latents, params] == expected {
        return Ok(());
    }
    Err(RowsError::Lost(format!(
        "rows: expected a message about {} latents and {} parameters, found one about {latents} and {params}\n  \
         hint: give workers the model of the fit",
        expected[0], expected[1]
    )))
}
