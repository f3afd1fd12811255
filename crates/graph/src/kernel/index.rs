//! Gathers and scatters of rows by number.

use pulp::Simd;

use super::reduce::add_to;
use crate::instruction::RowSelection;

/// Copies row `indices[i]` of `x` to row `i` of `out`.
///
/// # Panics
/// If a row number is too large: the numbers come from outside the plan.
///
/// # Safety
/// `out` must be writable for `indices.len()` rows, `x` readable for `rows.below`.
pub(super) unsafe fn gather_rows(
    out: *mut f64,
    x: *const f64,
    indices: &[u32],
    rows: &RowSelection,
) {
    let width = rows.width;
    for (i, &index) in indices.iter().enumerate() {
        let row = checked_index(index, rows);
        // SAFETY: `row` is below the number of rows.
        unsafe {
            match width {
                1 => *out.add(i) = *x.add(row),
                _ => std::ptr::copy_nonoverlapping(x.add(row * width), out.add(i * width), width),
            }
        }
    }
}

#[inline(always)]
fn checked_index(index: u32, rows: &RowSelection) -> usize {
    let (row, below) = (index as usize, rows.below);
    assert!(
        row < below,
        "row number {row} of an index input is not below {below}"
    );
    row
}

/// Adds row `i` of `x` to row `indices[i]` of `out`.
///
/// # Panics
/// As [`gather_rows`].
///
/// # Safety
/// `x` must be readable for `indices.len()` rows, `out` writable for `rows.below`.
#[inline(always)]
pub(super) unsafe fn scatter_add<S: Simd>(
    simd: S,
    out: *mut f64,
    x: *const f64,
    indices: &[u32],
    rows: &RowSelection,
) {
    let width = rows.width;
    for (i, &index) in indices.iter().enumerate() {
        let row = checked_index(index, rows);
        // SAFETY: `row` is below the number of rows.
        unsafe {
            match width {
                1 => *out.add(row) += *x.add(i),
                _ => add_to(simd, out.add(row * width), x.add(i * width), width),
            }
        }
    }
}
