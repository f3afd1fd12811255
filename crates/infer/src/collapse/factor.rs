//! The factor of the effects' precision by elimination of the largest block:
//!
//! ```text
//! D_g = h Σ ω z zᵀ + P_A = L_g L_gᵀ      V_g = L_g⁻¹ h Σ ω z rᵀ
//! S   = h Σ ω r rᵀ + P_R − Σ_g V_gᵀV_g = L Lᵀ
//! ```

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{MatMut, MatRef, Par, Spec};

use super::cross::{CrossProducts, Effects};
use super::design::Design;
use super::given::Given;
use super::parts::Common;
use super::small;

/// Λ = h Σ ω a aᵀ + P, factorised.
#[derive(Default)]
pub(super) struct Factor {
    /// L_g, group after group.
    own: Vec<f64>,
    /// V_g, laid out as the mixed cross products.
    mixed: Vec<f64>,
    /// L, column after column.
    lower: Vec<f64>,
    /// S⁻¹, column after column: the lower triangle.
    inverse: Vec<f64>,
    /// ln |Λ|
    pub(super) log_det: f64,
}

/// What is factorised: Λ = h Σ ω a aᵀ + P.
#[derive(Clone, Copy)]
pub(super) struct Precision<'a> {
    pub(super) cross: &'a CrossProducts,
    /// h
    pub(super) scale: f64,
    pub(super) given: &'a Given,
    pub(super) common: &'a Common,
}

/// A solution of Λu = c.
pub(super) struct Solution {
    pub(super) effects: Effects,
    /// L_g⁻¹c_g and what is left of R: their squares sum to cᵀΛ⁻¹c.
    pub(super) whitened: Effects,
}

/// Σ_g (u_g u_gᵀ + cov_g) of each block, and of what is common.
#[derive(Clone)]
pub(super) struct SecondMoments {
    /// A first.
    pub(super) blocks: Vec<Vec<f64>>,
    pub(super) common: Vec<f64>,
}

impl SecondMoments {
    /// Adds others.
    pub(super) fn add(&mut self, other: &SecondMoments) {
        let own = self.blocks.iter_mut().flatten().chain(&mut self.common);
        let others = other.blocks.iter().flatten().chain(&other.common);
        own.zip(others).for_each(|(sum, more)| *sum += more);
    }
}

impl Factor {
    /// Factorises anew; `None` if the matrix is not positive definite.
    pub(super) fn refill(&mut self, design: &Design, of: &Precision<'_>) -> Option<()> {
        let Precision {
            cross,
            scale,
            given,
            common,
        } = *of;
        let log_own = self.eliminate(design, cross, scale, &given.blocks[0].precision)?;
        let rest = design.rest;
        self.lower.clear();
        self.lower
            .extend(cross.others.iter().map(|sum| scale * sum));
        self.add_prior(design, given, common);
        self.subtract(design);
        factorise(&mut self.lower, rest)?;
        let diagonal = (0..rest).map(|i| self.lower[i * rest + i].ln());
        self.log_det = 2.0 * (log_own + diagonal.sum::<f64>());
        self.log_det.is_finite().then_some(())
    }

    /// L_g and V_g of every group; returns Σ ln |L_g|.
    fn eliminate(
        &mut self,
        design: &Design,
        cross: &CrossProducts,
        scale: f64,
        prior: &[f64],
    ) -> Option<f64> {
        let width = design.width;
        let square = width * width;
        self.own.clear();
        self.own.extend(cross.own.iter().map(|sum| scale * sum));
        self.mixed.clear();
        self.mixed.extend(cross.mixed.iter().map(|sum| scale * sum));
        let mut log_det = 0.0;
        let mut column = vec![0.0; width];
        for group in 0..design.groups() {
            let own = &mut self.own[group * square..][..square];
            own.iter_mut().zip(prior).for_each(|(sum, p)| *sum += p);
            small::cholesky(own, width)?;
            log_det += small::log_diagonal(own, width);
            let met = design.met[group]..design.met[group + 1];
            let mixed = &mut self.mixed[met.start * width..met.end * width];
            let count = met.len();
            if width == 1 {
                let root = own[0].recip();
                for entry in mixed.iter_mut() {
                    *entry *= root;
                }
                continue;
            }
            for k in 0..count {
                for (i, entry) in column.iter_mut().enumerate() {
                    *entry = mixed[i * count + k];
                }
                small::solve_lower(own, &mut column);
                for (i, entry) in column.iter().enumerate() {
                    mixed[i * count + k] = *entry;
                }
            }
        }
        Some(log_det)
    }

    fn add_prior(&mut self, design: &Design, given: &Given, common: &Common) {
        let rest = design.rest;
        for (place, prior) in design.blocks.iter().zip(&given.blocks[1..]) {
            for group in 0..place.groups {
                let at = place.start + group * place.width;
                for (k, p) in prior.precision.iter().enumerate() {
                    let (i, j) = (k / place.width, k % place.width);
                    self.lower[(at + j) * rest + at + i] += p;
                }
            }
        }
        let count = rest - design.common;
        for (k, p) in common.precision.iter().enumerate() {
            let (i, j) = (design.common + k / count, design.common + k % count);
            self.lower[j * rest + i] += p;
        }
    }

    /// S less Σ V_gᵀV_g, in the lower triangle.
    fn subtract(&mut self, design: &Design) {
        let (width, rest) = (design.width, design.rest);
        for group in 0..design.groups() {
            let met = design.met[group]..design.met[group + 1];
            let columns = &design.columns[met.clone()];
            let count = met.len();
            for effect in 0..width {
                let line = &self.mixed[met.start * width + effect * count..][..count];
                for (j, vj) in line.iter().enumerate() {
                    let into = &mut self.lower[columns[j] as usize * rest..][..rest];
                    for (column, vi) in columns[j..].iter().zip(&line[j..]) {
                        into[*column as usize] -= vi * vj;
                    }
                }
            }
        }
    }

    /// Computes S⁻¹, which covariances need.
    pub(super) fn invert(&mut self, design: &Design) {
        let rest = design.rest;
        self.inverse.clear();
        self.inverse.resize(rest * rest, 0.0);
        if rest == 0 {
            return;
        }
        let lower = MatRef::from_column_major_slice(&self.lower, rest, rest);
        let into = MatMut::from_column_major_slice_mut(&mut self.inverse, rest, rest);
        let mut memory = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(rest, Par::Seq));
        llt::inverse::inverse(into, lower, Par::Seq, MemStack::new(&mut memory));
    }

    /// Solves Λu = c.
    pub(super) fn solve(&self, design: &Design, right: &Effects) -> Solution {
        let width = design.width;
        let mut whitened = right.clone();
        for group in 0..design.groups() {
            let own = &mut whitened.own[group * width..][..width];
            small::solve_lower(&self.own[group * width * width..][..width * width], own);
            let met = design.met[group]..design.met[group + 1];
            let count = met.len();
            for (effect, a) in own.iter().enumerate() {
                let line = &self.mixed[met.start * width + effect * count..][..count];
                for (column, v) in design.columns[met.clone()].iter().zip(line) {
                    whitened.others[*column as usize] -= v * a;
                }
            }
        }
        self.solve_rest(&mut whitened.others, (1, Side::Lower));
        Solution {
            effects: self.coloured(design, &whitened),
            whitened,
        }
    }

    /// u with L_gᵀu_g + V_g u_R = a_g and Lᵀu_R = t: for standard normals a draw of N(0, Λ⁻¹).
    pub(super) fn coloured(&self, design: &Design, whitened: &Effects) -> Effects {
        let mut found = whitened.clone();
        self.solve_rest(&mut found.others, (1, Side::Upper));
        self.colour_own(design, &mut found);
        found
    }

    /// u_R with Lᵀu_R = t in its place.
    pub(super) fn colour_rest(&self, whitened: &mut [f64]) {
        self.solve_rest(whitened, (1, Side::Upper));
    }

    /// The same for many, whose parts of R are solved for together.
    pub(super) fn coloured_all(&self, design: &Design, whitened: &mut [Effects]) {
        let rest = design.rest;
        let mut others: Vec<f64> = Vec::with_capacity(rest * whitened.len());
        for one in whitened.iter() {
            others.extend_from_slice(&one.others);
        }
        self.solve_rest(&mut others, (whitened.len(), Side::Upper));
        for (k, one) in whitened.iter_mut().enumerate() {
            one.others
                .copy_from_slice(&others[k * rest..(k + 1) * rest]);
            self.colour_own(design, one);
        }
    }

    /// u_g = L_g⁻ᵀ(a_g − V_g u_R) in the place of a_g.
    fn colour_own(&self, design: &Design, found: &mut Effects) {
        let width = design.width;
        for group in 0..design.groups() {
            let own = &mut found.own[group * width..][..width];
            let met = design.met[group]..design.met[group + 1];
            let count = met.len();
            let columns = &design.columns[met.clone()];
            for (effect, a) in own.iter_mut().enumerate() {
                let line = &self.mixed[met.start * width + effect * count..][..count];
                let terms = columns.iter().zip(line);
                *a -= terms
                    .map(|(column, v)| v * found.others[*column as usize])
                    .sum::<f64>();
            }
            let factor = &self.own[group * width * width..][..width * width];
            small::solve_lower_transposed(factor, own);
        }
    }

    /// Solves with L or Lᵀ for so many right sides, one after another.
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

    /// The second moments of the effects around 0, once S was inverted.
    pub(super) fn moments(&self, design: &Design, mean: &Effects) -> SecondMoments {
        let mut blocks = vec![self.own_moment(design, mean)];
        let rest = design.rest;
        let entry = |i: usize, j: usize| {
            let (low, high) = (i.min(j), i.max(j));
            self.inverse[low * rest + high] + mean.others[i] * mean.others[j]
        };
        for place in &design.blocks {
            let width = place.width;
            let mut sum = vec![0.0; width * width];
            for group in 0..place.groups {
                let at = place.start + group * width;
                for (k, entry_sum) in sum.iter_mut().enumerate() {
                    *entry_sum += entry(at + k / width, at + k % width);
                }
            }
            blocks.push(sum);
        }
        let count = rest - design.common;
        let common =
            (0..count * count).map(|k| entry(design.common + k / count, design.common + k % count));
        SecondMoments {
            blocks,
            common: common.collect(),
        }
    }

    /// ½ ln |S|
    pub(super) fn log_rest(&self, design: &Design) -> f64 {
        let rest = design.rest;
        (0..rest).map(|i| self.lower[i * rest + i].ln()).sum()
    }

    /// L_g of a group of A.
    pub(super) fn own_factor(&self, design: &Design, group: usize) -> &[f64] {
        let square = design.width * design.width;
        &self.own[group * square..][..square]
    }

    /// sₙ² = aₙᵀΛ⁻¹aₙ of each sorted row, once S was inverted: with y = L_g⁻¹z and W = S⁻¹V_gᵀ,
    /// sₙ² = yᵀ(1 + V_g W)y − 2 yᵀWᵀr + rᵀS⁻¹r.
    pub(super) fn variances(&self, design: &Design) -> Vec<f64> {
        let mut found = Vec::with_capacity(design.order.len());
        let (width, entries, rest) = (design.width, design.entries, design.rest);
        let mut solved: Vec<f64> = Vec::new();
        let mut inner = vec![0.0; width * width];
        let mut y = vec![0.0; width];
        let symmetric = |i: usize, j: usize| self.inverse[i.min(j) * rest + i.max(j)];
        for group in 0..design.groups() {
            let met = design.met[group]..design.met[group + 1];
            let (columns, count) = (&design.columns[met.clone()], met.len());
            let lines = &self.mixed[met.start * width..met.end * width];
            self.solve_lines(columns, lines, &mut solved);
            for (k, entry) in inner.iter_mut().enumerate() {
                let (a, b) = (k / width, k % width);
                let form = small::dot(&lines[a * count..][..count], &solved[b * count..][..count]);
                *entry = form + f64::from(u8::from(a == b));
            }
            let factor = self.own_factor(design, group);
            for row in design.first[group]..design.first[group + 1] {
                y.copy_from_slice(&design.own[row * width..][..width]);
                small::solve_lower(factor, &mut y);
                let r = &design.others[row * entries..][..entries];
                let at = &design.positions[row * entries..][..entries];
                let mut sum = small::form(&inner, &y);
                for (a, ya) in y.iter().enumerate() {
                    let line = &solved[a * count..][..count];
                    let met = r.iter().zip(at).map(|(r, at)| r * line[*at as usize]);
                    sum -= 2.0 * ya * met.sum::<f64>();
                }
                for (i, (ri, pi)) in r.iter().zip(at).enumerate() {
                    let ci = columns[*pi as usize] as usize;
                    let others = r[..i].iter().zip(at);
                    let crossed =
                        others.map(|(rj, pj)| rj * symmetric(ci, columns[*pj as usize] as usize));
                    sum += ri * (ri * symmetric(ci, ci) + 2.0 * crossed.sum::<f64>());
                }
                found.push(sum.max(0.0));
            }
        }
        found
    }

    /// S⁻¹ on some columns, times lines over the same columns.
    fn solve_lines(&self, columns: &[u32], lines: &[f64], into: &mut Vec<f64>) {
        let count = columns.len();
        let rest = self.inverse.len().isqrt();
        into.clear();
        into.resize(lines.len(), 0.0);
        for (j, column) in columns.iter().enumerate() {
            let inverse = &self.inverse[*column as usize * rest..][..rest];
            for (line, into) in lines.chunks_exact(count).zip(into.chunks_exact_mut(count)) {
                let (vj, mut sum) = (line[j], inverse[*column as usize] * line[j]);
                let below = columns[j + 1..].iter().enumerate();
                for (i, other) in below {
                    let entry = inverse[*other as usize];
                    into[j + 1 + i] += entry * vj;
                    sum += entry * line[j + 1 + i];
                }
                into[j] += sum;
            }
        }
    }

    /// Σ_g u_g u_gᵀ + L_g⁻ᵀ(1 + V_g S⁻¹V_gᵀ)L_g⁻¹ over the groups of A.
    fn own_moment(&self, design: &Design, mean: &Effects) -> Vec<f64> {
        let width = design.width;
        let square = width * width;
        let mut sum = vec![0.0; square];
        let mut spread = vec![0.0; square];
        for group in 0..design.groups() {
            self.group_covariance(design, group, &mut spread);
            let own = &mean.own[group * width..][..width];
            for (k, entry) in sum.iter_mut().enumerate() {
                *entry += spread[k] + own[k / width] * own[k % width];
            }
        }
        sum
    }

    /// The covariance of one group of A.
    pub(super) fn group_covariance(&self, design: &Design, group: usize, into: &mut [f64]) {
        let (width, rest) = (design.width, design.rest);
        let met = design.met[group]..design.met[group + 1];
        let (columns, count) = (&design.columns[met.clone()], met.len());
        let lines = &self.mixed[met.start * width..met.end * width];
        for a in 0..width {
            for b in 0..=a {
                let (va, vb) = (&lines[a * count..][..count], &lines[b * count..][..count]);
                let mut form = 0.0;
                for j in 0..count {
                    let inverse = &self.inverse[columns[j] as usize * rest..][..rest];
                    let below = columns[j + 1..].iter().enumerate();
                    let both = below.map(|(i, column)| {
                        inverse[*column as usize] * (va[j + 1 + i] * vb[j] + va[j] * vb[j + 1 + i])
                    });
                    form += inverse[columns[j] as usize] * va[j] * vb[j] + both.sum::<f64>();
                }
                into[a * width + b] = form + f64::from(u8::from(a == b));
                into[b * width + a] = into[a * width + b];
            }
        }
        let factor = &self.own[group * width * width..][..width * width];
        for _ in 0..2 {
            for row in into.chunks_exact_mut(width) {
                small::solve_lower_transposed(factor, row);
            }
            let flipped = small::transposed(into, width);
            into.copy_from_slice(&flipped);
        }
    }
}

/// Which triangular system is solved.
#[derive(Clone, Copy)]
enum Side {
    Lower,
    Upper,
}

/// The Cholesky factor of a matrix in place, column after column, of which the lower triangle is
/// read and written.
fn factorise(matrix: &mut [f64], size: usize) -> Option<()> {
    if size == 0 {
        return Some(());
    }
    let into = MatMut::from_column_major_slice_mut(matrix, size, size);
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(size, Par::Seq, Spec::default());
    let mut memory = MemBuffer::new(scratch);
    let found = llt::factor::cholesky_in_place(
        into,
        LltRegularization::default(),
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    );
    found.ok().map(|_| ())
}
