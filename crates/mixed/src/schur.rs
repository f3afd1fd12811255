//! The factor of the effects' precision by elimination of the largest block; S is its Schur
//! complement:
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
#[derive(Default)]
pub(crate) struct SchurFactor {
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
    pub(crate) given: &'a EffectPrior,
    pub(crate) common: &'a FixedEffectBlock,
}

/// A solution of Λu = c.
pub(crate) struct Solution {
    pub(crate) effects: Effects,
    /// cᵀΛ⁻¹c
    pub(crate) fitted: f64,
}

/// Σ_g (u_g u_gᵀ + cov_g) of each block, and of the common effects.
#[derive(Clone)]
pub(crate) struct SecondMoments {
    /// A first.
    pub(crate) blocks: Vec<Vec<f64>>,
    pub(crate) common: Vec<f64>,
}

impl SecondMoments {
    /// Adds other moments.
    pub(crate) fn add(&mut self, other: &SecondMoments) {
        let pairs = self.numbers_mut().zip(other.numbers());
        pairs.for_each(|(sum, more)| *sum += more);
    }

    pub(crate) fn numbers(&self) -> impl Iterator<Item = f64> + '_ {
        self.blocks.iter().flatten().chain(&self.common).copied()
    }

    pub(crate) fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.blocks.iter_mut().flatten().chain(&mut self.common)
    }
}

impl SchurFactor {
    /// A factor that does not factorise R if there are probes.
    pub(crate) fn new(probes: Option<Arc<Probes>>) -> SchurFactor {
        SchurFactor {
            probes,
            ..SchurFactor::default()
        }
    }

    /// Factorises anew; `None` if the matrix is not positive definite.
    pub(crate) fn refill(
        &mut self,
        order: &EliminationOrder,
        of: &EffectPrecision<'_>,
    ) -> Option<()> {
        let EffectPrecision {
            cross,
            scale,
            given,
            ..
        } = *of;
        let log_own = self.eliminate(order, cross, scale, &given.blocks[0].precision)?;
        let log_rest = if cross.sparse.is_some() {
            self.refill_iterative(order, of)?
        } else {
            self.refill_dense(order, of)?
        };
        self.log_det = 2.0 * (log_own + log_rest);
        self.log_det.is_finite().then_some(())
    }

    /// L, and ½ ln |S|.
    fn refill_dense(&mut self, order: &EliminationOrder, of: &EffectPrecision<'_>) -> Option<f64> {
        let rest = order.rest;
        let sums = of.cross.others.iter();
        self.lower.clear();
        self.lower.extend(sums.map(|sum| of.scale * sum));
        each_prior_entry(order, of, |i, j, p| self.lower[j * rest + i] += p);
        self.subtract(order);
        blocked::factor_block(&mut self.lower, rest)?;
        Some(self.log_rest(order))
    }

    /// ½ ln |S| by probes.
    fn refill_iterative(
        &mut self,
        order: &EliminationOrder,
        of: &EffectPrecision<'_>,
    ) -> Option<f64> {
        let probes = self.probes.clone()?;
        let by = EliminatedBlock {
            order,
            mixed: &self.mixed,
        };
        let fill = |square: &mut Sparse| {
            square.scale(
                of.scale,
                of.cross.sparse.as_ref().unwrap_or(&Sparse::default()),
            );
            each_prior_entry(order, of, |i, j, p| {
                if i >= j {
                    square.add(i, j, p);
                }
            });
        };
        let iterative = self.iterative.get_or_insert_default();
        iterative.refill(by, fill, &probes)
    }

    /// V of every group, if an iterative solver replaces L.
    pub(crate) fn iterative_solver<'a>(
        &'a self,
        order: &'a EliminationOrder,
    ) -> Option<(&'a ConjugateGradient, EliminatedBlock<'a>)> {
        let by = EliminatedBlock {
            order,
            mixed: &self.mixed,
        };
        self.iterative.as_ref().map(|iterative| (iterative, by))
    }

    pub(crate) fn probes(&self) -> &Probes {
        self.probes.as_ref().expect("what is loose has probes")
    }

    /// L_g and V_g of every group; returns Σ ln |L_g|.
    fn eliminate(
        &mut self,
        order: &EliminationOrder,
        cross: &CrossProducts,
        scale: f64,
        prior: &[f64],
    ) -> Option<f64> {
        let width = order.width;
        let square = width * width;
        self.own.clear();
        self.own.extend(cross.own.iter().map(|sum| scale * sum));
        self.mixed.resize(cross.mixed.len(), 0.0);
        let mut log_det = small::LogSum::new();
        for group in 0..order.groups() {
            let own = &mut self.own[group * square..][..square];
            own.iter_mut().zip(prior).for_each(|(sum, p)| *sum += p);
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
    fn subtract(&mut self, order: &EliminationOrder) {
        let (width, rest) = (order.width, order.rest);
        for group in 0..order.groups() {
            let met = order.met[group]..order.met[group + 1];
            let columns = &order.columns[met.clone()];
            let count = met.len();
            for effect in 0..width {
                let line = &self.mixed[met.start * width + effect * count..][..count];
                for (j, vj) in line.iter().enumerate() {
                    let into = &mut self.lower[columns[j] as usize * rest..][..rest];
                    let own = j.max(count - order.tail);
                    for (column, vi) in columns[j..own].iter().zip(&line[j..]) {
                        into[*column as usize] -= vi * vj;
                    }
                    let last = into[rest - (count - own)..].iter_mut().zip(&line[own..]);
                    last.for_each(|(entry, vi)| *entry -= vi * vj);
                }
            }
        }
    }

    /// Computes S⁻¹, which covariances need, or its products with the probes; `None` if that does
    /// not converge.
    pub(crate) fn invert(&mut self, order: &EliminationOrder) -> Option<()> {
        let rest = order.rest;
        if let Some(iterative) = &mut self.iterative {
            let by = EliminatedBlock {
                order,
                mixed: &self.mixed,
            };
            return iterative.probe(by, self.probes.as_ref()?);
        }
        self.inverse.clear();
        self.inverse.resize(rest * rest, 0.0);
        blocked::inverse_of_factor(&self.lower, &mut self.inverse, rest);
        Some(())
    }

    /// Solves Λu = c.
    pub(crate) fn solve(&self, order: &EliminationOrder, right: Effects) -> Solution {
        let mut effects = right;
        self.whiten_groups(order, &mut effects);
        let own = small::dot(&effects.own, &effects.own);
        let left = match self.iterative_solver(order) {
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
        self.colour_groups(order, &mut effects);
        Solution {
            effects,
            fitted: own + left,
        }
    }

    /// Replaces c by a_g = L_g⁻¹c_g and c_R − Σ V_gᵀa_g.
    pub(crate) fn whiten_groups(&self, order: &EliminationOrder, right: &mut Effects) {
        let width = order.width;
        for group in 0..order.groups() {
            let own = &mut right.own[group * width..][..width];
            small::solve_lower(&self.own[group * width * width..][..width * width], own);
            let met = order.met[group]..order.met[group + 1];
            let count = met.len();
            for (effect, a) in own.iter().enumerate() {
                let line = &self.mixed[met.start * width + effect * count..][..count];
                for (column, v) in order.columns[met.clone()].iter().zip(line) {
                    right.others[*column as usize] -= v * a;
                }
            }
        }
    }

    /// Replaces standard normals by draws of N(0, S⁻¹); `None` if the solver does not converge.
    pub(crate) fn colour_rest(
        &self,
        order: &EliminationOrder,
        others: &mut [&mut [f64]],
    ) -> Option<()> {
        if let Some((iterative, by)) = self.iterative_solver(order) {
            let mut some = others.chunks_mut(LANES);
            return some.try_for_each(|some| iterative.colour(by, some));
        }
        let together = others.concat();
        let mut solved = together;
        self.solve_rest(&mut solved, (others.len(), Side::Upper));
        for (own, solved) in others
            .iter_mut()
            .zip(solved.chunks_exact(order.rest.max(1)))
        {
            own.copy_from_slice(solved);
        }
        Some(())
    }

    /// Replaces standard normals by draws of N(0, Λ⁻¹): u with L_gᵀu_g + V_g u_R = a_g and Lᵀu_R =
    /// t.
    pub(crate) fn colour_effects(
        &self,
        order: &EliminationOrder,
        whitened: &mut [Effects],
    ) -> Option<()> {
        let mut others: Vec<&mut [f64]> = (whitened.iter_mut())
            .map(|one| one.others.as_mut_slice())
            .collect();
        self.colour_rest(order, &mut others)?;
        for one in whitened {
            self.colour_groups(order, one);
        }
        Some(())
    }

    /// Replaces a_g by u_g = L_g⁻ᵀ(a_g − V_g u_R).
    pub(crate) fn colour_groups(&self, order: &EliminationOrder, found: &mut Effects) {
        let width = order.width;
        for group in 0..order.groups() {
            let own = &mut found.own[group * width..][..width];
            let met = order.met[group]..order.met[group + 1];
            let count = met.len();
            let columns = &order.columns[met.clone()];
            for (effect, a) in own.iter_mut().enumerate() {
                let line = &self.mixed[met.start * width + effect * count..][..count];
                let terms = columns.iter().zip(line);
                *a -= terms
                    .map(|(column, v)| v * found.others[*column as usize])
                    .sum::<f64>();
            }
            let factor = &self.own[group * width * width..][..width * width];
            if is_wide(width) {
                blocked::solve_lower_transposed(factor, own);
            } else {
                small::solve_lower_transposed(factor, own);
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
    pub(crate) fn log_rest(&self, order: &EliminationOrder) -> f64 {
        let rest = order.rest;
        (0..rest).map(|i| self.lower[i * rest + i].ln()).sum()
    }

    /// L_g of a group of A.
    pub(crate) fn own_factor(&self, order: &EliminationOrder, group: usize) -> &[f64] {
        let square = order.width * order.width;
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
            let pairs = line.iter_mut().zip(before);
            pairs.for_each(|(entry, before)| *entry -= share * before);
        }
    }
}

/// Passes on the structural nonzeros of P_R.
fn each_prior_entry(
    order: &EliminationOrder,
    of: &EffectPrecision<'_>,
    mut see: impl FnMut(usize, usize, f64),
) {
    for (place, prior) in order.blocks.iter().zip(&of.given.blocks[1..]) {
        for group in 0..place.groups {
            let at = place.start + group * place.width;
            for (k, p) in prior.precision.iter().enumerate() {
                see(at + k / place.width, at + k % place.width, *p);
            }
        }
    }
    let count = order.rest - order.common;
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
