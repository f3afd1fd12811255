//! Jobs over all rows that use only the log likelihood of a model.

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

/// Adds an array entry by entry.
fn add(into: &mut [f64], more: &[f64]) {
    into.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}

/// Checks that the sizes in a message are those of the model.
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
