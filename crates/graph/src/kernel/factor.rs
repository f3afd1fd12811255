//! Cholesky factors and triangular solves: small ones by own kernels, large ones by faer.

use std::cell::RefCell;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{MatMut, MatRef, Par};
use pulp::Simd;

use super::reduce::dot;
use super::triangular::{LONGEST, backward, forward, side_by_side};
use crate::primitive::factor::Form;

/// From this side on, faer's blocked algorithms win.
const LARGE: usize = 48;

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
pub(super) unsafe fn cholesky<S: Simd>(simd: S, out: *mut f64, a: *const f64, n: usize) {
    // SAFETY: entries below `n · n`.
    unsafe {
        lower_half(out, a, n);
        if n >= LARGE {
            cholesky_large(out, n);
        } else {
            cholesky_small(simd, out, n);
        }
    }
}

/// The lower half of the symmetric part, zeros above it; in squares, since half of the reads go down columns,
/// whose lines then serve a whole square.
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
                        *out.add(i * n + j) = 0.5 * (*a.add(i * n + j) + *a.add(j * n + i));
                    }
                }
            }
        }
        for i in rows {
            // SAFETY: what is above the diagonal of row `i`.
            unsafe { std::slice::from_raw_parts_mut(out.add(i * n + i + 1), n - i - 1) }.fill(0.0);
        }
    }
}

#[inline(always)]
unsafe fn cholesky_small<S: Simd>(simd: S, l: *mut f64, n: usize) {
    for i in 0..n {
        for j in 0..=i {
            // SAFETY: rows i and j below `n`.
            unsafe {
                let done = dot(simd, l.add(i * n), l.add(j * n), j);
                let rest = *l.add(i * n + j) - done;
                *l.add(i * n + j) = match i == j {
                    true if rest > 0.0 => rest.sqrt(),
                    true => f64::NAN,
                    false => rest / *l.add(j * n + j),
                };
            }
        }
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
pub(super) unsafe fn solve<S: Simd>(
    simd: S,
    form: Form,
    [out, l, b]: [*mut f64; 3],
    (rows, n): (usize, usize),
) {
    // SAFETY: by the caller.
    unsafe {
        if !std::ptr::eq(out, b) {
            std::ptr::copy_nonoverlapping(b, out, rows * n);
        }
        if rows >= SEVERAL && n <= LONGEST {
            return side_by_side(simd, form, out, l, (rows, n));
        }
        if n >= LARGE && rows > 1 {
            return solve_large(form, out, l, (rows, n));
        }
        for row in 0..rows {
            match form {
                Form::Lower => forward(simd, out.add(row * n), l, n),
                Form::LowerTransposed => backward(simd, out.add(row * n), l, n),
            }
        }
    }
}

unsafe fn solve_large(form: Form, out: *mut f64, l: *const f64, (rows, n): (usize, usize)) {
    // SAFETY: `n × n` row-major factor; the rows of the right side are the columns here.
    unsafe {
        let l = MatRef::from_raw_parts(l, n, n, n as isize, 1);
        let x = MatMut::from_raw_parts_mut(out, n, rows, 1, n as isize);
        match form {
            Form::Lower => solve_lower_triangular_in_place(l, x, Par::Seq),
            Form::LowerTransposed => {
                solve_upper_triangular_in_place(l.transpose(), x, Par::Seq);
            }
        }
    }
}

/// # Safety
/// Both must be valid for `rows · columns` numbers.
pub(super) unsafe fn tril(offset: i32, out: *mut f64, x: *const f64, [rows, columns]: [usize; 2]) {
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
