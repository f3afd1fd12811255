//! Products that are thin in at least one dimension.

use std::mem::MaybeUninit;

use pulp::Simd;

use super::few::multiply_few;
use super::panel::{BUFFER, Buffer, multiply_panels};
use super::turned::multiply_transposed;
use super::{MatrixView, Product};
use crate::instruction::Write;
use crate::kernel::vector::{lane_width, line_place};

/// Columns that are packed at a time.
const PANEL: usize = 24;

/// A product with the rows of C contiguous.
///
/// # Safety
/// As [`Product`] says; `c.col` is one.
#[inline(always)]
pub(super) unsafe fn multiply_thin<S: Simd>(simd: S, p: Product) {
    let mut buffer: Buffer = [MaybeUninit::uninit(); BUFFER];
    let lanes = p.m.next_multiple_of(lane_width::<S>());
    // SAFETY: the same product in parts.
    unsafe {
        if p.n < lane_width::<S>() && multiply_few(simd, p, &mut buffer) {
            return;
        }
        if p.b.col == 1 {
            multiply_panels::<S, false>(simd, p);
        } else if p.b.row == 1 && p.m < p.k && p.k * lanes <= BUFFER / 2 {
            multiply_transposed(simd, p, lanes, &mut buffer);
        } else {
            multiply_packed(simd, p, &mut buffer);
        }
    }
}

/// Columns of B are not contiguous, so a few at a time are copied first.
#[inline(always)]
unsafe fn multiply_packed<S: Simd>(simd: S, p: Product, buffer: &mut Buffer) {
    const DEPTH: usize = BUFFER / PANEL;
    let buffer = buffer.as_mut_ptr().cast::<f64>();
    let mut write = p.write;
    for l in (0..p.k.max(1)).step_by(DEPTH) {
        let depth = DEPTH.min(p.k - l);
        for j in (0..p.n).step_by(PANEL) {
            let columns = PANEL.min(p.n - j);
            // SAFETY: `depth` rows of `PANEL` numbers fit the buffer.
            unsafe {
                for jj in 0..columns {
                    let from = p.b.entry(l, j + jj).cast_const();
                    for ll in 0..depth {
                        *buffer.add(line_place(ll, PANEL, jj)) =
                            *from.add(line_place(ll, p.b.row, 0));
                    }
                }
                let part = Product {
                    n: columns,
                    k: depth,
                    a: p.a.from(0, l),
                    b: MatrixView {
                        at: buffer,
                        row: PANEL,
                        col: 1,
                        far: false,
                    },
                    c: p.c.from(0, j),
                    write,
                    ..p
                };
                multiply_panels::<S, false>(simd, part);
            }
        }
        write = Write::Accumulate;
    }
}
