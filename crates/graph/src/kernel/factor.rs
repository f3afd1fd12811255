//! Cholesky factors and triangular solves: small ones by the kernels of this crate, large ones by
//! faer.

use std::cell::RefCell;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Simd;

use super::reduce::dot_product;
use super::triangular::{LONGEST, side_by_side, substitute_backward, substitute_forward};
use super::turn::StridedRows;
use super::vector::line_place;
use crate::primitive::factor::TriangularForm;

/// From this side length on, products of matrices are faster.
const LARGE: usize = 48;
/// From this side length on, faer's factorisation is faster, which divides the matrix until its
/// parts fit the cache.
const HUGE: usize = 512;
/// Columns that are factorised before the columns to their right are updated.
const PANEL: usize = 32;

/// From this many right sides on, they are solved side by side.
const SEVERAL: usize = 3;

thread_local! {
    /// Work space of the blocked factorisation; grows once, then stays.
    static STACK: RefCell<(usize, MemBuffer)> =
        RefCell::new((0, MemBuffer::new(StackReq::empty())));
}

/// The lower factor of the symmetric part of `a`; all NaN from the first row that fails on.
///
/// # Safety
/// `out` and `a` must be valid for `n · n` numbers and not overlap.
#[inline(always)]
pub(super) unsafe fn factor_cholesky<S: Simd>(simd: S, out: *mut f64, a: *const f64, n: usize) {
    // SAFETY: entries below `n · n`.
    unsafe {
        lower_half(out, a, n);
        match n {
            ..LARGE => cholesky_small(simd, StridedRows { at: out, step: n }, n),
            LARGE..HUGE => cholesky_panels(simd, out, n),
            _ => cholesky_large(out, n),
        }
    }
}

/// The lower half of the symmetric part, with zeros above it. It works in squares, because half of
/// the reads go down columns, and a cache line then serves a whole square.
#[inline(always)]
unsafe fn lower_half(out: *mut f64, a: *const f64, n: usize) {
    const SIDE: usize = 8;
    for first in (0..n).step_by(SIDE) {
        let rows = first..n.min(first + SIDE);
        for left in (0..=first).step_by(SIDE) {
            for i in rows.clone() {
                for j in left..(left + SIDE).min(i + 1) {
                    // SAFETY: rows and columns below `n`.
                    unsafe {
                        *out.add(line_place(i, n, j)) =
                            0.5 * (*a.add(line_place(i, n, j)) + *a.add(line_place(j, n, i)));
                    }
                }
            }
        }
        for i in rows {
            // SAFETY: the entries right of the diagonal in row `i`.
            unsafe { std::slice::from_raw_parts_mut(out.add(i * n + i + 1), n - i - 1) }.fill(0.0);
        }
    }
}

/// The factor of the `side` rows and columns at `l`, whose rows are `step` numbers apart.
#[inline(always)]
unsafe fn cholesky_small<S: Simd>(simd: S, l: StridedRows, side: usize) {
    for i in 0..side {
        // SAFETY: rows i and j below `side`.
        unsafe {
            let own = l.at.add(i * l.step);
            for j in 0..=i {
                let other = l.at.add(j * l.step);
                let rest = *own.add(j) - dot_product(simd, own, other, j);
                *own.add(j) = match i == j {
                    true if rest > 0.0 => rest.sqrt(),
                    true => f64::NAN,
                    false => rest / *other.add(j),
                };
            }
        }
    }
}

/// Panel after panel: its corner, the rows below it, and the update of the remaining matrix.
#[inline(always)]
unsafe fn cholesky_panels<S: Simd>(simd: S, l: *mut f64, n: usize) {
    for first in (0..n).step_by(PANEL) {
        let side = PANEL.min(n - first);
        let below = n - first - side;
        // SAFETY: rows and columns below `n`.
        unsafe {
            let lines = |row: usize| StridedRows {
                at: l.add(row * n + first),
                step: n,
            };
            let (corner, panel) = (lines(first), lines((first + side).min(n - 1)));
            cholesky_small(simd, corner, side);
            if below > 0 {
                side_by_side(simd, TriangularForm::Lower, panel, corner, (below, side));
                subtract_square(panel, (below, side));
            }
        }
    }
}

/// Subtracts P Pᵀ from the lower half of the columns right of a panel P of `side` columns.
unsafe fn subtract_square(panel: StridedRows, (rows, side): (usize, usize)) {
    let step = panel.step as isize;
    let all = BlockStructure::Rectangular;
    // SAFETY: the panel and the columns right of it do not overlap.
    unsafe {
        let own = MatRef::from_raw_parts(panel.at.cast_const(), rows, side, step, 1);
        let rest = MatMut::from_raw_parts_mut(panel.at.add(side), rows, rows, step, 1);
        triangular_matmul(
            rest,
            BlockStructure::TriangularLower,
            Accum::Add,
            own,
            all,
            own.transpose(),
            all,
            -1.0,
            Par::Seq,
        );
    }
}

unsafe fn cholesky_large(l: *mut f64, n: usize) {
    let need = llt::cholesky_in_place_scratch::<f64>(n, Par::Seq, faer::Spec::default());
    STACK.with_borrow_mut(|(size, buffer)| {
        if need.size_bytes() + need.align_bytes() > *size {
            *size = need.size_bytes() + need.align_bytes();
            *buffer = MemBuffer::new(need);
        }
        // SAFETY: `n × n` numbers, row-major.
        let matrix = unsafe { MatMut::from_raw_parts_mut(l, n, n, n as isize, 1) };
        let done = llt::cholesky_in_place(
            matrix,
            llt::LltRegularization::default(),
            Par::Seq,
            MemStack::new(buffer),
            faer::Spec::default(),
        );
        if done.is_err() {
            // SAFETY: as above.
            let all = unsafe { std::slice::from_raw_parts_mut(l, n * n) };
            all.fill(f64::NAN);
        }
    });
}

/// Solves for each of `rows` rows of `b`.
///
/// # Safety
/// `l` must be readable for `n · n`, `out` and `b` valid for `rows · n` numbers.
#[inline(always)]
pub(super) unsafe fn solve_triangular<S: Simd>(
    simd: S,
    form: TriangularForm,
    [out, l, b]: [*mut f64; 3],
    (rows, n): (usize, usize),
) {
    // SAFETY: by the caller.
    unsafe {
        if !std::ptr::eq(out, b) {
            std::ptr::copy_nonoverlapping(b, out, rows * n);
        }
        if rows >= SEVERAL && n <= LONGEST {
            let [x, l] = [out, l].map(|at| StridedRows { at, step: n });
            return side_by_side(simd, form, x, l, (rows, n));
        }
        if n >= LARGE && rows > 1 {
            return solve_large(form, out, l, (rows, n));
        }
        for row in 0..rows {
            match form {
                TriangularForm::Lower => substitute_forward(simd, out.add(row * n), l, n),
                TriangularForm::LowerTransposed => {
                    substitute_backward(simd, out.add(row * n), l, n);
                }
            }
        }
    }
}

unsafe fn solve_large(
    form: TriangularForm,
    out: *mut f64,
    l: *const f64,
    (rows, n): (usize, usize),
) {
    // SAFETY: `n × n` row-major factor; the rows of the right side are the columns here.
    unsafe {
        let l = MatRef::from_raw_parts(l, n, n, n as isize, 1);
        let x = MatMut::from_raw_parts_mut(out, n, rows, 1, n as isize);
        match form {
            TriangularForm::Lower => solve_lower_triangular_in_place(l, x, Par::Seq),
            TriangularForm::LowerTransposed => {
                solve_upper_triangular_in_place(l.transpose(), x, Par::Seq);
            }
        }
    }
}

/// # Safety
/// Both must be valid for `rows · columns` numbers.
pub(super) unsafe fn copy_triangle(
    offset: i32,
    out: *mut f64,
    x: *const f64,
    [rows, columns]: [usize; 2],
) {
    for i in 0..rows {
        let keep = (i as i64 + 1 + i64::from(offset)).clamp(0, columns as i64) as usize;
        // SAFETY: row `i` of the matrix.
        unsafe {
            std::ptr::copy(x.add(i * columns), out.add(i * columns), keep);
            let rest = out.add(i * columns + keep);
            std::slice::from_raw_parts_mut(rest, columns - keep).fill(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::SimdLevel;
    use pulp::WithSimd;

    /// A factor with a diagonal around two, and numbers that are symmetric around zero below it.
    fn factor(n: usize) -> Vec<f64> {
        let entry = |k: usize| match (k / n, k % n) {
            (i, j) if i == j => 2.0 + (i as f64).sin(),
            (i, j) if j < i => (1.7 * k as f64).sin() / (n as f64).sqrt(),
            _ => 0.0,
        };
        (0..n * n).map(entry).collect()
    }

    /// L Lᵀ
    fn squared(l: &[f64], n: usize) -> Vec<f64> {
        let row = |i: usize| l[i * n..][..n].iter();
        let entry = |k: usize| row(k / n).zip(row(k % n)).map(|(a, b)| a * b).sum();
        (0..n * n).map(entry).collect()
    }

    struct Factorised<'a>(&'a [f64], usize);

    impl WithSimd for Factorised<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
            let mut out = vec![f64::NAN; self.0.len()];
            // SAFETY: `n · n` numbers each.
            unsafe { factor_cholesky(simd, out.as_mut_ptr(), self.0.as_ptr(), self.1) };
            out
        }
    }

    struct Solved<'a> {
        form: TriangularForm,
        l: &'a mut [f64],
        right: &'a mut [f64],
        size: (usize, usize),
    }

    impl WithSimd for Solved<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
            let mut out = vec![f64::NAN; self.right.len()];
            let at = [&mut out[..], self.l, self.right].map(<[f64]>::as_mut_ptr);
            // SAFETY: a factor and rows of this size.
            unsafe { solve_triangular(simd, self.form, at, self.size) };
            out
        }
    }

    #[test]
    fn factors_of_any_side_are_those_that_were_squared_on_every_level() {
        for n in [1, 7, 31, 47, 48, 64, 65, 97, 130, 511, 513] {
            let known = factor(n);
            let square = squared(&known, n);
            for arch in SimdLevel::all().into_iter().filter_map(SimdLevel::arch) {
                let found = arch.dispatch(Factorised(&square, n));
                let far = found.iter().zip(&known).map(|(a, b)| (a - b).abs());
                let far = far.fold(
                    0.0,
                    |far: f64, x| if x > far || x.is_nan() { x } else { far },
                );
                assert!(far < 1e-11, "{arch:?} {n}: {far:e}");
            }
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_has_no_number_from_there_on() {
        for (n, bad) in [(20, 7), (100, 40), (130, 129), (600, 300)] {
            let mut square = squared(&factor(n), n);
            square[bad * n + bad] = -1.0;
            for arch in SimdLevel::all().into_iter().filter_map(SimdLevel::arch) {
                let found = arch.dispatch(Factorised(&square, n));
                assert!((bad..n).all(|i| found[i * n + i].is_nan()), "{arch:?} {n}");
            }
        }
    }

    #[test]
    fn solves_of_any_side_and_number_of_rows_give_back_what_was_multiplied_on_every_level() {
        let sides = [3, 31, 64, 65, 127, 128, 129];
        for (n, rows) in sides
            .into_iter()
            .flat_map(|n| [1, 2, 3, 9, 40].map(|rows| (n, rows)))
        {
            let (mut l, x) = (factor(n), (0..rows * n).map(|k| (0.3 * k as f64).cos()));
            let x: Vec<f64> = x.collect();
            for form in [TriangularForm::Lower, TriangularForm::LowerTransposed] {
                let entry = |i: usize, j: usize| match form {
                    TriangularForm::Lower => l[i * n + j],
                    TriangularForm::LowerTransposed => l[j * n + i],
                };
                let times = |k: usize| (0..n).map(|j| entry(k % n, j) * x[k / n * n + j]).sum();
                let mut right: Vec<f64> = (0..rows * n).map(times).collect();
                for arch in SimdLevel::all().into_iter().filter_map(SimdLevel::arch) {
                    let (l, right) = (&mut l[..], &mut right[..]);
                    let size = (rows, n);
                    let found = arch.dispatch(Solved {
                        form,
                        l,
                        right,
                        size,
                    });
                    let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
                    assert!(found.iter().zip(&x).all(near), "{arch:?} {n} {rows}");
                }
            }
        }
    }
}
