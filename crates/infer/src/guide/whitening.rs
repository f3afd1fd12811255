//! Whitening: the coordinates in which a guide moves, where the Laplace approximation is simple.
//!
//! Adam's steps have the same size in all coordinates. In coordinates where the posterior has a
//! scale of about one in every direction, that size is right for all of them, however
//! ill-conditioned the latents are.

use std::sync::Arc;

use faer::Mat;
use lehr_density::Density;
use lehr_graph::Expr;
use lehr_numeric::dense::cholesky;
use serde::{Deserialize, Serialize};

use super::{Context, LOG_SCALE, LearnedBlocks, MEAN};

/// z = shift + F w, with F fixed before training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Whitening {
    /// w is z itself.
    Identity,
    /// F is diagonal: independence in w is independence in z.
    Diagonal {
        /// z at w = 0.
        shift: Arc<[f64]>,
        /// The diagonal of F.
        scale: Arc<[f64]>,
    },
    /// F is lower triangular.
    Dense {
        /// z at w = 0.
        shift: Arc<[f64]>,
        /// F in row-major order.
        factor: Arc<[f64]>,
    },
}

/// A model, and the coordinates in which a guide or a chain moves.
#[derive(Clone, Copy)]
pub struct WhitenedDensity<'a> {
    /// The model and its rows.
    pub density: &'a dyn Density,
    /// z = shift + F w
    pub whitening: &'a Whitening,
    /// θ if it is held fixed, as under chains; empty for a guide, which learns it.
    pub params: &'a [f64],
}

impl<'a> WhitenedDensity<'a> {
    /// A model without θ, or with θ that is learned.
    pub fn new(density: &'a dyn Density, whitening: &'a Whitening) -> WhitenedDensity<'a> {
        WhitenedDensity {
            density,
            whitening,
            params: &[],
        }
    }
}

impl Whitening {
    /// z at the coordinates w.
    pub(crate) fn latents<'g>(&self, context: &Context<'g, '_>, w: Expr<'g>) -> Expr<'g> {
        match self {
            Whitening::Identity => w,
            Whitening::Diagonal { shift, scale } => {
                let size = shift.len();
                let scale = context.fixed("frame_scale", [size], scale);
                context.fixed("frame_shift", [size], shift) + scale * w
            }
            Whitening::Dense { shift, factor } => {
                let size = shift.len();
                let factor = context.fixed("frame_factor", [size, size], factor);
                context.fixed("frame_shift", [size], shift) + factor.dot(w)
            }
        }
    }

    /// F w
    pub(crate) fn spread(&self, w: &[f64]) -> Vec<f64> {
        match self {
            Whitening::Identity => w.to_vec(),
            Whitening::Diagonal { scale, .. } => scale.iter().zip(w).map(|(s, w)| s * w).collect(),
            Whitening::Dense { factor, .. } => {
                let rows = factor.chunks_exact(w.len());
                let along = |row: &[f64]| row.iter().zip(w).map(|(f, w)| f * w).sum();
                rows.map(along).collect()
            }
        }
    }

    /// z at the coordinates w.
    pub(crate) fn at(&self, w: &[f64]) -> Vec<f64> {
        let mut z = self.spread(w);
        if let Whitening::Diagonal { shift, .. } | Whitening::Dense { shift, .. } = self {
            z.iter_mut().zip(shift.iter()).for_each(|(z, s)| *z += s);
        }
        z
    }

    /// z at w = 0, unless w is z itself.
    pub(crate) fn shift(&self) -> Option<&[f64]> {
        match self {
            Whitening::Identity => None,
            Whitening::Diagonal { shift, .. } | Whitening::Dense { shift, .. } => Some(shift),
        }
    }

    /// Fᵀ g: slopes in w from slopes in z.
    pub(crate) fn pulled(&self, slope: &[f64]) -> Vec<f64> {
        let Whitening::Dense { factor, .. } = self else {
            return self.spread(slope);
        };
        let size = slope.len();
        let mut pulled = vec![0.0; size];
        for (row, slope) in factor.chunks_exact(size).zip(slope) {
            let entries = pulled.iter_mut().zip(row);
            entries.for_each(|(to, entry)| *to += entry * slope);
        }
        pulled
    }

    /// F as a matrix.
    pub(crate) fn factor(&self, size: usize) -> Mat<f64> {
        match self {
            Whitening::Identity => Mat::identity(size, size),
            Whitening::Diagonal { scale, .. } => {
                Mat::from_fn(size, size, |i, j| if i == j { scale[i] } else { 0.0 })
            }
            Whitening::Dense { factor, .. } => {
                Mat::from_fn(size, size, |i, j| factor[i * size + j])
            }
        }
    }

    /// w at the latents z: the inverse map.
    pub(crate) fn coordinates(&self, z: &[f64]) -> Vec<f64> {
        match self {
            Whitening::Identity => z.to_vec(),
            Whitening::Diagonal { shift, scale } => {
                let each = z.iter().zip(shift.iter()).zip(scale.iter());
                each.map(|((z, shift), scale)| (z - shift) / scale)
                    .collect()
            }
            Whitening::Dense { shift, factor } => {
                let mut w = Vec::with_capacity(z.len());
                for (row, (z, shift)) in factor.chunks_exact(z.len()).zip(z.iter().zip(&**shift)) {
                    let known: f64 = row.iter().zip(&w).map(|(f, w): (&f64, &f64)| f * w).sum();
                    w.push((z - shift - known) / row[w.len()]);
                }
                w
            }
        }
    }

    /// The whitening of these draws of z, one after another: mean zero and unit scale, with
    /// correlations if there are enough draws to estimate them.
    pub(crate) fn of_draws(draws: &[f64], size: usize) -> Whitening {
        const DRAWS_PER_LATENT: usize = 8;
        let count = draws.len() / size;
        let mut columns: Vec<Vec<f64>> = (0..size)
            .map(|k| draws.iter().skip(k).step_by(size).copied().collect())
            .collect();
        let mut shift = Vec::with_capacity(size);
        for column in &mut columns {
            let mean = column.iter().sum::<f64>() / count as f64;
            for z in column.iter_mut() {
                *z -= mean;
            }
            shift.push(mean);
        }
        let product = |i: usize, j: usize| {
            let pairs = columns[i].iter().zip(&columns[j]);
            pairs.map(|(a, b)| a * b).sum::<f64>() / count as f64
        };
        let shift: Arc<[f64]> = shift.into();
        if count >= DRAWS_PER_LATENT * size {
            let mut covariance = vec![0.0; size * size];
            for i in 0..size {
                for j in 0..=i {
                    covariance[i * size + j] = product(i, j);
                    covariance[j * size + i] = covariance[i * size + j];
                }
            }
            if let Some(factor) = cholesky(&covariance, size) {
                let factor = factor.values.into();
                return Whitening::Dense { shift, factor };
            }
        }
        let scale = (0..size).map(|k| Some(product(k, k).sqrt()).filter(|s| *s > 0.0));
        Whitening::Diagonal {
            scale: scale.map(|s| s.unwrap_or(1.0)).collect(),
            shift,
        }
    }

    /// ln |det F|
    pub fn log_volume(&self) -> f64 {
        match self {
            Whitening::Identity => 0.0,
            Whitening::Diagonal { scale, .. } => scale.iter().map(|s| s.ln()).sum(),
            Whitening::Dense { shift, factor } => {
                let size = shift.len();
                (0..size).map(|i| factor[i * size + i].abs().ln()).sum()
            }
        }
    }

    /// Starts the base of a guide at the approximation from which the whitening was made: w ~ N(0,
    /// 1).
    pub fn start(&self, learned: &mut LearnedBlocks) {
        if matches!(self, Whitening::Identity) {
            return;
        }
        for name in [MEAN, LOG_SCALE] {
            if let Some(range) = learned.range_of(name) {
                learned.values[range].fill(0.0);
            }
        }
    }
}
