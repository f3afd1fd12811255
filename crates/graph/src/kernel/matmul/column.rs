//! A matrix times one column.

use pulp::Simd;

use super::{AHEAD, MatrixView, Product, write_value};
use crate::instruction::Write;
use crate::kernel::prefetch::ask_for;
use crate::kernel::reduce::{dot_product, sum_four_lanes};
use crate::kernel::vector::{
    lane_width, load_in, load_lanes, partial_lanes, store_lanes, store_part,
};

/// # Safety
/// As [`Product`] says; `n` is one.
#[inline(always)]
pub(super) unsafe fn multiply_column<S: Simd>(simd: S, p: Product) {
    // SAFETY: the same product, dispatched by its strides.
    unsafe {
        if p.a.col == 1 && (p.b.row == 1 || p.k == 1) {
            by_rows(simd, p);
        } else if p.a.row == 1 && (p.c.row == 1 || p.m == 1) {
            by_columns(simd, p);
        } else {
            by_entries(p);
        }
    }
}

/// For any strides.
unsafe fn by_entries(p: Product) {
    for i in 0..p.m {
        let mut sum = 0.0;
        // SAFETY: rows below `m`, columns below `k`.
        unsafe {
            for l in 0..p.k {
                sum += *p.a.entry(i, l) * *p.b.entry(l, 0);
            }
            write_value(p.c.entry(i, 0), sum, p.write);
        }
    }
}

/// Rows of A are contiguous. A short column is held in registers while the rows stream by.
#[inline(always)]
unsafe fn by_rows<S: Simd>(simd: S, p: Product) {
    // SAFETY: the first N registers of the column are whole.
    unsafe {
        match p.k / lane_width::<S>() {
            1 => multiply_rows::<S, 1>(simd, p),
            2 => multiply_rows::<S, 2>(simd, p),
            3 => multiply_rows::<S, 3>(simd, p),
            4 => multiply_rows::<S, 4>(simd, p),
            5 => multiply_rows::<S, 5>(simd, p),
            6 => multiply_rows::<S, 6>(simd, p),
            7 => multiply_rows::<S, 7>(simd, p),
            _ => multiply_rows::<S, 0>(simd, p),
        }
    }
}

/// Four inner products at a time, with the first N registers of the column held.
#[inline(always)]
unsafe fn multiply_rows<S: Simd, const N: usize>(simd: S, p: Product) {
    let w = lane_width::<S>();
    let x = p.b.at.cast_const();
    let mut i = 0;
    // SAFETY: rows below `m`, columns below `k`.
    unsafe {
        let tail = partial_lanes(simd, p.k % w);
        let held: [S::f64s; N] = std::array::from_fn(|j| load_lanes::<S>(x.add(j * w)));
        let plain = p.c.row == 1 && p.write == Write::Replace;
        let (mut from, step) = (p.a.at.cast_const(), p.a.row);
        while i + FOUR <= p.m {
            let row = [from, from.add(step), from.add(2 * step), from.add(3 * step)];
            if p.a.far {
                ask_for(from.wrapping_add(AHEAD * step), FOUR * step);
            }
            let mut sums = [simd.splat_f64s(0.0); FOUR];
            for (j, xs) in held.into_iter().enumerate() {
                for r in 0..FOUR {
                    sums[r] = simd.mul_add_f64s(load_lanes::<S>(row[r].add(j * w)), xs, sums[r]);
                }
            }
            let mut j = N * w;
            // The held registers are all whole registers of the column.
            while N == 0 && j + w <= p.k {
                let xs = load_lanes::<S>(x.add(j));
                for r in 0..FOUR {
                    sums[r] = simd.mul_add_f64s(load_lanes::<S>(row[r].add(j)), xs, sums[r]);
                }
                j += w;
            }
            if j < p.k {
                let xs = load_in(simd, tail, x.add(j));
                for r in 0..FOUR {
                    let rest = load_in(simd, tail, row[r].add(j));
                    sums[r] = simd.mul_add_f64s(rest, xs, sums[r]);
                }
            }
            let values = sum_four_lanes(simd, sums);
            if plain {
                p.c.at.add(i).cast::<[f64; FOUR]>().write_unaligned(values);
            } else {
                put_four(p.c.from(i, 0), values, p.write);
            }
            from = from.wrapping_add(FOUR * step);
            i += FOUR;
        }
        for i in i..p.m {
            write_value(
                p.c.entry(i, 0),
                dot_product(simd, p.a.entry(i, 0), x, p.k),
                p.write,
            );
        }
    }
}

const FOUR: usize = 4;

/// Four numbers down a column.
#[inline(always)]
unsafe fn put_four(c: MatrixView, values: [f64; FOUR], write: Write) {
    for (r, value) in values.into_iter().enumerate() {
        // SAFETY: by the caller.
        unsafe { write_value(c.entry(r, 0), value, write) };
    }
}

/// Columns of A are contiguous. Registers of C stay in place while the columns stream by, up to
/// fourteen at a time: with a number of x that leaves one register of sixteen.
#[inline(always)]
unsafe fn by_columns<S: Simd>(simd: S, p: Product) {
    let w = lane_width::<S>();
    if p.m < w {
        // SAFETY: the numbers of a part.
        return unsafe { part_of_column(simd, p) };
    }
    let mut rest = p;
    // SAFETY: rows below `m`, of which there are enough for a register.
    unsafe {
        while rest.m > 14 * w {
            multiply_columns::<S, 8, 1>(simd, rest);
            rest = rest.after_rows(8 * w);
        }
        match rest.m.div_ceil(w) {
            1 => multiply_columns::<S, 1, 4>(simd, rest),
            2 => multiply_columns::<S, 2, 4>(simd, rest),
            3 => multiply_columns::<S, 3, 2>(simd, rest),
            4 => multiply_columns::<S, 4, 2>(simd, rest),
            5 => multiply_columns::<S, 5, 1>(simd, rest),
            6 => multiply_columns::<S, 6, 1>(simd, rest),
            7 => multiply_columns::<S, 7, 1>(simd, rest),
            8 => multiply_columns::<S, 8, 1>(simd, rest),
            9 => multiply_columns::<S, 9, 1>(simd, rest),
            10 => multiply_columns::<S, 10, 1>(simd, rest),
            11 => multiply_columns::<S, 11, 1>(simd, rest),
            12 => multiply_columns::<S, 12, 1>(simd, rest),
            13 => multiply_columns::<S, 13, 1>(simd, rest),
            _ => multiply_columns::<S, 14, 1>(simd, rest),
        }
    }
}

/// N registers of the result, as T sums side by side where N alone would leave the adders waiting.
/// The last register ends with the result and may overlap the one before; both then hold the same
/// sums. Columns are taken last to first: in a chain, X z comes before Xᵀ r and has left the last
/// rows in the first-level cache.
#[inline(always)]
unsafe fn multiply_columns<S: Simd, const N: usize, const T: usize>(simd: S, p: Product) {
    // SAFETY: by the caller.
    unsafe {
        let mut sums = [[simd.splat_f64s(0.0); N]; T];
        if p.write == Write::Accumulate {
            for (r, sum) in sums[0].iter_mut().enumerate() {
                *sum = load_lanes::<S>(p.c.at.add(place::<S, N>(p.m, r)));
            }
        }
        let mut l = p.k;
        while l >= T {
            for sums in &mut sums {
                l -= 1;
                add_column(simd, p, l, sums);
            }
        }
        for sums in &mut sums[..p.k % T] {
            l -= 1;
            add_column(simd, p, l, sums);
        }
        for r in 0..N {
            let mut sum = sums[0][r];
            for other in &sums[1..] {
                sum = simd.add_f64s(sum, other[r]);
            }
            store_lanes::<S>(p.c.at.add(place::<S, N>(p.m, r)), sum);
        }
    }
}

/// Where register `r` of N begins.
#[inline(always)]
fn place<S: Simd, const N: usize>(m: usize, r: usize) -> usize {
    let w = lane_width::<S>();
    if r + 1 == N { m.min(N * w) - w } else { r * w }
}

/// Column `l` of A times its number.
#[inline(always)]
unsafe fn add_column<S: Simd, const N: usize>(
    simd: S,
    p: Product,
    l: usize,
    sums: &mut [S::f64s; N],
) {
    // SAFETY: a column below `k`, whose registers end where it does.
    unsafe {
        let (column, xs) = (p.a.entry(0, l), simd.splat_f64s(*p.b.entry(l, 0)));
        for (r, sum) in sums.iter_mut().enumerate() {
            let numbers = load_lanes::<S>(column.add(place::<S, N>(p.m, r)));
            *sum = simd.mul_add_f64s(numbers, xs, *sum);
        }
    }
}

/// A result shorter than a register.
#[inline(always)]
unsafe fn part_of_column<S: Simd>(simd: S, p: Product) {
    // SAFETY: no access beyond the `m` numbers of a column.
    unsafe {
        let some = partial_lanes(simd, p.m);
        let mut sum = match p.write {
            Write::Replace => simd.splat_f64s(0.0),
            Write::Accumulate => load_in(simd, some, p.c.at),
        };
        for l in 0..p.k {
            let xs = simd.splat_f64s(*p.b.entry(l, 0));
            sum = simd.mul_add_f64s(load_in(simd, some, p.a.entry(0, l)), xs, sum);
        }
        store_part(simd, p.c.at, p.m, sum);
    }
}
