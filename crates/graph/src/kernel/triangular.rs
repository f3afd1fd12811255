//! Small triangular solves: four rows at a time, and two registers of right sides side by side.
//!
//! Row by row, each number waits for the one before: for its division, for the sum across a
//! register, and for memory just written in another width. Blocks wait once for four numbers, and
//! divisions are done ahead.

use std::mem::MaybeUninit;

use pulp::Simd;

use super::reduce::sum_four_lanes;
use super::turn::{StridedRows, transpose_lanes};
use super::vector::{lane_width, line_place, load_lanes, load_part, store_lanes, store_part};
use crate::instruction::Write;
use crate::primitive::factor::TriangularForm;

/// Rows of a block.
const BLOCK: usize = 4;

/// L x = b in place.
///
/// # Safety
/// `l` must be readable for `n · n` and `x` valid for `n` numbers.
#[inline(always)]
pub(super) unsafe fn substitute_forward<S: Simd>(simd: S, x: *mut f64, l: *const f64, n: usize) {
    for i in (0..n).step_by(BLOCK) {
        // SAFETY: `n - i` rows are left.
        unsafe {
            match n - i {
                1 => FactorRows::<1>::from(l, i, n).substitute_forward(simd, x),
                2 => FactorRows::<2>::from(l, i, n).substitute_forward(simd, x),
                3 => FactorRows::<3>::from(l, i, n).substitute_forward(simd, x),
                _ => FactorRows::<BLOCK>::from(l, i, n).substitute_forward(simd, x),
            }
        }
    }
}

/// Lᵀ x = b in place; the columns of Lᵀ are the contiguous rows of L.
///
/// # Safety
/// As [`substitute_forward`].
#[inline(always)]
pub(super) unsafe fn substitute_backward<S: Simd>(simd: S, x: *mut f64, l: *const f64, n: usize) {
    for i in (0..n).step_by(BLOCK).rev() {
        // SAFETY: `n - i` rows are left.
        unsafe {
            match n - i {
                1 => FactorRows::<1>::from(l, i, n).substitute_backward(simd, x),
                2 => FactorRows::<2>::from(l, i, n).substitute_backward(simd, x),
                3 => FactorRows::<3>::from(l, i, n).substitute_backward(simd, x),
                _ => FactorRows::<BLOCK>::from(l, i, n).substitute_backward(simd, x),
            }
        }
    }
}

/// The rows of L from `first` on; the pointer of each row is valid up to the diagonal.
#[derive(Clone, Copy)]
struct FactorRows<const C: usize> {
    first: usize,
    at: [*const f64; C],
}

impl<const C: usize> FactorRows<C> {
    #[inline(always)]
    unsafe fn from(l: *const f64, first: usize, n: usize) -> FactorRows<C> {
        let mut at = [l; C];
        for (r, at) in at.iter_mut().enumerate() {
            // SAFETY: by the caller.
            *at = unsafe { l.add((first + r) * n) };
        }
        FactorRows { first, at }
    }

    #[inline(always)]
    unsafe fn substitute_forward<S: Simd>(self, simd: S, x: *mut f64) {
        // SAFETY: columns up to the diagonal.
        unsafe {
            let inverse = self.inverse_diagonal();
            let mut values = self.dot_products(simd, x);
            for r in 0..C {
                let mut rest = *x.add(self.first + r) - values[r];
                for (c, value) in values[..r].iter().enumerate() {
                    rest -= *self.at[r].add(self.first + c) * value;
                }
                values[r] = rest * inverse[r];
            }
            x.add(self.first).cast::<[f64; C]>().write(values);
        }
    }

    #[inline(always)]
    unsafe fn substitute_backward<S: Simd>(self, simd: S, x: *mut f64) {
        // SAFETY: columns up to the diagonal.
        unsafe {
            let inverse = self.inverse_diagonal();
            let mut values = x.add(self.first).cast::<[f64; C]>().read();
            for r in (0..C).rev() {
                for c in r + 1..C {
                    values[r] -= *self.at[c].add(self.first + r) * values[c];
                }
                values[r] *= inverse[r];
            }
            x.add(self.first).cast::<[f64; C]>().write(values);
            self.subtract_values(simd, x, values);
        }
    }

    #[inline(always)]
    unsafe fn inverse_diagonal(self) -> [f64; C] {
        let mut inverse = [0.0; C];
        for (r, inverse) in inverse.iter_mut().enumerate() {
            // SAFETY: the diagonal of row `first + r`.
            *inverse = 1.0 / unsafe { *self.at[r].add(self.first + r) };
        }
        inverse
    }

    /// The inner product of each row with the entries of `x` before `first`.
    #[inline(always)]
    unsafe fn dot_products<S: Simd>(self, simd: S, x: *const f64) -> [f64; C] {
        let (w, n) = (lane_width::<S>(), self.first);
        let mut sums = [simd.splat_f64s(0.0); BLOCK];
        let mut j = 0;
        // SAFETY: columns below `first`.
        unsafe {
            while j + w <= n {
                let xs = load_lanes::<S>(x.add(j));
                for (sum, row) in sums.iter_mut().zip(self.at) {
                    *sum = simd.mul_add_f64s(load_lanes::<S>(row.add(j)), xs, *sum);
                }
                j += w;
            }
            if j < n {
                let xs = load_part(simd, x.add(j), n - j);
                for (sum, row) in sums.iter_mut().zip(self.at) {
                    *sum = simd.mul_add_f64s(load_part(simd, row.add(j), n - j), xs, *sum);
                }
            }
        }
        let (mut own, all) = ([0.0; C], sum_four_lanes(simd, sums));
        own.copy_from_slice(&all[..C]);
        own
    }

    /// `x −= Σ value · row` for the entries of `x` before `first`.
    #[inline(always)]
    unsafe fn subtract_values<S: Simd>(self, simd: S, x: *mut f64, values: [f64; C]) {
        let (w, n) = (lane_width::<S>(), self.first);
        let mut j = 0;
        // SAFETY: columns below `first`.
        unsafe {
            while j + w <= n {
                let mut sum = load_lanes::<S>(x.add(j));
                for (value, row) in values.into_iter().zip(self.at) {
                    let factor = simd.splat_f64s(-value);
                    sum = simd.mul_add_f64s(factor, load_lanes::<S>(row.add(j)), sum);
                }
                store_lanes::<S>(x.add(j), sum);
                j += w;
            }
            if j < n {
                let mut sum = load_part(simd, x.add(j), n - j);
                for (value, row) in values.into_iter().zip(self.at) {
                    let factor = simd.splat_f64s(-value);
                    sum = simd.mul_add_f64s(factor, load_part(simd, row.add(j), n - j), sum);
                }
                store_part(simd, x.add(j), n - j, sum);
            }
        }
    }
}

/// Systems up to this size are solved side by side: the buffer then stays in the first-level cache
/// and the factor in the second-level cache.
pub(super) const LONGEST: usize = 128;
/// Numbers of right sides next to each other: two registers of the widest machine.
const MOST: usize = 16;

/// A triangular matrix in the order in which its unknowns are solved: entry (s, t) with t ≤ s is
/// the factor of unknown t in equation s, whichever way the system runs.
#[derive(Clone, Copy)]
struct TriangularSystem {
    at: *const f64,
    row: isize,
    column: isize,
    side: usize,
    form: TriangularForm,
}

impl TriangularSystem {
    #[inline(always)]
    fn new(form: TriangularForm, l: StridedRows, side: usize) -> TriangularSystem {
        let (n, step) = (side as isize, l.step as isize);
        let (at, row, column) = match form {
            TriangularForm::Lower => (l.at, step, 1),
            // From the last unknown to the first, down the columns of L.
            TriangularForm::LowerTransposed => {
                (l.at.wrapping_offset((n - 1) * (step + 1)), -1, -step)
            }
        };
        TriangularSystem {
            at,
            row,
            column,
            side,
            form,
        }
    }

    /// The unknown that is solved in step `s`.
    #[inline(always)]
    fn unknown(self, s: usize) -> usize {
        match self.form {
            TriangularForm::Lower => s,
            TriangularForm::LowerTransposed => self.side - 1 - s,
        }
    }

    #[inline(always)]
    unsafe fn entry(self, s: usize, t: usize) -> f64 {
        // SAFETY: the caller stays within the triangle.
        unsafe {
            let row = (s as isize).wrapping_mul(self.row);
            *self
                .at
                .offset(row.wrapping_add((t as isize).wrapping_mul(self.column)))
        }
    }
}

/// Solves for each of `rows` rows of `x` in place.
///
/// # Safety
/// `l` must be readable for `n` rows and columns and `x` valid for `rows` rows of `n` numbers; `n` is at most
/// [`LONGEST`].
#[inline(always)]
pub(super) unsafe fn side_by_side<S: Simd>(
    simd: S,
    form: TriangularForm,
    x: StridedRows,
    l: StridedRows,
    (rows, n): (usize, usize),
) {
    let mut buffer = [MaybeUninit::<f64>::uninit(); LONGEST * MOST];
    let buffer = buffer.as_mut_ptr().cast::<f64>();
    let (matrix, group) = (TriangularSystem::new(form, l, n), 2 * lane_width::<S>());
    let together = StridedRows {
        at: buffer,
        step: group,
    };
    for first in (0..rows).step_by(group) {
        // SAFETY: rows below `rows`; the buffer holds `n` groups.
        unsafe {
            let own = StridedRows {
                at: x.at.add(first * x.step),
                ..x
            };
            let count = group.min(rows - first);
            if count < group {
                std::slice::from_raw_parts_mut(buffer, n * group).fill(0.0);
            }
            transpose_lanes(simd, (own, together), (count, n), Write::Replace);
            for s in (0..n).step_by(BLOCK) {
                match n - s {
                    1 => known::<S, 1>(simd, matrix, buffer, s),
                    2 => known::<S, 2>(simd, matrix, buffer, s),
                    3 => known::<S, 3>(simd, matrix, buffer, s),
                    _ => known::<S, BLOCK>(simd, matrix, buffer, s),
                }
            }
            transpose_lanes(simd, (together, own), (n, count), Write::Replace);
        }
    }
}

/// The unknowns of C steps from `first` on, for two registers of right sides.
#[inline(always)]
unsafe fn known<S: Simd, const C: usize>(simd: S, l: TriangularSystem, x: *mut f64, first: usize) {
    let w = lane_width::<S>();
    // SAFETY: steps below the side of the matrix.
    unsafe {
        let at = |s: usize, r: usize| x.add(line_place(line_place(l.unknown(s), 2, r), w, 0));
        let mut sums = [[simd.splat_f64s(0.0); 2]; C];
        for t in 0..first {
            let xs = [load_lanes::<S>(at(t, 0)), load_lanes::<S>(at(t, 1))];
            for (c, sums) in sums.iter_mut().enumerate() {
                let entry = simd.splat_f64s(l.entry(first + c, t));
                for r in 0..2 {
                    sums[r] = simd.mul_add_f64s(entry, xs[r], sums[r]);
                }
            }
        }
        for c in 0..C {
            let s = first + c;
            let inverse = simd.splat_f64s(1.0 / l.entry(s, s));
            for r in 0..2 {
                let mut rest = simd.sub_f64s(load_lanes::<S>(at(s, r)), sums[c][r]);
                for (b, before) in sums[..c].iter().enumerate() {
                    let entry = simd.splat_f64s(-l.entry(s, first + b));
                    rest = simd.mul_add_f64s(entry, before[r], rest);
                }
                sums[c][r] = simd.mul_f64s(rest, inverse);
                store_lanes::<S>(at(s, r), sums[c][r]);
            }
        }
    }
}
