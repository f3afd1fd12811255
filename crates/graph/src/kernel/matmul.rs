//! Matrix products: thin ones by own kernels, large ones by faer.
//!
//! Thin products (a data block times a few lanes) are where training spends its time, and
//! general libraries pack and dispatch more than they multiply there.

use faer::linalg::matmul::matmul as faer_matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::Simd;

use super::reduce::dot;
use super::vector::{load, load_part, store, store_part, width};
use crate::plan::instruction::Write;

/// A matrix in memory: entry (i, j) is at `i · row + j · col`.
#[derive(Clone, Copy)]
pub(super) struct View {
    pub(super) at: *mut f64,
    pub(super) row: usize,
    pub(super) col: usize,
}

impl View {
    fn transposed(self) -> View {
        View {
            at: self.at,
            row: self.col,
            col: self.row,
        }
    }

    #[inline(always)]
    unsafe fn entry(self, i: usize, j: usize) -> *mut f64 {
        // SAFETY: the caller stays within the matrix.
        unsafe { self.at.add(i * self.row + j * self.col) }
    }
}

/// Products at least this large in every dimension go to faer.
const LARGE: usize = 24;

/// C = A B, or C += A B.
///
/// # Safety
/// The views must be valid for `m×k`, `k×n` and `m×n`, and C must not overlap A or B.
#[inline(always)]
pub(super) unsafe fn product<S: Simd>(
    simd: S,
    (m, n, k): (usize, usize, usize),
    a: View,
    b: View,
    c: View,
    write: Write,
) {
    // SAFETY: forwarded with the same shapes.
    unsafe {
        if n == 1 {
            column(simd, (m, k), a, b, c, write);
        } else if m == 1 {
            let (a, b, c) = (b.transposed(), a.transposed(), c.transposed());
            column(simd, (n, k), a, b, c, write);
        } else if m >= LARGE && n >= LARGE && k >= LARGE {
            large((m, n, k), a, b, c, write);
        } else if c.col != 1 {
            thin(
                simd,
                (n, m, k),
                b.transposed(),
                a.transposed(),
                c.transposed(),
                write,
            );
        } else {
            thin(simd, (m, n, k), a, b, c, write);
        }
    }
}

unsafe fn large((m, n, k): (usize, usize, usize), a: View, b: View, c: View, write: Write) {
    let accumulate = match write {
        Write::Replace => Accum::Replace,
        Write::Accumulate => Accum::Add,
    };
    // SAFETY: the caller vouches for the shapes; C overlaps neither operand.
    unsafe {
        let a = MatRef::from_raw_parts(a.at.cast_const(), m, k, a.row as isize, a.col as isize);
        let b = MatRef::from_raw_parts(b.at.cast_const(), k, n, b.row as isize, b.col as isize);
        let c = MatMut::from_raw_parts_mut(c.at, m, n, c.row as isize, c.col as isize);
        faer_matmul(c, accumulate, a, b, 1.0, Par::Seq);
    }
}

/// A matrix times one column.
#[inline(always)]
unsafe fn column<S: Simd>(
    simd: S,
    (m, k): (usize, usize),
    a: View,
    x: View,
    y: View,
    write: Write,
) {
    // SAFETY: forwarded with the same shapes.
    unsafe {
        if a.col == 1 && (x.row == 1 || k == 1) {
            by_rows(simd, (m, k), a, x.at, y, write);
        } else if a.row == 1 && (y.row == 1 || m == 1) {
            by_columns(simd, (m, k), a, x, y.at, write);
        } else {
            for i in 0..m {
                let mut sum = 0.0;
                for l in 0..k {
                    sum += *a.entry(i, l) * *x.entry(l, 0);
                }
                put(y.entry(i, 0), sum, write);
            }
        }
    }
}

#[inline(always)]
unsafe fn put(to: *mut f64, value: f64, write: Write) {
    // SAFETY: by the caller.
    unsafe {
        match write {
            Write::Replace => *to = value,
            Write::Accumulate => *to += value,
        }
    }
}

/// y = A x with rows of A contiguous: four inner products at a time share the loads of x.
#[inline(always)]
unsafe fn by_rows<S: Simd>(
    simd: S,
    (m, k): (usize, usize),
    a: View,
    x: *const f64,
    y: View,
    write: Write,
) {
    const ROWS: usize = 4;
    let w = width::<S>();
    let mut i = 0;
    // SAFETY: rows below `m`, columns below `k`.
    unsafe {
        while i + ROWS <= m {
            let mut sums = [simd.splat_f64s(0.0); ROWS];
            let row: [*const f64; ROWS] = std::array::from_fn(|r| a.entry(i + r, 0).cast_const());
            let mut j = 0;
            while j + w <= k {
                let xs = load::<S>(x.add(j));
                for r in 0..ROWS {
                    sums[r] = simd.mul_add_f64s(load::<S>(row[r].add(j)), xs, sums[r]);
                }
                j += w;
            }
            if j < k {
                let xs = load_part(simd, x.add(j), k - j);
                for r in 0..ROWS {
                    let part = load_part(simd, row[r].add(j), k - j);
                    sums[r] = simd.mul_add_f64s(part, xs, sums[r]);
                }
            }
            for (r, sum) in sums.into_iter().enumerate() {
                put(y.entry(i + r, 0), simd.reduce_sum_f64s(sum), write);
            }
            i += ROWS;
        }
        for i in i..m {
            put(y.entry(i, 0), dot(simd, a.entry(i, 0), x, k), write);
        }
    }
}

/// y = A x with columns of A contiguous: up to eight registers of y stay in place while the
/// columns stream by.
#[inline(always)]
unsafe fn by_columns<S: Simd>(
    simd: S,
    (m, k): (usize, usize),
    a: View,
    x: View,
    y: *mut f64,
    write: Write,
) {
    let w = width::<S>();
    let mut i = 0;
    // SAFETY: rows below `m`, columns below `k`.
    unsafe {
        while i < m {
            let left = m - i;
            i += match left / w {
                8.. => column_strip::<S, 8>(simd, i, k, a, x, y, write),
                7 => column_strip::<S, 7>(simd, i, k, a, x, y, write),
                4..=6 => column_strip::<S, 4>(simd, i, k, a, x, y, write),
                2..=3 => column_strip::<S, 2>(simd, i, k, a, x, y, write),
                1 => column_strip::<S, 1>(simd, i, k, a, x, y, write),
                0 => {
                    let mut sum = match write {
                        Write::Replace => simd.splat_f64s(0.0),
                        Write::Accumulate => load_part(simd, y.add(i), left),
                    };
                    for l in 0..k {
                        let xs = simd.splat_f64s(*x.entry(l, 0));
                        let part = load_part(simd, a.entry(i, l), left);
                        sum = simd.mul_add_f64s(part, xs, sum);
                    }
                    store_part(simd, y.add(i), left, sum);
                    left
                }
            };
        }
    }
}

#[inline(always)]
unsafe fn column_strip<S: Simd, const N: usize>(
    simd: S,
    i: usize,
    k: usize,
    a: View,
    x: View,
    y: *mut f64,
    write: Write,
) -> usize {
    let w = width::<S>();
    // SAFETY: `N` whole registers are left from row `i` on.
    unsafe {
        let mut sums: [S::f64s; N] = std::array::from_fn(|r| match write {
            Write::Replace => simd.splat_f64s(0.0),
            Write::Accumulate => load::<S>(y.add(i + r * w)),
        });
        let (mut column, mut entry) = (a.entry(i, 0).cast_const(), x.at.cast_const());
        for _ in 0..k {
            let xs = simd.splat_f64s(*entry);
            for (r, sum) in sums.iter_mut().enumerate() {
                *sum = simd.mul_add_f64s(load::<S>(column.add(r * w)), xs, *sum);
            }
            column = column.wrapping_add(a.col);
            entry = entry.wrapping_add(x.row);
        }
        for (r, sum) in sums.into_iter().enumerate() {
            store::<S>(y.add(i + r * w), sum);
        }
    }
    N * w
}

/// Columns of B packed at a time where they are not contiguous, and their depth.
const PANEL: usize = 16;
const DEPTH: usize = 128;

/// C = A B with rows of C contiguous. A is read one number at a time, B in registers.
#[inline(always)]
unsafe fn thin<S: Simd>(
    simd: S,
    (m, n, k): (usize, usize, usize),
    a: View,
    b: View,
    c: View,
    write: Write,
) {
    // SAFETY: forwarded; packed panels stay within the buffer.
    unsafe {
        if b.col == 1 {
            return panels(simd, (m, n, k), a, b, c, write);
        }
        let mut buffer = [0.0; PANEL * DEPTH];
        let mut write = write;
        for l in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - l);
            for j in (0..n).step_by(PANEL) {
                let columns = PANEL.min(n - j);
                for jj in 0..columns {
                    let from = b.entry(l, j + jj).cast_const();
                    for ll in 0..depth {
                        buffer[ll * PANEL + jj] = *from.add(ll * b.row);
                    }
                }
                let packed = View {
                    at: buffer.as_mut_ptr(),
                    row: PANEL,
                    col: 1,
                };
                let a = View {
                    at: a.entry(0, l),
                    ..a
                };
                let c = View {
                    at: c.entry(0, j),
                    ..c
                };
                panels(simd, (m, columns, depth), a, packed, c, write);
            }
            write = Write::Accumulate;
        }
    }
}

#[inline(always)]
unsafe fn panels<S: Simd>(
    simd: S,
    (m, n, k): (usize, usize, usize),
    a: View,
    b: View,
    c: View,
    write: Write,
) {
    let w = width::<S>();
    let mut j = 0;
    // SAFETY: columns below `n`.
    unsafe {
        while j < n {
            let b = View {
                at: b.entry(0, j),
                ..b
            };
            let c = View {
                at: c.entry(0, j),
                ..c
            };
            j += match (n - j) / w {
                4.. => rows_of_panel::<S, 4>(simd, m, k, a, b, c, write),
                3 => rows_of_panel::<S, 3>(simd, m, k, a, b, c, write),
                2 => rows_of_panel::<S, 2>(simd, m, k, a, b, c, write),
                1 => rows_of_panel::<S, 1>(simd, m, k, a, b, c, write),
                0 => {
                    narrow(simd, (m, n - j, k), a, b, c, write);
                    n - j
                }
            };
        }
    }
}

#[inline(always)]
unsafe fn rows_of_panel<S: Simd, const N: usize>(
    simd: S,
    m: usize,
    k: usize,
    a: View,
    b: View,
    c: View,
    write: Write,
) -> usize {
    let mut i = 0;
    // SAFETY: rows below `m`.
    unsafe {
        while i < m {
            let a = View {
                at: a.entry(i, 0),
                ..a
            };
            let c = View {
                at: c.entry(i, 0),
                ..c
            };
            i += match m - i {
                3.. => tile::<S, 3, N>(simd, k, a, b, c, write),
                2 => tile::<S, 2, N>(simd, k, a, b, c, write),
                _ => tile::<S, 1, N>(simd, k, a, b, c, write),
            };
        }
    }
    N * width::<S>()
}

/// M rows by N registers of C, all in registers while k runs.
#[inline(always)]
unsafe fn tile<S: Simd, const M: usize, const N: usize>(
    simd: S,
    k: usize,
    a: View,
    b: View,
    c: View,
    write: Write,
) -> usize {
    let w = width::<S>();
    // SAFETY: the caller has M rows and N registers left.
    unsafe {
        let mut sums = [[simd.splat_f64s(0.0); N]; M];
        let (mut row, mut column) = (b.at.cast_const(), a.at.cast_const());
        for _ in 0..k {
            let mut bs = [simd.splat_f64s(0.0); N];
            for (r, b) in bs.iter_mut().enumerate() {
                *b = load::<S>(row.add(r * w));
            }
            for (i, sums) in sums.iter_mut().enumerate() {
                let entry = simd.splat_f64s(*column.add(i * a.row));
                for r in 0..N {
                    sums[r] = simd.mul_add_f64s(entry, bs[r], sums[r]);
                }
            }
            row = row.wrapping_add(b.row);
            column = column.wrapping_add(a.col);
        }
        for (i, sums) in sums.into_iter().enumerate() {
            for (r, sum) in sums.into_iter().enumerate() {
                let to = c.entry(i, 0).add(r * w);
                let value = match write {
                    Write::Replace => sum,
                    Write::Accumulate => simd.add_f64s(load::<S>(to), sum),
                };
                store::<S>(to, value);
            }
        }
    }
    M
}

/// Fewer columns than a register holds.
#[inline(always)]
unsafe fn narrow<S: Simd>(
    simd: S,
    (m, n, k): (usize, usize, usize),
    a: View,
    b: View,
    c: View,
    write: Write,
) {
    for i in 0..m {
        // SAFETY: rows below `m`, `n` columns.
        unsafe {
            let to = c.entry(i, 0);
            let mut sum = match write {
                Write::Replace => simd.splat_f64s(0.0),
                Write::Accumulate => load_part(simd, to, n),
            };
            for l in 0..k {
                let entry = simd.splat_f64s(*a.entry(i, l));
                sum = simd.mul_add_f64s(entry, load_part(simd, b.entry(l, 0), n), sum);
            }
            store_part(simd, to, n, sum);
        }
    }
}
