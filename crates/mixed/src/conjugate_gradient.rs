//! Solves with the Schur complement S if S is too large to factorise. Systems are solved by
//! conjugate gradients. ln |S| and traces are estimated by Lanczos quadrature with Hutchinson probes,
//! which are the same at every θ. B are the other blocks of random effects, β the fixed effects. β is
//! eliminated exactly:
//!
//! ```text
//! S = [S_BB S_Bβ; S_βB S_ββ],   W = S_BB⁻¹S_Bβ,   C = S_ββ − S_βB W,   ln |S| = ln |S_BB| + ln |C|
//! S⁻¹ = [S_BB⁻¹ 0; 0 0] + E C⁻¹Eᵀ,   E = [−W; 1]
//! ```
//!
//! S_BB scaled by its diagonal is close to the identity, so a few steps suffice (Golub & Welsch 1969
//! for zᵀ ln(S) z; Chow & Saad 2014 for draws S^(−½)ε).

use lehr_numeric::dense::small;
use lehr_numeric::lanczos::{
    Krylov, LANES, LaneMoments, Probes, STEPS, add, add_scaled, dot_lanes, zero,
};

use crate::elimination_order::EliminationOrder;
use crate::sparse::Sparse;

/// The relative tolerance of solves.
const CLOSE: f64 = 1e-7;
/// The largest relative contribution of the last step to a draw.
const SMALL: f64 = 1e-3;
/// The number of steps after which a solve fails.
const MOST_STEPS: usize = 200;

/// The parts of the iterative solver that replaces the factor of S.
#[derive(Default)]
pub(crate) struct ConjugateGradient {
    /// h Σ ω r rᵀ + P of B, the lower triangle.
    square: Sparse,
    /// The diagonal of S_BB, and its roots.
    diagonal: Vec<f64>,
    roots: Vec<f64>,
    /// S_Bβ and W, row-major.
    mixed: Vec<f64>,
    solved: Vec<f64>,
    /// The factor of C, row-major.
    corner: Vec<f64>,
    /// S_BB⁻¹ times the probes.
    probed: Vec<Vec<LaneMoments>>,
    /// ½ ln |S| by each probe; their mean is the estimate.
    pub(crate) halves: Vec<f64>,
}

/// V_g of every group, in the layout of a factor.
#[derive(Clone, Copy)]
pub(crate) struct EliminatedBlock<'a> {
    pub(crate) order: &'a EliminationOrder,
    pub(crate) mixed: &'a [f64],
}

impl EliminatedBlock<'_> {
    /// Passes on every line of V_g, the part of B and that of β, with the columns of B.
    pub(crate) fn each_line(self, mut see: impl FnMut(&[u32], &[f64], &[f64])) {
        let EliminatedBlock { order, mixed } = self;
        for group in 0..order.groups() {
            let (columns, met) = (order.columns_of(group), order.met_by(group));
            let lines = &mixed[met.start * order.width..met.end * order.width];
            for line in lines.chunks_exact(columns.len().max(1)) {
                let (own, shared) = line.split_at(line.len() - order.n_common());
                see(&columns[..own.len()], own, shared);
            }
        }
    }
}

impl ConjugateGradient {
    /// Sets Q = h Σ ω r rᵀ + P of all of R, and V; returns ½ ln |S|, or `None` if S is found not to
    /// be positive definite.
    pub(crate) fn refill(
        &mut self,
        by: EliminatedBlock<'_>,
        square: impl FnOnce(&mut Sparse),
        probes: &Probes,
    ) -> Option<f64> {
        let (size, common) = (by.order.common, by.order.n_common());
        square(&mut self.square);
        self.diagonal = self.square.diagonal(size);
        self.mixed.clear();
        self.mixed.resize(size * common, 0.0);
        let mut corner = vec![0.0; common * common];
        self.take_common(&mut corner);
        self.subtract(by, &mut corner);
        // NaN is not positive either.
        if !self.diagonal.iter().all(|entry| *entry > 0.0) {
            return None;
        }
        self.roots = self.diagonal.iter().map(|entry| entry.sqrt()).collect();
        self.solve_common(by)?;
        let lines = self.mixed.chunks_exact(common.max(1));
        for (line, solved) in lines.zip(self.solved.chunks_exact(common.max(1))) {
            small::add_outer(&mut corner, -1.0, line, solved);
        }
        small::cholesky(&mut corner, common)?;
        self.corner = corner;
        self.log_det(by, probes)
    }

    /// The part of Q in β.
    fn take_common(&mut self, corner: &mut [f64]) {
        let (size, common) = (self.diagonal.len(), corner.len().isqrt());
        let mixed = &mut self.mixed;
        self.square.each_beyond(size, |row, column, value| {
            if column < size {
                mixed[column * common + row - size] += value;
                return;
            }
            let (i, j) = (row - size, column - size);
            corner[i * common + j] += value;
            if i != j {
                corner[j * common + i] += value;
            }
        });
    }

    /// Subtracts Σ V_gᵀV_g from the diagonal and from β.
    fn subtract(&mut self, by: EliminatedBlock<'_>, corner: &mut [f64]) {
        let common = corner.len().isqrt();
        by.each_line(|columns, own, shared| {
            for (column, v) in columns.iter().zip(own) {
                let column = *column as usize;
                self.diagonal[column] -= v * v;
                let line = &mut self.mixed[column * common..][..common];
                small::add(line, -v, shared);
            }
            small::add_outer(corner, -1.0, shared, shared);
        });
    }

    /// W, eight columns at a time.
    fn solve_common(&mut self, by: EliminatedBlock<'_>) -> Option<()> {
        let size = self.diagonal.len();
        let common = self.mixed.len().checked_div(size).unwrap_or(0);
        self.solved.clear();
        self.solved.resize(size * common, 0.0);
        for first in (0..common).step_by(LANES) {
            let some = LANES.min(common - first);
            let mut right = zero(size);
            for (k, lanes) in right.iter_mut().enumerate() {
                lanes[..some].copy_from_slice(&self.mixed[k * common + first..][..some]);
            }
            let found = self.conjugate(by, &right)?;
            for (k, lanes) in found.iter().enumerate() {
                self.solved[k * common + first..][..some].copy_from_slice(&lanes[..some]);
            }
        }
        Some(())
    }

    /// S_BB x
    fn apply(&self, by: EliminatedBlock<'_>, x: &[LaneMoments], into: &mut [LaneMoments]) {
        self.square.apply(x, into);
        by.each_line(|columns, own, _| {
            let mut sums = [0.0; LANES];
            for (column, v) in columns.iter().zip(own) {
                add_scaled(&mut sums, *v, &x[*column as usize]);
            }
            for (column, v) in columns.iter().zip(own) {
                add_scaled(&mut into[*column as usize], -v, &sums);
            }
        });
    }

    /// S_BB⁻¹c by conjugate gradients, preconditioned by the diagonal; `None` if they do not
    /// converge.
    fn conjugate(
        &self,
        by: EliminatedBlock<'_>,
        right: &[LaneMoments],
    ) -> Option<Vec<LaneMoments>> {
        let size = right.len();
        let (mut found, mut left) = (zero(size), right.to_vec());
        let mut ahead = divide(&left, &self.diagonal);
        let mut direction = ahead.clone();
        let mut now = dot_lanes(&left, &ahead);
        let wanted = now.map(|square| square * CLOSE * CLOSE);
        let mut pushed = zero(size);
        for _ in 0..MOST_STEPS {
            if now.iter().zip(&wanted).all(|(now, wanted)| now <= wanted) {
                return Some(found);
            }
            self.apply(by, &direction, &mut pushed);
            let curve = dot_lanes(&direction, &pushed);
            // A lane that has converged stays fixed.
            let share: LaneMoments = std::array::from_fn(|lane| {
                let moves = now[lane] > wanted[lane] && curve[lane] > 0.0;
                if moves { now[lane] / curve[lane] } else { 0.0 }
            });
            add(&mut found, &share, &direction);
            add(&mut left, &share.map(|s| -s), &pushed);
            ahead = divide(&left, &self.diagonal);
            let next = dot_lanes(&left, &ahead);
            let ratio: LaneMoments = std::array::from_fn(|lane| {
                let moves = now[lane] > 0.0;
                if moves { next[lane] / now[lane] } else { 0.0 }
            });
            for (d, a) in direction.iter_mut().zip(&ahead) {
                *d = std::array::from_fn(|lane| a[lane] + ratio[lane] * d[lane]);
            }
            now = next;
        }
        None
    }

    /// D^(−½)S_BB D^(−½) x
    fn apply_scaled(&self, by: EliminatedBlock<'_>, x: &[LaneMoments], into: &mut [LaneMoments]) {
        self.apply(by, &divide(x, &self.roots), into);
        for (into, root) in into.iter_mut().zip(&self.roots) {
            *into = into.map(|entry| entry / root);
        }
    }

    fn krylov(&self, by: EliminatedBlock<'_>, start: &[LaneMoments], steps: usize) -> Krylov {
        Krylov::new(start, steps, |x, into| self.apply_scaled(by, x, into))
    }

    /// ½ ln |S|, with the estimate of each probe.
    fn log_det(&mut self, by: EliminatedBlock<'_>, probes: &Probes) -> Option<f64> {
        let scales: f64 = self.roots.iter().map(|root| root.ln()).sum();
        let common = self.corner.len().isqrt();
        let exact = scales + small::log_diagonal(&self.corner, common);
        let mut halves = Vec::with_capacity(probes.count);
        for some in &probes.lanes {
            let space = self.krylov(by, some, probes.steps);
            for lane in 0..LANES.min(probes.count - halves.len()) {
                halves.push(exact + 0.5 * space.log_form(lane)?);
            }
        }
        self.halves = halves;
        let sum: f64 = self.halves.iter().sum();
        Some(sum / probes.count as f64)
    }

    /// Replaces c by S⁻¹c.
    pub(crate) fn solve(&self, by: EliminatedBlock<'_>, right: &mut [f64]) -> Option<()> {
        let size = self.diagonal.len();
        let mut lanes = zero(size);
        lanes.iter_mut().zip(&*right).for_each(|(l, r)| l[0] = *r);
        let found = self.conjugate(by, &lanes)?;
        let common = right.len() - size;
        let mut shared = right[size..].to_vec();
        for (line, found) in self.mixed.chunks_exact(common.max(1)).zip(&found) {
            small::add(&mut shared, -found[0], line);
        }
        small::solve_lower(&self.corner, &mut shared);
        small::solve_lower_transposed(&self.corner, &mut shared);
        right[size..].copy_from_slice(&shared);
        for (k, (into, found)) in right.iter_mut().zip(&found).enumerate() {
            *into = found[0] - small::dot(&self.solved[k * common..][..common], &shared);
        }
        Some(())
    }

    /// Replaces standard normals by draws of N(0, S⁻¹), at most one per lane; `None` if the steps
    /// do not converge.
    pub(crate) fn colour(&self, by: EliminatedBlock<'_>, draws: &mut [&mut [f64]]) -> Option<()> {
        let size = self.diagonal.len();
        let common = self.corner.len().isqrt();
        let mut lanes = zero(size);
        for (k, into) in lanes.iter_mut().enumerate() {
            let pairs = into.iter_mut().zip(&*draws);
            pairs.for_each(|(lane, own)| *lane = own[k]);
        }
        let mut steps = STEPS;
        let found = loop {
            let (found, last) = self.krylov(by, &lanes, steps).inverse_roots()?;
            if last < SMALL || steps >= size {
                break found;
            }
            if steps > MOST_STEPS {
                return None;
            }
            steps *= 2;
        };
        let found = divide(&found, &self.roots);
        for (lane, own) in draws.iter_mut().enumerate() {
            let (blocks, shared) = own.split_at_mut(size);
            small::solve_lower_transposed(&self.corner, shared);
            for (k, (into, found)) in blocks.iter_mut().zip(&found).enumerate() {
                *into = found[lane] - small::dot(&self.solved[k * common..][..common], shared);
            }
        }
        Some(())
    }

    /// S_BB⁻¹ times the probes, less the same by the diagonal alone: traces are those of the
    /// diagonal plus the contributions of these.
    pub(crate) fn probe(&mut self, by: EliminatedBlock<'_>, probes: &Probes) -> Option<()> {
        let mut probed = Vec::with_capacity(probes.lanes.len());
        for some in &probes.lanes {
            let mut found = self.conjugate(by, some)?;
            for ((found, probe), diagonal) in found.iter_mut().zip(some).zip(&self.diagonal) {
                add_scaled(found, -diagonal.recip(), probe);
            }
            probed.push(found);
        }
        self.probed = probed;
        Some(())
    }

    /// An entry of S⁻¹. Entries of B are unbiased estimates.
    pub(crate) fn entry(&self, probes: &Probes, i: usize, j: usize) -> f64 {
        let size = self.diagonal.len();
        let [mut left, mut right] = [i, j].map(|k| self.beyond_one(k));
        small::solve_lower(&self.corner, &mut left);
        small::solve_lower(&self.corner, &mut right);
        let mut sum = small::dot(&left, &right);
        if i >= size || j >= size {
            return sum;
        }
        if i == j {
            sum += self.diagonal[i].recip();
        }
        let mut extra = 0.0;
        for (probe, probed) in probes.lanes.iter().zip(&self.probed) {
            let lanes = (0..LANES)
                .map(|lane| probe[i][lane] * probed[j][lane] + probe[j][lane] * probed[i][lane]);
            extra += 0.5 * lanes.sum::<f64>();
        }
        sum + extra / probes.count as f64
    }

    /// Eᵀe for one number of R.
    fn beyond_one(&self, place: usize) -> Vec<f64> {
        let (size, common) = (self.diagonal.len(), self.corner.len().isqrt());
        match place.checked_sub(size) {
            Some(own) => (0..common).map(|k| f64::from(u8::from(k == own))).collect(),
            None => (self.solved[place * common..][..common].iter())
                .map(|w| -w)
                .collect(),
        }
    }

    /// aᵀS⁻¹b for two sparse vectors with the same columns of B, and their entries of β. The
    /// diagonal and β are exact; the rest is estimated by probes, so that sums over many are
    /// accurate.
    pub(crate) fn form(
        &self,
        probes: &Probes,
        a: ProjectedVector<'_>,
        b: ProjectedVector<'_>,
    ) -> f64 {
        let mut sum: f64 = (a.columns.iter().zip(a.own.iter().zip(b.own)))
            .map(|(column, (a, b))| a * b / self.diagonal[*column as usize])
            .sum();
        let [mut left, mut right] = [a, b].map(|side| self.beyond(side));
        small::solve_lower(&self.corner, &mut left);
        small::solve_lower(&self.corner, &mut right);
        sum += small::dot(&left, &right);
        let along = |side: ProjectedVector<'_>, vectors: &[LaneMoments]| {
            let mut sums = [0.0; LANES];
            for (column, v) in side.columns.iter().zip(side.own) {
                add_scaled(&mut sums, *v, &vectors[*column as usize]);
            }
            sums
        };
        let mut extra = 0.0;
        for (probe, probed) in probes.lanes.iter().zip(&self.probed) {
            let (az, by) = (along(a, probe), along(b, probed));
            let (bz, ay) = (along(b, probe), along(a, probed));
            let lanes = (0..LANES).map(|lane| az[lane] * by[lane] + bz[lane] * ay[lane]);
            extra += 0.5 * lanes.sum::<f64>();
        }
        sum + extra / probes.count as f64
    }

    /// Eᵀa
    fn beyond(&self, side: ProjectedVector<'_>) -> Vec<f64> {
        let common = side.shared.len();
        let mut found = side.shared.to_vec();
        for (column, v) in side.columns.iter().zip(side.own) {
            let line = &self.solved[*column as usize * common..][..common];
            small::add(&mut found, -v, line);
        }
        found
    }
}

/// D⁻¹x for a diagonal matrix D.
fn divide(x: &[LaneMoments], diagonal: &[f64]) -> Vec<LaneMoments> {
    let pairs = x.iter().zip(diagonal);
    pairs.map(|(x, d)| x.map(|entry| entry / d)).collect()
}

/// A sparse vector: some columns of B, and β.
#[derive(Clone, Copy)]
pub(crate) struct ProjectedVector<'a> {
    pub(crate) columns: &'a [u32],
    pub(crate) own: &'a [f64],
    pub(crate) shared: &'a [f64],
}
