//! Few rows times a matrix with contiguous columns: X z for the lanes of a block.

use pulp::Simd;

use super::panel::{BUFFER, Buffer, multiply_panels};
use super::{MatrixView, Product, write_value};
use crate::instruction::Write;
use crate::kernel::turn::{StridedRows, transpose_lanes as turn_lines};

/// Cᵀ = Bᵀ Aᵀ reads B one number at a time, in memory order. Only the small Aᵀ and Cᵀ are copied.
/// `lanes` is the number of rows of A, padded to whole registers.
///
/// # Safety
/// As [`Product`] says; the rows of Bᵀ and of C are contiguous, and Aᵀ fits half of the buffer.
#[inline(always)]
pub(super) unsafe fn multiply_transposed<S: Simd>(
    simd: S,
    p: Product,
    lanes: usize,
    buffer: &mut Buffer,
) {
    let small = |at: *mut f64| MatrixView {
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
        transpose_view(simd, (p.a, b), (p.m, p.k), Write::Replace);
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
                multiply_panels::<S, true>(simd, part);
            } else {
                multiply_panels::<S, false>(simd, part);
            }
            transpose_view(simd, (c, p.c.from(0, i)), (part.m, p.m), p.write);
        }
    }
}

/// The transpose of `m×n` numbers, in squares of registers where rows are contiguous.
#[inline(always)]
unsafe fn transpose_view<S: Simd>(
    simd: S,
    (from, to): (MatrixView, MatrixView),
    (m, n): (usize, usize),
    write: Write,
) {
    let lines = |view: MatrixView| StridedRows {
        at: view.at,
        step: view.row,
    };
    // SAFETY: every entry is within both views.
    unsafe {
        if from.col == 1 && to.col == 1 {
            return turn_lines(simd, (lines(from), lines(to)), (m, n), write);
        }
        for i in 0..m {
            for j in 0..n {
                write_value(to.entry(j, i), *from.entry(i, j), write);
            }
        }
    }
}
