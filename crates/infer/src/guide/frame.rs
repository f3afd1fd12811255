//! The coordinates in which a guide moves: those in which the Laplace approximation is simple.
//!
//! Adam's steps have one size for all coordinates. In a frame where the posterior has a scale
//! of about one in every direction that size is right for all of them, however
//! ill-conditioned the latents are among themselves.

use std::sync::Arc;

use lehr_density::Density;
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use super::{Context, LOG_SCALE, Learned, MEAN};

/// z = shift + F w, with F fixed before training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Frame {
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

/// A model, and the coordinates in which a guide of it moves.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The model and its rows.
    pub density: &'a dyn Density,
    /// The coordinates.
    pub frame: &'a Frame,
}

impl Frame {
    /// z at the coordinates w.
    pub(crate) fn latents<'g>(&self, context: &Context<'g, '_>, w: Expr<'g>) -> Expr<'g> {
        match self {
            Frame::Identity => w,
            Frame::Diagonal { shift, scale } => {
                let size = shift.len();
                let scale = context.fixed("frame_scale", [size], scale);
                context.fixed("frame_shift", [size], shift) + scale * w
            }
            Frame::Dense { shift, factor } => {
                let size = shift.len();
                let factor = context.fixed("frame_factor", [size, size], factor);
                context.fixed("frame_shift", [size], shift) + factor.dot(w)
            }
        }
    }

    /// F w
    pub(crate) fn spread(&self, w: &[f64]) -> Vec<f64> {
        match self {
            Frame::Identity => w.to_vec(),
            Frame::Diagonal { scale, .. } => scale.iter().zip(w).map(|(s, w)| s * w).collect(),
            Frame::Dense { factor, .. } => {
                let rows = factor.chunks_exact(w.len());
                let along = |row: &[f64]| row.iter().zip(w).map(|(f, w)| f * w).sum();
                rows.map(along).collect()
            }
        }
    }

    /// ln |det F|
    pub fn log_volume(&self) -> f64 {
        match self {
            Frame::Identity => 0.0,
            Frame::Diagonal { scale, .. } => scale.iter().map(|s| s.ln()).sum(),
            Frame::Dense { shift, factor } => {
                let size = shift.len();
                (0..size).map(|i| factor[i * size + i].abs().ln()).sum()
            }
        }
    }

    /// Puts the base of a guide on the approximation the frame was made of: w ~ N(0, 1).
    pub fn start(&self, learned: &mut Learned) {
        if matches!(self, Frame::Identity) {
            return;
        }
        for name in [MEAN, LOG_SCALE] {
            if let Some(range) = learned.range_of(name) {
                learned.values[range].fill(0.0);
            }
        }
    }
}
