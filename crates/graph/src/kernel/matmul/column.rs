//! A matrix times one column.

use pulp::Simd;

use super::{Product, put};
use crate::kernel::reduce::dot;
use crate::kernel::vector::{load, load_part, store, store_part, width};
use crate::plan::instruction::Write;

/// # Safety
/// As [`Product`] says; `n` is one.
#[inline(always)]
pub(super) unsafe fn column<S: Simd>(simd: S, p: Product) {
    // SAFETY: the same product, told apart by its strides.
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

/// Whatever the strides.
unsafe fn by_entries(p: Product) {
    for i in 0..p.m {
        let mut sum = 0.0;
        // SAFETY: rows below `m`, columns below `k`.
        unsafe {
            for l in 0..p.k {
                sum += *p.a.entry(i, l) * *p.b.entry(l, 0);
            }
            put(p.c.entry(i, 0), sum, p.write);
        }
    }
}

/// Rows of A contiguous: four inner products at a time share the loads of the column.
#[inline(always)]
unsafe fn by_rows<S: Simd>(simd: S, p: Product) {
    const ROWS: usize = 4;
    let w = width::<S>();
    let x = p.b.at.cast_const();
    let mut i = 0;
    // SAFETY: rows below `m`, columns below `k`.
    unsafe {
        while i + ROWS <= p.m {
            let mut sums = [simd.splat_f64s(0.0); ROWS];
            let row: [*const f64; ROWS] = std::array::from_fn(|r| p.a.entry(i + r, 0).cast_const());
            let mut j = 0;
            while j + w <= p.k {
                let xs = load::<S>(x.add(j));
                for r in 0..ROWS {
                    sums[r] = simd.mul_add_f64s(load::<S>(row[r].add(j)), xs, sums[r]);
                }
                j += w;
            }
            if j < p.k {
                let xs = load_part(simd, x.add(j), p.k - j);
                for r in 0..ROWS {
                    let part = load_part(simd, row[r].add(j), p.k - j);
                    sums[r] = simd.mul_add_f64s(part, xs, sums[r]);
                }
            }
            for (r, sum) in sums.into_iter().enumerate() {
                put(p.c.entry(i + r, 0), simd.reduce_sum_f64s(sum), p.write);
            }
            i += ROWS;
        }
        for i in i..p.m {
            put(p.c.entry(i, 0), dot(simd, p.a.entry(i, 0), x, p.k), p.write);
        }
    }
}

/// Columns of A contiguous: up to eight registers of C stay in place while the columns stream by.
#[inline(always)]
unsafe fn by_columns<S: Simd>(simd: S, p: Product) {
    let w = width::<S>();
    let mut i = 0;
    // SAFETY: rows below `m`.
    unsafe {
        while i < p.m {
            let rest = p.after_rows(i);
            i += match rest.m / w {
                8.. => strip::<S, 8>(simd, rest),
                7 => strip::<S, 7>(simd, rest),
                4..=6 => strip::<S, 4>(simd, rest),
                2..=3 => strip::<S, 2>(simd, rest),
                1 => strip::<S, 1>(simd, rest),
                0 => narrow_strip(simd, rest),
            };
        }
    }
}

/// The first N registers of the result.
#[inline(always)]
unsafe fn strip<S: Simd, const N: usize>(simd: S, p: Product) -> usize {
    let w = width::<S>();
    // SAFETY: `N` whole registers of rows are left.
    unsafe {
        let mut sums: [S::f64s; N] = std::array::from_fn(|r| match p.write {
            Write::Replace => simd.splat_f64s(0.0),
            Write::Accumulate => load::<S>(p.c.at.add(r * w)),
        });
        let (mut column, mut entry) = (p.a.at.cast_const(), p.b.at.cast_const());
        for _ in 0..p.k {
            let xs = simd.splat_f64s(*entry);
            for (r, sum) in sums.iter_mut().enumerate() {
                *sum = simd.mul_add_f64s(load::<S>(column.add(r * w)), xs, *sum);
            }
            column = column.wrapping_add(p.a.col);
            entry = entry.wrapping_add(p.b.row);
        }
        for (r, sum) in sums.into_iter().enumerate() {
            store::<S>(p.c.at.add(r * w), sum);
        }
    }
    N * w
}

/// Fewer rows than a register holds.
#[inline(always)]
unsafe fn narrow_strip<S: Simd>(simd: S, p: Product) -> usize {
    // SAFETY: `m` rows are left.
    unsafe {
        let mut sum = match p.write {
            Write::Replace => simd.splat_f64s(0.0),
            Write::Accumulate => load_part(simd, p.c.at, p.m),
        };
        for l in 0..p.k {
            let xs = simd.splat_f64s(*p.b.entry(l, 0));
            let part = load_part(simd, p.a.entry(0, l), p.m);
            sum = simd.mul_add_f64s(part, xs, sum);
        }
        store_part(simd, p.c.at, p.m, sum);
    }
    p.m
}
