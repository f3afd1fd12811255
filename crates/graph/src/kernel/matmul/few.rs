//! Products with fewer columns than a register holds, by registers along another axis.

use pulp::Simd;

use super::panel::{BUFFER, Buffer, multiply_panels};
use super::{MatrixView, Product, write_value};
use crate::instruction::Write;
use crate::kernel::reduce::{dot_product, sum_four_lanes};
use crate::kernel::vector::{lane_width, line_place, load_in, load_lanes, partial_lanes};

/// Rows at a time.
const FOUR: usize = 4;

/// Computes the product if A is long and contiguous along its rows or its columns, and returns
/// whether it did.
///
/// # Safety
/// As [`Product`] says; `n` is at least two and below the width of a register.
#[inline(always)]
pub(super) unsafe fn multiply_few<S: Simd>(simd: S, p: Product, buffer: &mut Buffer) -> bool {
    let long = 2 * lane_width::<S>();
    // SAFETY: the same product.
    unsafe {
        if p.a.row == 1 && p.m >= long {
            multiply_across(simd, p, buffer);
        } else if p.a.col == 1 && p.k >= long && p.n <= 3 && p.n * p.k <= BUFFER {
            match p.n {
                2 => multiply_inner::<S, 2>(simd, p, buffer),
                _ => multiply_inner::<S, 3>(simd, p, buffer),
            }
        } else {
            return false;
        }
    }
    true
}

/// Columns of A are contiguous: Cᵀ = Bᵀ Aᵀ has long rows, which are copied to their places.
#[inline(always)]
unsafe fn multiply_across<S: Simd>(simd: S, p: Product, buffer: &mut Buffer) {
    let start = buffer.as_mut_ptr().cast::<f64>();
    let most = BUFFER / p.n;
    for i in (0..p.m).step_by(most) {
        let count = most.min(p.m - i);
        // SAFETY: `n` rows of `count` numbers fit the buffer.
        unsafe {
            let turned = Product {
                m: p.n,
                n: count,
                k: p.k,
                a: p.b.transposed(),
                b: p.a.from(i, 0).transposed(),
                c: MatrixView {
                    at: start,
                    row: count,
                    col: 1,
                    far: false,
                },
                write: Write::Replace,
            };
            multiply_panels::<S, false>(simd, turned);
            for r in 0..count {
                for c in 0..p.n {
                    write_value(
                        p.c.entry(i + r, c),
                        *start.add(line_place(c, count, r)),
                        p.write,
                    );
                }
            }
        }
    }
}

/// Rows of A are contiguous: inner products of four of them with N columns, which are copied first.
#[inline(always)]
unsafe fn multiply_inner<S: Simd, const N: usize>(simd: S, p: Product, buffer: &mut Buffer) {
    let start = buffer.as_mut_ptr().cast::<f64>();
    let mut i = 0;
    // SAFETY: rows below `m`, columns below `k`; N columns of `k` numbers fit the buffer.
    unsafe {
        for l in 0..p.k {
            for c in 0..N {
                *start.add(line_place(c, p.k, l)) = *p.b.entry(l, c);
            }
        }
        while i + FOUR <= p.m {
            let sums = four_rows::<S, N>(simd, p.after_rows(i), start);
            for (c, sums) in sums.into_iter().enumerate() {
                for (r, value) in sum_four_lanes(simd, sums).into_iter().enumerate() {
                    write_value(p.c.entry(i + r, c), value, p.write);
                }
            }
            i += FOUR;
        }
        for i in i..p.m {
            for c in 0..N {
                let value = dot_product(simd, p.a.entry(i, 0), start.add(c * p.k), p.k);
                write_value(p.c.entry(i, c), value, p.write);
            }
        }
    }
}

/// The partial sums of four rows for each column.
#[inline(always)]
unsafe fn four_rows<S: Simd, const N: usize>(
    simd: S,
    p: Product,
    columns: *const f64,
) -> [[S::f64s; FOUR]; N] {
    let w = lane_width::<S>();
    let (mut sums, mut j) = ([[simd.splat_f64s(0.0); FOUR]; N], 0);
    // SAFETY: four rows are left, and columns below `k`.
    unsafe {
        while j + w <= p.k {
            let rows = std::array::from_fn(|r| load_lanes::<S>(p.a.entry(r, j)));
            let numbers =
                std::array::from_fn(|c| load_lanes::<S>(columns.add(line_place(c, p.k, j))));
            add_products(simd, &mut sums, rows, numbers);
            j += w;
        }
        if j < p.k {
            let tail = partial_lanes(simd, p.k - j);
            let mut rows = [simd.splat_f64s(0.0); FOUR];
            for (r, row) in rows.iter_mut().enumerate() {
                *row = load_in(simd, tail, p.a.entry(r, j));
            }
            let mut numbers = [simd.splat_f64s(0.0); N];
            for (c, numbers) in numbers.iter_mut().enumerate() {
                *numbers = load_in(simd, tail, columns.add(line_place(c, p.k, j)));
            }
            add_products(simd, &mut sums, rows, numbers);
        }
    }
    sums
}

#[inline(always)]
fn add_products<S: Simd, const N: usize>(
    simd: S,
    sums: &mut [[S::f64s; FOUR]; N],
    rows: [S::f64s; FOUR],
    columns: [S::f64s; N],
) {
    for (sums, column) in sums.iter_mut().zip(columns) {
        for r in 0..FOUR {
            sums[r] = simd.mul_add_f64s(rows[r], column, sums[r]);
        }
    }
}
