//! Rows to predict, and effects for groups that were not fitted.

use lehr_model::Bound;

/// The model on rows to predict.
#[derive(Clone, Debug)]
pub struct NewRows {
    bound: Bound,
}

impl NewRows {
    /// The density of these rows. Its latents are [`NewRows::latents`] of the fitted ones.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// A flat draw of the fitted model as one of this model: the effects of unseen groups are
    /// drawn, the same for the same group and `seed` in whatever table it occurs. Use another
    /// seed for each draw.
    pub fn latents(&self, fitted: &[f64], seed: u64) -> Vec<f64> {
        let _ = (fitted, seed);
        todo!()
    }

    /// The unseen groups, as `site[north]`.
    pub fn unseen(&self) -> Vec<String> {
        todo!()
    }

    /// Whether the table had the response, so that the density is that of real rows.
    pub fn has_response(&self) -> bool {
        todo!()
    }
}
