//! Products by panels: a few registers of columns, a few rows at a time.

use std::mem::MaybeUninit;

use pulp::Simd;

use super::{AHEAD, Product, write_value};
use crate::instruction::Write;
use crate::kernel::prefetch::ask_for;
use crate::kernel::vector::{
    lane_width, line_place, load_in, load_lanes, partial_lanes, store_lanes, store_part,
};

/// Numbers in a buffer on the stack: 16 KiB, half of a first-level cache.
pub(super) const BUFFER: usize = 2048;

/// Memory for parts of a product that are copied first.
pub(super) type Buffer = [MaybeUninit<f64>; BUFFER];

/// Columns of C, two registers at a time: with up to six rows, the sums and the operands exactly
/// fit sixteen registers, and one sum spilled to the stack would halve the speed. If A is FAR, its
/// rows are prefetched.
#[inline(always)]
pub(super) unsafe fn multiply_panels<S: Simd, const FAR: bool>(simd: S, p: Product) {
    let w = lane_width::<S>();
    let mut j = 0;
    // SAFETY: columns below `n`.
    unsafe {
        while j < p.n {
            let rest = p.after_columns(j);
            j += match rest.n / w {
                2.. => rows_of_panel::<S, 2, FAR>(simd, rest, w),
                1 if rest.n > w => rows_of_panel::<S, 2, FAR>(simd, rest, rest.n - w),
                1 => rows_of_panel::<S, 1, FAR>(simd, rest, w),
                0 if p.n > w => last_columns(simd, p, rest.n),
                0 => multiply_narrow(simd, rest),
            };
        }
    }
}

/// N registers of columns that start `apart` numbers from each other. They may overlap, and both
/// then hold the same sums.
#[inline(always)]
unsafe fn rows_of_panel<S: Simd, const N: usize, const FAR: bool>(
    simd: S,
    p: Product,
    apart: usize,
) -> usize {
    // SAFETY: the registers end within the columns that are left.
    unsafe {
        multiply_tiles::<S, N, FAR>(simd, p, apart, |to, mut sums| {
            if p.write == Write::Accumulate {
                for (r, sum) in sums.iter_mut().enumerate() {
                    *sum = simd.add_f64s(load_lanes::<S>(to.add(r * apart)), *sum);
                }
            }
            for (r, sum) in sums.into_iter().enumerate() {
                store_lanes::<S>(to.add(r * apart), sum);
            }
        });
    }
    (N - 1) * apart + lane_width::<S>()
}

/// The last columns, fewer than a register holds, as the end of a whole register.
#[inline(always)]
unsafe fn last_columns<S: Simd>(simd: S, p: Product, count: usize) -> usize {
    let w = lane_width::<S>();
    // SAFETY: C has more columns than a register holds; only the last are written.
    unsafe {
        multiply_tiles::<S, 1, false>(simd, p.after_columns(p.n - w), w, |to, [sum]| {
            let numbers = (&raw const sum).cast::<f64>();
            for r in w - count..w {
                write_value(to.add(r), *numbers.add(r), p.write);
            }
        });
    }
    count
}

/// All rows of the first N registers of columns: four to six rows at a time, or eight for a single
/// register, so that additions overlap. `write` gets the start of a row of C and its sums.
#[inline(always)]
unsafe fn multiply_tiles<S: Simd, const N: usize, const FAR: bool>(
    simd: S,
    p: Product,
    apart: usize,
    write: impl Fn(*mut f64, [S::f64s; N]),
) {
    let mut i = 0;
    // SAFETY: rows below `m`.
    unsafe {
        while i < p.m {
            let rest = p.after_rows(i);
            i += match rest.m {
                1 => multiply_tile::<S, 1, N, FAR>(simd, rest, apart, &write),
                2 => multiply_tile::<S, 2, N, FAR>(simd, rest, apart, &write),
                3 => multiply_tile::<S, 3, N, FAR>(simd, rest, apart, &write),
                8 if N == 1 => multiply_tile::<S, 8, N, FAR>(simd, rest, apart, &write),
                4 | 7 | 8 => multiply_tile::<S, 4, N, FAR>(simd, rest, apart, &write),
                5 | 9 | 10 => multiply_tile::<S, 5, N, FAR>(simd, rest, apart, &write),
                _ => multiply_tile::<S, 6, N, FAR>(simd, rest, apart, &write),
            };
        }
    }
}

/// The first M rows by N registers of C, all in registers while k runs.
#[inline(always)]
unsafe fn multiply_tile<S: Simd, const M: usize, const N: usize, const FAR: bool>(
    simd: S,
    p: Product,
    apart: usize,
    write: &impl Fn(*mut f64, [S::f64s; N]),
) -> usize {
    // SAFETY: M rows and N registers are left.
    unsafe {
        let mut sums = [[simd.splat_f64s(0.0); N]; M];
        let (mut row, mut column) = (p.b.at.cast_const(), p.a.at.cast_const());
        let mut ahead = column.wrapping_add(AHEAD * p.a.row);
        for _ in 0..p.k {
            // M numbers are read per step, and as many are prefetched.
            if FAR {
                ask_for(ahead, M);
                ahead = ahead.wrapping_add(M);
            }
            let mut bs = [simd.splat_f64s(0.0); N];
            for (r, b) in bs.iter_mut().enumerate() {
                *b = load_lanes::<S>(row.add(line_place(r, apart, 0)));
            }
            for (i, sums) in sums.iter_mut().enumerate() {
                let entry = simd.splat_f64s(*column.add(line_place(i, p.a.row, 0)));
                for r in 0..N {
                    sums[r] = simd.mul_add_f64s(entry, bs[r], sums[r]);
                }
            }
            row = row.wrapping_add(p.b.row);
            column = column.wrapping_add(p.a.col);
        }
        for (i, sums) in sums.into_iter().enumerate() {
            write(p.c.entry(i, 0), sums);
        }
    }
    M
}

/// Fewer columns than a register holds: up to eight rows at a time, whose sums overlap and which
/// share the loads of B.
#[inline(always)]
unsafe fn multiply_narrow<S: Simd>(simd: S, p: Product) -> usize {
    let mut i = 0;
    // SAFETY: rows below `m`.
    unsafe {
        while i < p.m {
            let rest = p.after_rows(i);
            i += match rest.m {
                1 => narrow_rows::<S, 1>(simd, rest),
                2 | 3 => narrow_rows::<S, 2>(simd, rest),
                4..8 => narrow_rows::<S, 4>(simd, rest),
                _ => narrow_rows::<S, 8>(simd, rest),
            };
        }
    }
    p.n
}

#[inline(always)]
unsafe fn narrow_rows<S: Simd, const M: usize>(simd: S, p: Product) -> usize {
    let some = partial_lanes(simd, p.n);
    // SAFETY: M rows and `n` columns are left.
    unsafe {
        let mut sums = [simd.splat_f64s(0.0); M];
        let (mut row, mut column) = (p.b.at.cast_const(), p.a.at.cast_const());
        for _ in 0..p.k {
            let numbers = load_in(simd, some, row);
            for (i, sum) in sums.iter_mut().enumerate() {
                let entry = simd.splat_f64s(*column.add(line_place(i, p.a.row, 0)));
                *sum = simd.mul_add_f64s(entry, numbers, *sum);
            }
            row = row.wrapping_add(p.b.row);
            column = column.wrapping_add(p.a.col);
        }
        for (i, mut sum) in sums.into_iter().enumerate() {
            let to = p.c.entry(i, 0);
            if p.write == Write::Accumulate {
                sum = simd.add_f64s(load_in(simd, some, to), sum);
            }
            store_part(simd, to, p.n, sum);
        }
    }
    M
}
