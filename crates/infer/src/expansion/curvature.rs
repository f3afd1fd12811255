//! First and second derivatives at the centre of a fit, and the Laplace approximation from them.

use std::convert::Infallible;

use lehr_density::job::{HessianProducts, LikelihoodGradient, all_rows};
use lehr_density::{Density, Layout};
use lehr_numeric::dense::{CholeskyFactor, cholesky, inverse_factor};
use lehr_numeric::hessian::{hessian_columns, symmetrise_matrix};
use lehr_rows::{RowStore, RowsError, fold};

use super::ExpansionPoint;
use super::expansion_point::first_scales;
use super::prior::PriorProducts;
use crate::guide::Whitening;

/// Above this many latents the Hessian is not computed.
pub const MAX_DENSE: usize = 2000;

/// Directions per pass over the rows.
const DIRECTIONS: usize = 16;

/// First and second derivatives of the log likelihood and the prior at a centre.
#[derive(Clone, Debug)]
pub struct Curvature {
    /// Σ log p(yₙ | z*)
    pub log_likelihood: f64,
    /// Its gradient.
    pub gradient: Vec<f64>,
    /// Its Hessian, row-major.
    pub hessian: Vec<f64>,
    /// The Hessian of the log prior.
    pub prior_hessian: Vec<f64>,
}

impl ExpansionPoint {
    /// Slopes and curvature at the centre, by one pass per few directions.
    ///
    /// # Errors
    /// If rows cannot be reached.
    pub fn curvature(&self, density: &dyn Density) -> Result<Curvature, RowsError> {
        self.curvature_by(density, &*all_rows(density))
    }

    /// The same with any service that sums over the rows.
    pub(crate) fn curvature_by(
        &self,
        density: &dyn Density,
        rows: &dyn RowStore,
    ) -> Result<Curvature, RowsError> {
        let size = self.latents.len();
        let job = LikelihoodGradient::new(density, &self.latents, &self.params);
        let sums = fold(rows, &job)?;
        let lanes = DIRECTIONS.min(size.max(1));
        let at = (&self.latents[..], &self.params[..]);
        let hessian = hessian_columns(size, lanes, |directions| {
            fold(rows, &HessianProducts::new(density, at, directions))
        })?;
        Ok(Curvature {
            log_likelihood: sums.value,
            gradient: sums.latents,
            hessian: symmetrise_matrix(hessian, size),
            prior_hessian: symmetrise_matrix(self.prior_hessian(density, lanes), size),
        })
    }

    fn prior_hessian(&self, density: &dyn Density, lanes: usize) -> Vec<f64> {
        let mut products = PriorProducts::new((&self.latents, &self.params), density, lanes);
        let Ok(hessian) = hessian_columns(self.latents.len(), lanes, |directions| {
            Ok::<_, Infallible>(products.run(directions).to_vec())
        });
        hessian
    }
}

impl Curvature {
    /// Λ = −∇² log p(D, z*), the precision of the Laplace approximation.
    pub fn precision(&self) -> Vec<f64> {
        self.hessian
            .iter()
            .zip(&self.prior_hessian)
            .map(|(h, p)| -(h + p))
            .collect()
    }

    /// A lower factor F with F Fᵀ = Λ⁻¹; `None` if the curvature is not that of a maximum.
    pub fn factor(&self) -> Option<CholeskyFactor> {
        let size = self.gradient.len();
        inverse_factor(&cholesky(&self.precision(), size)?)
    }

    /// The whitening by a correlated Gaussian; `None` if the curvature is not that of a maximum. No
    /// latent is wider than twice its known width, if there is one: the curvature at a single point
    /// may be nearly zero although it is not around that point.
    pub fn dense_whitening(
        &self,
        centre: &ExpansionPoint,
        widths: Option<&[f64]>,
    ) -> Option<Whitening> {
        const WIDEST: f64 = 2.0;
        let mut factor = self.factor()?;
        let rows = factor.values.chunks_mut(factor.size);
        for (row, most) in rows.zip(widths.unwrap_or_default()) {
            let width = row.iter().map(|entry| entry * entry).sum::<f64>().sqrt();
            let share = (WIDEST * most / width).min(1.0);
            for entry in row {
                *entry *= share;
            }
        }
        Some(Whitening::Dense {
            shift: centre.latents.as_slice().into(),
            factor: factor.values.into(),
        })
    }

    /// The whitening for independent latents: scales Λᵢᵢ^(−½), those of the best independent
    /// Gaussian; one if the curvature is not that of a maximum.
    pub fn diagonal_whitening(&self, centre: &ExpansionPoint, latents: &Layout) -> Whitening {
        let size = self.gradient.len();
        let precision = self.precision();
        let diagonal: Vec<f64> = (0..size).map(|i| precision[i * (size + 1)]).collect();
        Whitening::Diagonal {
            shift: centre.latents.as_slice().into(),
            scale: first_scales(latents, &diagonal).into(),
        }
    }

    /// The Laplace approximation of the log evidence.
    pub fn log_evidence(&self, centre: &ExpansionPoint) -> Option<f64> {
        let size = self.gradient.len();
        let factor = self.factor()?;
        let volume = factor.log_volume();
        let constant = crate::guide::HALF_LN_TWO_PI * size as f64;
        Some(centre.log_joint + constant + volume)
    }
}
