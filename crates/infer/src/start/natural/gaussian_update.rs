//! The update of a Gaussian in a natural-gradient step: one factorisation in coordinates where it
//! is standard normal.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par, Spec};
use lehr_numeric::vector::dot;
use serde::{Deserialize, Serialize};

/// How often ρ is halved until the precision is positive definite.
const HALVINGS: usize = 20;

/// The Gaussian and θ during the iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NaturalState {
    /// μ, without latents that all rows share.
    pub mean: Vec<f64>,
    /// The columns of F one after another, S = FFᵀ.
    pub directions: Vec<f64>,
    /// ln |det F|
    pub log_volume: f64,
    /// θ, then the latents that all rows share.
    pub learned: Vec<f64>,
}

/// The input of a step: N/B E ℓ′ and N/B E ℓ″ of each row of the batch, the prior's slope, and for
/// each direction the rows' change of predictor and the prior's change of slope.
pub(super) struct StepInputs<'a> {
    pub(super) slopes: &'a [f64],
    pub(super) curves: &'a [f64],
    pub(super) prior_slope: &'a [f64],
    pub(super) along: &'a [f64],
    pub(super) turned: &'a [f64],
}

/// Memory of a step, for this many latents and rows.
pub(super) struct GaussianUpdate {
    /// The rows' changes times their curvatures.
    scaled: Vec<f64>,
    /// Fᵀ(−∇²)F, of which the lower half is kept.
    whole: Mat<f64>,
    factor: Mat<f64>,
    /// C⁻¹D
    next: Vec<f64>,
    /// Fᵀ∇, then C⁻¹Fᵀ∇
    slope: Vec<f64>,
    white: Vec<f64>,
    memory: MemBuffer,
}

impl GaussianUpdate {
    pub(super) fn new(size: usize, batch: usize) -> GaussianUpdate {
        GaussianUpdate {
            scaled: vec![0.0; size * batch],
            whole: Mat::zeros(size, size),
            factor: Mat::zeros(size, size),
            next: vec![0.0; size * size],
            slope: vec![0.0; size],
            white: vec![0.0; size],
            memory: MemBuffer::new(cholesky_in_place_scratch::<f64>(
                size,
                Par::Seq,
                Spec::default(),
            )),
        }
    }

    /// Moves by a share of the step, or by half of it as often as needed; `None` if nothing leads
    /// to a Gaussian. With D = Fᵀ and CCᵀ = (1−ρ)I + ρFᵀ(−∇²)F the new D is C⁻¹D, and μ moves by
    /// ρDᵀC⁻¹Fᵀ∇.
    pub(super) fn advance(
        &mut self,
        state: &mut NaturalState,
        seen: &StepInputs<'_>,
        mut share: f64,
    ) -> Option<()> {
        self.look(state, seen);
        for _ in 0..HALVINGS {
            if self.factorise(share) {
                self.take(state, share);
                return Some(());
            }
            share *= 0.5;
        }
        None
    }

    /// The slope and −∇² along the directions.
    fn look(&mut self, state: &NaturalState, seen: &StepInputs<'_>) {
        let (size, batch) = (state.mean.len(), seen.slopes.len());
        let rows = self.scaled.chunks_exact_mut(batch);
        for (scaled, along) in rows.zip(seen.along.chunks_exact(batch)) {
            let values = along.iter().zip(seen.curves);
            for (scaled, (along, curve)) in scaled.iter_mut().zip(values) {
                *scaled = along * curve;
            }
        }
        let directions = MatRef::from_row_major_slice(&state.directions, size, size);
        let turned = MatRef::from_row_major_slice(seen.turned, size, size);
        let along = MatRef::from_row_major_slice(seen.along, size, batch);
        let scaled = MatRef::from_row_major_slice(&self.scaled, size, batch);
        let (all, lower) = (BlockStructure::Rectangular, BlockStructure::TriangularLower);
        let mut add = |accumulate, a: MatRef<'_, f64>, b: MatRef<'_, f64>| {
            let to = self.whole.as_mut();
            matmul(
                to,
                lower,
                accumulate,
                a,
                all,
                b.transpose(),
                all,
                -1.0,
                Par::Seq,
            );
        };
        add(Accum::Replace, directions, turned);
        add(Accum::Add, scaled, along);
        let rows = state
            .directions
            .chunks_exact(size)
            .zip(seen.along.chunks_exact(batch));
        for (slope, (direction, along)) in self.slope.iter_mut().zip(rows) {
            *slope = dot(direction, seen.prior_slope) + dot(along, seen.slopes);
        }
    }

    /// Computes C; returns whether it exists.
    fn factorise(&mut self, share: f64) -> bool {
        let size = self.slope.len();
        for j in 0..size {
            let whole = &self.whole.col_as_slice(j)[j..];
            let factor = &mut self.factor.col_as_slice_mut(j)[j..];
            for (factor, whole) in factor.iter_mut().zip(whole) {
                *factor = share * whole;
            }
            factor[0] += 1.0 - share;
        }
        let done = cholesky_in_place(
            self.factor.as_mut(),
            LltRegularization::default(),
            Par::Seq,
            MemStack::new(&mut self.memory),
            Spec::default(),
        );
        done.is_ok() && (0..size).all(|i| self.factor[(i, i)].is_finite())
    }

    fn take(&mut self, state: &mut NaturalState, share: f64) {
        let size = self.slope.len();
        self.next.copy_from_slice(&state.directions);
        self.white.copy_from_slice(&self.slope);
        let next = MatMut::from_row_major_slice_mut(&mut self.next, size, size);
        solve_lower_triangular_in_place(self.factor.as_ref(), next, Par::Seq);
        let white = MatMut::from_column_major_slice_mut(&mut self.white, size, 1);
        solve_lower_triangular_in_place(self.factor.as_ref(), white, Par::Seq);
        for (direction, white) in self.next.chunks_exact(size).zip(&self.white) {
            for (mean, direction) in state.mean.iter_mut().zip(direction) {
                *mean += share * white * direction;
            }
        }
        std::mem::swap(&mut state.directions, &mut self.next);
        let logs = (0..size).map(|i| self.factor[(i, i)].ln());
        state.log_volume -= logs.sum::<f64>();
    }
}
