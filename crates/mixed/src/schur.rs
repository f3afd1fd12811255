//! The Cholesky factor of the effects' precision. The largest block A is eliminated group by group. S
//! is the Schur complement of the rest R:
//!
//! ```text
//! D_g = h Σ ω z zᵀ + P_A = L_g L_gᵀ      V_g = L_g⁻¹ h Σ ω z rᵀ
//! S   = h Σ ω r rᵀ + P_R − Σ_g V_gᵀV_g = L Lᵀ
//! ```

use std::sync::Arc;

use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{MatMut, MatRef, Par};
use lehr_numeric::dense::{blocked, small};
use lehr_numeric::lanczos::{LANES, Probes};

use crate::conjugate_gradient::{ConjugateGradient, EliminatedBlock};
use crate::cross_products::{CrossProducts, Effects};
use crate::effect_structure::FixedEffectBlock;
use crate::elimination_order::EliminationOrder;
use crate::prior::EffectPrior;
use crate::sparse::Sparse;
use crate::tolerance::is_wide;

/// Λ = h Σ ω a aᵀ + P, factorised.
pub(crate) struct SchurFactor {
    pub(crate) order: Arc<EliminationOrder>,
    /// L_g, group after group.
    pub(crate) own: Vec<f64>,
    /// V_g, in the layout of the mixed cross products.
    pub(crate) mixed: Vec<f64>,
    /// L, column-major.
    pub(crate) lower: Vec<f64>,
    /// S⁻¹, column-major: the lower triangle.
    pub(crate) inverse: Vec<f64>,
    /// ln |Λ|
    pub(crate) log_det: f64,
    /// The iterative solver that replaces L if R is large.
    pub(crate) iterative: Option<ConjugateGradient>,
    probes: Option<Arc<Probes>>,
}

/// The matrix to factorise: Λ = h Σ ω a aᵀ + P.
#[derive(Clone, Copy)]
pub(crate) struct EffectPrecision<'a> {
    pub(crate) cross: &'a CrossProducts,
    /// h
    pub(crate) scale: f64,
    pub(crate) prior: &'a EffectPrior,
    pub(crate) common: &'a FixedEffectBlock,
}

/// A solution of Λu = c.
pub(crate) struct Solution {
    pub(crate) effects: Effects,
    /// cᵀΛ⁻¹c
    pub(crate) fitted: f64,
}

/// Σ_g (u_g u_gᵀ + cov_g) of each block: A first, the common effects last.
#[derive(Clone)]
pub(crate) struct SecondMoments(pub(crate) Vec<Vec<f64>>);

impl SecondMoments {
    /// Adds other moments.
    pub(crate) fn add(&mut self, other: &SecondMoments) {
        for (sum, more) in self.0.iter_mut().zip(&other.0) {
            small::add(sum, 1.0, more);
        }
    }
}

impl SchurFactor {
    /// A factor that does not factorise R if there are probes.
    pub(crate) fn new(order: Arc<EliminationOrder>, probes: Option<Arc<Probes>>) -> SchurFactor {
        SchurFactor {
            order,
            own: Vec::new(),
            mixed: Vec::new(),
            lower: Vec::new(),
            inverse: Vec::new(),
            log_det: 0.0,
            iterative: None,
            probes,
        }
    }

    /// Factorises anew; `None` if the matrix is not positive definite.
    pub(crate) fn refill(&mut self, of: &EffectPrecision<'_>) -> Option<()> {
        let log_own = self.eliminate(of)?;
        let log_rest = if of.cross.sparse.is_some() {
            self.refill_iterative(of)?
        } else {
            self.refill_dense(of)?
        };
        self.log_det = 2.0 * (log_own + log_rest);
        self.log_det.is_finite().then_some(())
    }

    /// L, and ½ ln |S|.
    fn refill_dense(&mut self, of: &EffectPrecision<'_>) -> Option<f64> {
        let rest = self.order.rest;
        let sums = of.cross.others.iter();
        self.lower.clear();
        self.lower.extend(sums.map(|sum| of.scale * sum));
        each_prior_entry(&self.order, of, |i, j, p| self.lower[j * rest + i] += p);
        self.subtract();
        blocked::factor_block(&mut self.lower, rest)?;
        Some(self.log_rest())
    }

    /// ½ ln |S| by probes.
    fn refill_iterative(&mut self, of: &EffectPrecision<'_>) -> Option<f64> {
        let probes = self.probes.clone()?;
        let order = &*self.order;
        let fill = |square: &mut Sparse| {
            let none = Sparse::default();
            square.scale(of.scale, of.cross.sparse.as_ref().unwrap_or(&none));
            each_prior_entry(order, of, |i, j, p| {
                if i >= j {
                    square.add(i, j, p);
                }
            });
        };
        let mixed = &self.mixed;
        let iterative = self.iterative.get_or_insert_default();
        iterative.refill(EliminatedBlock { order, mixed }, fill, &probes)
    }

    /// V of every group, if an iterative solver replaces L.
    pub(crate) fn iterative_solver(&self) -> Option<(&ConjugateGradient, EliminatedBlock<'_>)> {
        let (order, mixed) = (&*self.order, &self.mixed[..]);
        let iterative = self.iterative.as_ref()?;
        Some((iterative, EliminatedBlock { order, mixed }))
    }

    pub(crate) fn probes(&self) -> &Probes {
        self.probes.as_ref().expect("what is loose has probes")
    }

    /// The lines of V_g, one for each effect of a group of A.
    pub(crate) fn lines(&self, group: usize) -> &[f64] {
        let (width, met) = (self.order.width, self.order.met_by(group));
        &self.mixed[met.start * width..met.end * width]
    }

    /// Each line of V_g, with its columns.
    fn each_line(&self, group: usize) -> (&[u32], impl Iterator<Item = &[f64]>) {
        let columns = self.order.columns_of(group);
        let lines = self.lines(group).chunks_exact(columns.len().max(1));
        (columns, lines)
    }

    /// L_g and V_g of every group; returns Σ ln |L_g|.
    fn eliminate(&mut self, of: &EffectPrecision<'_>) -> Option<f64> {
        let (order, cross, scale) = (&*self.order, of.cross, of.scale);
        let width = order.width;
        let square = width * width;
        self.own.clear();
        self.own.extend(cross.own.iter().map(|sum| scale * sum));
        self.mixed.resize(cross.mixed.len(), 0.0);
        let mut log_det = small::LogSum::new();
        for group in 0..order.groups() {
            let own = &mut self.own[group * square..][..square];
            small::add(own, 1.0, &of.prior.blocks[0].precision);
            if is_wide(width) {
                blocked::cholesky(own, width)?;
            } else {
                small::cholesky(own, width)?;
            }
            (own.iter().step_by(width + 1)).for_each(|entry| log_det.push(*entry));
            let met = order.met[group] * width..order.met[group + 1] * width;
            let from = &cross.mixed[met.clone()];
            solve_lines(own, (from, scale), &mut self.mixed[met]);
        }
        Some(log_det.value())
    }

    /// Subtracts Σ V_gᵀV_g from S, in the lower triangle.
    fn subtract(&mut self) {
        let (rest, tail) = (self.order.rest, self.order.tail);
        let mut lower = std::mem::take(&mut self.lower);
        for group in 0..self.order.groups() {
            let (columns, lines) = self.each_line(group);
            let count = columns.len();
            for line in lines {
                for (j, vj) in line.iter().enumerate() {
                    let into = &mut lower[columns[j] as usize * rest..][..rest];
                    let own = j.max(count - tail);
                    for (column, vi) in columns[j..own].iter().zip(&line[j..]) {
                        into[*column as usize] -= vi * vj;
                    }
                    small::add(&mut into[rest - (count - own)..], -vj, &line[own..]);
                }
            }
        }
        self.lower = lower;
    }

    /// Computes S⁻¹, which covariances need, or its products with the probes; `None` if that does
    /// not converge.
    pub(crate) fn invert(&mut self) -> Option<()> {
        let (order, mixed) = (&*self.order, &self.mixed[..]);
        if let Some(iterative) = &mut self.iterative {
            return iterative.probe(EliminatedBlock { order, mixed }, self.probes.as_ref()?);
        }
        self.inverse.clear();
        self.inverse.resize(order.rest * order.rest, 0.0);
        blocked::inverse_of_factor(&self.lower, &mut self.inverse, order.rest);
        Some(())
    }

    /// Solves Λu = c.
    pub(crate) fn solve(&self, right: Effects) -> Solution {
        let mut effects = right;
        self.whiten_groups(&mut effects);
        let own = small::dot(&effects.own, &effects.own);
        let left = match self.iterative_solver() {
            None => {
                self.solve_rest(&mut effects.others, (1, Side::Lower));
                let left = small::dot(&effects.others, &effects.others);
                self.solve_rest(&mut effects.others, (1, Side::Upper));
                left
            }
            Some((iterative, by)) => {
                let right = effects.others.clone();
                if iterative.solve(by, &mut effects.others).is_none() {
                    // If the solver does not converge, the results at this point are NaN.
                    effects.others.fill(f64::NAN);
                }
                small::dot(&effects.others, &right)
            }
        };
        self.colour_groups(&mut effects);
        Solution {
            effects,
            fitted: own + left,
        }
    }

    /// Replaces c by a_g = L_g⁻¹c_g and c_R − Σ V_gᵀa_g.
    pub(crate) fn whiten_groups(&self, right: &mut Effects) {
        for (group, own) in right.own.chunks_exact_mut(self.order.width).enumerate() {
            small::solve_lower(self.own_factor(group), own);
            let (columns, lines) = self.each_line(group);
            for (line, a) in lines.zip(own) {
                for (column, v) in columns.iter().zip(line) {
                    right.others[*column as usize] -= v * *a;
                }
            }
        }
    }

    /// Replaces standard normals by draws of N(0, S⁻¹); `None` if the solver does not converge.
    pub(crate) fn colour_rest(&self, others: &mut [&mut [f64]]) -> Option<()> {
        if let Some((iterative, by)) = self.iterative_solver() {
            let mut some = others.chunks_mut(LANES);
            return some.try_for_each(|some| iterative.colour(by, some));
        }
        let mut solved = others.concat();
        self.solve_rest(&mut solved, (others.len(), Side::Upper));
        let solved = solved.chunks_exact(self.order.rest.max(1));
        let pairs = others.iter_mut().zip(solved);
        pairs.for_each(|(own, solved)| own.copy_from_slice(solved));
        Some(())
    }

    /// Replaces standard normals by draws of N(0, Λ⁻¹): u with L_gᵀu_g + V_g u_R = a_g and Lᵀu_R =
    /// t.
    pub(crate) fn colour_effects(&self, whitened: &mut [Effects]) -> Option<()> {
        let others = whitened.iter_mut().map(|one| &mut one.others[..]);
        self.colour_rest(&mut others.collect::<Vec<_>>())?;
        for one in whitened {
            self.colour_groups(one);
        }
        Some(())
    }

    /// Replaces a_g by u_g = L_g⁻ᵀ(a_g − V_g u_R).
    pub(crate) fn colour_groups(&self, found: &mut Effects) {
        let width = self.order.width;
        for (group, own) in found.own.chunks_exact_mut(width).enumerate() {
            let (columns, lines) = self.each_line(group);
            for (line, a) in lines.zip(&mut *own) {
                let terms = columns.iter().zip(line);
                let terms = terms.map(|(column, v)| v * found.others[*column as usize]);
                *a -= terms.sum::<f64>();
            }
            if is_wide(width) {
                blocked::solve_lower_transposed(self.own_factor(group), own);
            } else {
                small::solve_lower_transposed(self.own_factor(group), own);
            }
        }
    }

    /// Solves with L or Lᵀ for several right sides, one after another.
    fn solve_rest(&self, x: &mut [f64], (count, side): (usize, Side)) {
        let rest = x.len() / count.max(1);
        if rest == 0 {
            return;
        }
        let lower = MatRef::from_column_major_slice(&self.lower, rest, rest);
        let into = MatMut::from_column_major_slice_mut(x, rest, count);
        match side {
            Side::Lower => solve_lower_triangular_in_place(lower, into, Par::Seq),
            Side::Upper => solve_upper_triangular_in_place(lower.transpose(), into, Par::Seq),
        }
    }

    /// ½ ln |S|
    pub(crate) fn log_rest(&self) -> f64 {
        small::log_diagonal(&self.lower, self.order.rest)
    }

    /// L_g of a group of A.
    pub(crate) fn own_factor(&self, group: usize) -> &[f64] {
        let square = self.order.width * self.order.width;
        &self.own[group * square..][..square]
    }
}

/// L⁻¹ times the scaled lines, one for each row of L.
fn solve_lines(factor: &[f64], (lines, scale): (&[f64], f64), into: &mut [f64]) {
    let width = factor.len().isqrt();
    let count = lines.len() / width;
    for i in 0..width {
        let (solved, rest) = into.split_at_mut(i * count);
        let (line, root) = (&mut rest[..count], factor[i * width + i].recip());
        for (entry, from) in line.iter_mut().zip(&lines[i * count..]) {
            *entry = scale * root * from;
        }
        for (k, before) in solved.chunks_exact(count.max(1)).enumerate() {
            let share = root * factor[i * width + k];
            small::add(line, -share, before);
        }
    }
}

/// Passes on the structural nonzeros of P_R.
fn each_prior_entry(
    order: &EliminationOrder,
    of: &EffectPrecision<'_>,
    mut see: impl FnMut(usize, usize, f64),
) {
    for (place, prior) in order.blocks.iter().zip(&of.prior.blocks[1..]) {
        for group in 0..place.groups {
            let at = place.start + group * place.width;
            for (k, p) in prior.precision.iter().enumerate() {
                see(at + k / place.width, at + k % place.width, *p);
            }
        }
    }
    let count = order.n_common();
    for (k, p) in of.common.precision.iter().enumerate() {
        see(order.common + k / count, order.common + k % count, *p);
    }
}

/// The triangular system to solve.
#[derive(Clone, Copy)]
enum Side {
    Lower,
    Upper,
}
