//! The pattern with which rows are probed, the tolerance for rounding, and the width of wide groups.

/// The relative difference between two ways to compute the same number that counts as rounding.
pub(crate) const ROUNDING: f64 = 1e-9;
/// The least number of effects of a group for which these kernels are faster than plain loops.
const WIDE: usize = 24;

/// The value of the effect at a place in z when groups are checked: no other combination of groups
/// gives the same sums.
pub(crate) fn probe_pattern(k: usize) -> f64 {
    (0.7 + 1.9 * k as f64).sin() + 0.1 * (k as f64).sqrt()
}

/// Whether groups with this many effects are wide.
pub(crate) fn is_wide(width: usize) -> bool {
    width >= WIDE
}
