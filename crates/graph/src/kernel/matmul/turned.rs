//! Few rows times a matrix with contiguous columns: X z for the lanes of a block.

use pulp::Simd;

use super::thin::{BUFFER, Buffer, panels};
use super::{Product, View, put};
use crate::kernel::vector::{halved, load, square, store, width};
use crate::plan::instruction::Write;

/// Cᵀ = Bᵀ Aᵀ reads B one number at a time, in the order of memory, and only Aᵀ and Cᵀ, which are
/// small, are copied. `lanes` is the number of rows of A, filled up to whole registers.
///
/// # Safety
/// As [`Product`] says; the rows of Bᵀ and of C are contiguous, and Aᵀ fits half of the buffer.
#[inline(always)]
pub(super) unsafe fn turned<S: Simd>(simd: S, p: Product, lanes: usize, buffer: &mut Buffer) {
    let small = |at: *mut f64| View {
        at,
        row: lanes,
        col: 1,
        far: false,
    };
    let start = buffer.as_mut_ptr().cast::<f64>();
    let rows = BUFFER / 2 / lanes;
    // SAFETY: the first half of the buffer holds Aᵀ, the second `rows` rows of Cᵀ.
    unsafe {
        let (b, c) = (small(start), small(start.add(BUFFER / 2)));
        if p.m < lanes {
            std::slice::from_raw_parts_mut(start, p.k * lanes).fill(0.0);
        }
        turn(simd, (p.a, b), (p.m, p.k), Write::Replace);
        for i in (0..p.n).step_by(rows) {
            let part = Product {
                m: rows.min(p.n - i),
                n: lanes,
                k: p.k,
                a: p.b.from(0, i).transposed(),
                b,
                c,
                write: Write::Replace,
            };
            if part.a.far {
                panels::<S, true>(simd, part);
            } else {
                panels::<S, false>(simd, part);
            }
            turn(simd, (c, p.c.from(0, i)), (part.m, p.m), p.write);
        }
    }
}

/// The transpose of `m×n` numbers, in squares of registers of four where rows are contiguous.
#[inline(always)]
unsafe fn turn<S: Simd>(simd: S, views: (View, View), size: (usize, usize), write: Write) {
    // SAFETY: the same numbers.
    unsafe {
        match halved(simd) {
            Some(half) => turn_by(half, views, size, write),
            None => turn_by(simd, views, size, write),
        }
    }
}

#[inline(always)]
unsafe fn turn_by<S: Simd>(
    simd: S,
    (from, to): (View, View),
    (m, n): (usize, usize),
    write: Write,
) {
    let w = width::<S>();
    let squares = w == 4 && from.col == 1 && to.col == 1;
    let (rows, columns) = if squares {
        (m - m % w, n - n % w)
    } else {
        (0, 0)
    };
    // SAFETY: every entry is within both views.
    unsafe {
        for i in (0..rows).step_by(w) {
            for j in (0..columns).step_by(w) {
                let square = square(
                    simd,
                    std::array::from_fn(|r| load::<S>(from.entry(i + r, j).cast_const())),
                );
                for (r, numbers) in square.into_iter().enumerate() {
                    let to = to.entry(j + r, i);
                    let value = match write {
                        Write::Replace => numbers,
                        Write::Accumulate => simd.add_f64s(load::<S>(to), numbers),
                    };
                    store::<S>(to, value);
                }
            }
        }
        for i in 0..m {
            for j in if i < rows { columns } else { 0 }..n {
                put(to.entry(j, i), *from.entry(i, j), write);
            }
        }
    }
}
