//! Rows by number.

use pulp::Simd;

use super::reduce::add_to;

/// Copies row `indices[i]` of `x` to row `i` of `out`.
///
/// # Panics
/// If a row number is not below `rows`: the numbers come from outside the plan.
///
/// # Safety
/// `out` must be writable for `indices.len()` rows, `x` readable for `rows`.
pub(super) unsafe fn gather(
    out: *mut f64,
    x: *const f64,
    indices: &[u32],
    (width, rows): (usize, usize),
) {
    for (i, &index) in indices.iter().enumerate() {
        let row = index as usize;
        assert!(
            row < rows,
            "row number {row} of an index input is not below {rows}"
        );
        // SAFETY: `row < rows` was checked.
        unsafe {
            match width {
                1 => *out.add(i) = *x.add(row),
                _ => std::ptr::copy_nonoverlapping(x.add(row * width), out.add(i * width), width),
            }
        }
    }
}

/// Adds row `i` of `x` to row `indices[i]` of `out`.
///
/// # Panics
/// As [`gather`].
///
/// # Safety
/// `x` must be readable for `indices.len()` rows, `out` writable for `rows`.
#[inline(always)]
pub(super) unsafe fn scatter_add<S: Simd>(
    simd: S,
    out: *mut f64,
    x: *const f64,
    indices: &[u32],
    (width, rows): (usize, usize),
) {
    for (i, &index) in indices.iter().enumerate() {
        let row = index as usize;
        assert!(
            row < rows,
            "row number {row} of an index input is not below {rows}"
        );
        // SAFETY: `row < rows` was checked.
        unsafe {
            match width {
                1 => *out.add(row) += *x.add(i),
                _ => add_to(simd, out.add(row * width), x.add(i * width), width),
            }
        }
    }
}
