//! The remainder of the log likelihood of all rows after that of some rows, to second order at the
//! mode.

use std::sync::Arc;

use faer::{Mat, Side};
use lehr_density::Point;
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::expansion::Expansion;
use crate::expansion::Mode;
use crate::guide::{Context, Whitening};

/// δg·(z − z*) + ½(z − z*)ᵀδH(z − z*)
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Quadratic {
    /// z*
    mode: Arc<[f64]>,
    /// δg
    slope: Arc<[f64]>,
    /// δH, D × D or its diagonal.
    curvature: Arc<[f64]>,
}

impl Quadratic {
    /// The gradient and Hessian of all rows less those of some rows, whose Hessian may be only a
    /// diagonal.
    pub(crate) fn left(mode: &Mode, own: &Expansion) -> Quadratic {
        let whole = if own.hessian.len() == mode.hessian.len() {
            mode.hessian.clone()
        } else {
            mode.diagonal()
        };
        let rest = |whole: &[f64], own: &[f64]| whole.iter().zip(own).map(|(a, b)| a - b).collect();
        Quadratic {
            mode: mode.latents.as_slice().into(),
            slope: rest(&mode.gradient, &own.gradient),
            curvature: rest(&whole, &own.hessian),
        }
    }

    /// The gradient and the Hessian of all rows.
    pub(crate) fn of(mode: &Mode) -> Quadratic {
        Quadratic {
            mode: mode.latents.as_slice().into(),
            slope: mode.gradient.as_slice().into(),
            curvature: mode.hessian.as_slice().into(),
        }
    }

    /// How many latents there are.
    pub(crate) fn size(&self) -> usize {
        self.mode.len()
    }

    /// Whether the parts have the required lengths.
    pub(crate) fn is_whole(&self) -> bool {
        let size = self.size();
        self.slope.len() == size && [size, size * size].contains(&self.curvature.len())
    }

    /// Its value at a point.
    pub(crate) fn term<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let size = self.size();
        let offset = at.latents - context.fixed("surrogate_mode", [size], &self.mode);
        let slope = context.fixed("surrogate_slope", [size], &self.slope);
        let pulled = if self.curvature.len() == size {
            context.fixed("surrogate_curvature", [size], &self.curvature) * offset
        } else {
            let matrix = context.fixed("surrogate_curvature", [size, size], &self.curvature);
            matrix.dot(offset)
        };
        (offset * (slope + 0.5 * pulled)).sum()
    }

    /// The same without directions along which it grows, and the number of those: the eigenvalues
    /// of FᵀδH F are truncated at zero, where F is the whitening. Otherwise it could outgrow the
    /// prior.
    pub(crate) fn clipped(self, whitening: &Whitening) -> (Quadratic, usize) {
        let size = self.size();
        if self.curvature.len() != size * size {
            let grows = |entry: &&f64| **entry > 0.0;
            let count = self.curvature.iter().filter(grows).count();
            let curvature = self.curvature.iter().map(|entry| entry.min(0.0)).collect();
            return (Quadratic { curvature, ..self }, count);
        }
        match cut_off(&self.curvature, &whitening.factor(size)) {
            Some((curvature, count)) => (Quadratic { curvature, ..self }, count),
            None => (self, 0),
        }
    }
}

/// H less the positive part of FᵀH F, and the number of its directions; `None` if there are none.
/// Positive eigenvalues at the level of rounding are kept.
fn cut_off(hessian: &[f64], factor: &Mat<f64>) -> Option<(Arc<[f64]>, usize)> {
    const ROUNDING: f64 = 1e-9;
    let size = factor.nrows();
    let full = Mat::from_fn(size, size, |i, j| hessian[i * size + j]);
    let inside = factor.transpose() * &full * factor;
    let eigen = inside.self_adjoint_eigen(Side::Lower).ok()?;
    let values: Vec<f64> = (0..size).map(|k| eigen.S()[k]).collect();
    let largest = values
        .iter()
        .fold(1.0_f64, |most, value| most.max(value.abs()));
    let over = |k: usize| values[k] > ROUNDING * largest;
    let count = (0..size).filter(|k| over(*k)).count();
    if count == 0 {
        return None;
    }
    // FᵀE F = U S⁺ Uᵀ is removed, so E = F⁻ᵀU S⁺ UᵀF⁻¹.
    let mut back = Mat::from_fn(size, size, |i, j| eigen.U()[(i, j)]);
    factor
        .transpose()
        .solve_upper_triangular_in_place(back.as_mut());
    let excess = |i: usize, j: usize| -> f64 {
        let along = (0..size).filter(|k| over(*k));
        along.map(|k| back[(i, k)] * values[k] * back[(j, k)]).sum()
    };
    let kept = (0..size * size).map(|at| hessian[at] - excess(at / size, at % size));
    Some((kept.collect(), count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_that_grow_are_cut_off_in_the_frame() {
        // FᵀH F = diag(3, −2) with F = [[1, 0], [1, 2]].
        let factor = Mat::from_fn(2, 2, |i, j| [[1.0, 0.0], [1.0, 2.0]][i][j]);
        let hessian = [2.5, 0.5, 0.5, -0.5];
        let (kept, count) = cut_off(&hessian, &factor).unwrap();
        let expected = [-0.5, 0.5, 0.5, -0.5];
        assert_eq!(count, 1);
        for (found, expected) in kept.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{kept:?}");
        }
        assert!(cut_off(&kept, &factor).is_none());
    }
}
