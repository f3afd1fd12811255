//! Small triangular solves, four rows at a time.
//!
//! Row by row each number waits for the one before: for its division, for the sum across a
//! register, and for memory that was just written in another width. In blocks that wait is
//! for four numbers at once, and divisions are done ahead.

use pulp::Simd;

use super::reduce::totals;
use super::vector::{load, load_part, store, store_part, width};

/// Rows of a block.
const BLOCK: usize = 4;

/// L x = b in place.
///
/// # Safety
/// `l` must be readable for `n · n` and `x` valid for `n` numbers.
#[inline(always)]
pub(super) unsafe fn forward<S: Simd>(simd: S, x: *mut f64, l: *const f64, n: usize) {
    for i in (0..n).step_by(BLOCK) {
        // SAFETY: `n - i` rows are left.
        unsafe {
            match n - i {
                1 => Rows::<1>::from(l, i, n).forward(simd, x),
                2 => Rows::<2>::from(l, i, n).forward(simd, x),
                3 => Rows::<3>::from(l, i, n).forward(simd, x),
                _ => Rows::<BLOCK>::from(l, i, n).forward(simd, x),
            }
        }
    }
}

/// Lᵀ x = b in place; the columns of Lᵀ are the contiguous rows of L.
///
/// # Safety
/// As [`forward`].
#[inline(always)]
pub(super) unsafe fn backward<S: Simd>(simd: S, x: *mut f64, l: *const f64, n: usize) {
    for i in (0..n).step_by(BLOCK).rev() {
        // SAFETY: `n - i` rows are left.
        unsafe {
            match n - i {
                1 => Rows::<1>::from(l, i, n).backward(simd, x),
                2 => Rows::<2>::from(l, i, n).backward(simd, x),
                3 => Rows::<3>::from(l, i, n).backward(simd, x),
                _ => Rows::<BLOCK>::from(l, i, n).backward(simd, x),
            }
        }
    }
}

/// The rows of L from `first` on; the pointers of one are valid up to their diagonal.
#[derive(Clone, Copy)]
struct Rows<const C: usize> {
    first: usize,
    at: [*const f64; C],
}

impl<const C: usize> Rows<C> {
    #[inline(always)]
    unsafe fn from(l: *const f64, first: usize, n: usize) -> Rows<C> {
        let mut at = [l; C];
        for (r, at) in at.iter_mut().enumerate() {
            // SAFETY: by the caller.
            *at = unsafe { l.add((first + r) * n) };
        }
        Rows { first, at }
    }

    #[inline(always)]
    unsafe fn forward<S: Simd>(self, simd: S, x: *mut f64) {
        // SAFETY: columns up to the diagonal.
        unsafe {
            let inverse = self.inverse_diagonal();
            let mut values = self.products(simd, x);
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
    unsafe fn backward<S: Simd>(self, simd: S, x: *mut f64) {
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
            self.subtract(simd, x, values);
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

    /// The inner product of each row with `x`, as far as the rows before reach.
    #[inline(always)]
    unsafe fn products<S: Simd>(self, simd: S, x: *const f64) -> [f64; C] {
        let (w, n) = (width::<S>(), self.first);
        let mut sums = [simd.splat_f64s(0.0); BLOCK];
        let mut j = 0;
        // SAFETY: columns below `first`.
        unsafe {
            while j + w <= n {
                let xs = load::<S>(x.add(j));
                for (sum, row) in sums.iter_mut().zip(self.at) {
                    *sum = simd.mul_add_f64s(load::<S>(row.add(j)), xs, *sum);
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
        let (mut own, all) = ([0.0; C], totals(simd, sums));
        own.copy_from_slice(&all[..C]);
        own
    }

    /// `x −= Σ value · row`, as far as the rows before reach.
    #[inline(always)]
    unsafe fn subtract<S: Simd>(self, simd: S, x: *mut f64, values: [f64; C]) {
        let (w, n) = (width::<S>(), self.first);
        let mut j = 0;
        // SAFETY: columns below `first`.
        unsafe {
            while j + w <= n {
                let mut sum = load::<S>(x.add(j));
                for (value, row) in values.into_iter().zip(self.at) {
                    let factor = simd.splat_f64s(-value);
                    sum = simd.mul_add_f64s(factor, load::<S>(row.add(j)), sum);
                }
                store::<S>(x.add(j), sum);
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
