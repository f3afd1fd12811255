//! Transposes, in squares of registers.

use pulp::Simd;

use super::vector::{halved, lane_width, line_place, load_lanes, store_lanes, transpose_square};
use crate::instruction::Write;

/// A matrix whose rows are contiguous and lie `step` numbers apart.
#[derive(Clone, Copy)]
pub(super) struct StridedRows {
    pub(super) at: *mut f64,
    pub(super) step: usize,
}

impl StridedRows {
    #[inline(always)]
    unsafe fn entry(self, i: usize, j: usize) -> *mut f64 {
        // SAFETY: the caller stays within the matrix.
        unsafe { self.at.add(line_place(i, self.step, j)) }
    }

    /// The part from row `i` and column `j` on.
    #[inline(always)]
    unsafe fn from(self, i: usize, j: usize) -> StridedRows {
        // SAFETY: the caller stays within the matrix.
        let at = unsafe { self.entry(i, j) };
        StridedRows { at, ..self }
    }
}

/// Side of the tiles that are transposed one after another: a cache line is then read and written
/// as a whole before it is evicted.
const TILE: usize = 8;
/// Side of the squares that are transposed in registers.
const SQUARE: usize = 4;

/// `to = fromᵀ`, or `to += fromᵀ`, of `m×n` numbers of `from`.
///
/// # Safety
/// Both must be valid for these shapes and not overlap.
#[inline(always)]
pub(super) unsafe fn transpose_lanes<S: Simd>(
    simd: S,
    both: (StridedRows, StridedRows),
    size: (usize, usize),
    write: Write,
) {
    // SAFETY: the same numbers.
    unsafe {
        match halved(simd) {
            Some(half) => turn_by(half, both, size, write),
            None => turn_by(simd, both, size, write),
        }
    }
}

#[inline(always)]
unsafe fn turn_by<S: Simd>(
    simd: S,
    (from, to): (StridedRows, StridedRows),
    (m, n): (usize, usize),
    write: Write,
) {
    let (rows, columns) = match lane_width::<S>() {
        SQUARE => (m - m % SQUARE, n - n % SQUARE),
        _ => (0, 0),
    };
    // SAFETY: every entry is within both.
    unsafe {
        for top in (0..rows).step_by(TILE) {
            for left in (0..columns).step_by(TILE) {
                for i in (top..rows.min(top + TILE)).step_by(SQUARE) {
                    for j in (left..columns.min(left + TILE)).step_by(SQUARE) {
                        turn_square(simd, from.from(i, j), to.from(j, i), write);
                    }
                }
            }
        }
        for i in 0..m {
            for j in if i < rows { columns } else { 0 }..n {
                let to = to.entry(j, i);
                match write {
                    Write::Replace => *to = *from.entry(i, j),
                    Write::Accumulate => *to += *from.entry(i, j),
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn turn_square<S: Simd>(simd: S, from: StridedRows, to: StridedRows, write: Write) {
    // SAFETY: four rows of four numbers on either side.
    unsafe {
        let rows = std::array::from_fn(|r| load_lanes::<S>(from.entry(r, 0)));
        for (r, numbers) in transpose_square(simd, rows).into_iter().enumerate() {
            let to = to.entry(r, 0);
            let value = match write {
                Write::Replace => numbers,
                Write::Accumulate => simd.add_f64s(load_lanes::<S>(to), numbers),
            };
            store_lanes::<S>(to, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{StridedRows, transpose_lanes};
    use crate::instruction::Write;
    use crate::level::SimdLevel;
    use pulp::{Simd, WithSimd};

    struct Turned {
        size: (usize, usize),
        write: Write,
    }

    impl WithSimd for Turned {
        type Output = bool;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> bool {
            let (m, n) = self.size;
            let mut from: Vec<f64> = (0..m * (n + 1)).map(|k| k as f64).collect();
            let mut to = vec![0.5; n * (m + 2)];
            let both = [(&mut from, n + 1), (&mut to, m + 2)].map(|(numbers, step)| StridedRows {
                at: numbers.as_mut_ptr(),
                step,
            });
            // SAFETY: rows of `n` and of `m` numbers with one and two to spare.
            unsafe { transpose_lanes(simd, both.into(), self.size, self.write) };
            let before = if self.write == Write::Replace {
                0.0
            } else {
                0.5
            };
            let entry = |i: usize, j: usize| to[j * (m + 2) + i] == from[i * (n + 1) + j] + before;
            let spared = (0..n).all(|j| to[j * (m + 2) + m..][..2] == [0.5, 0.5]);
            spared && (0..m * n).all(|k| entry(k / n, k % n))
        }
    }

    #[test]
    fn matrices_of_any_shape_are_turned_on_every_level_and_nothing_beside_them_is_written() {
        for arch in SimdLevel::all().into_iter().filter_map(SimdLevel::arch) {
            for size in (1..19).flat_map(|m| (1..19).map(move |n| (m, n))) {
                for write in [Write::Replace, Write::Accumulate] {
                    assert!(arch.dispatch(Turned { size, write }), "{arch:?} {size:?}");
                }
            }
        }
    }
}
