//! The numbers by which rows are probed, differences that count as rounding there, and groups that are wide.

/// What two ways to compute the same number may differ by.
pub(super) const ROUNDING: f64 = 1e-9;
/// Effects of a group from which on these kernels are faster than plain loops.
const WIDE: usize = 24;

/// What the effect at a place in z is where groups are checked: numbers that no other combination of groups
/// could stand for.
pub(super) fn wave(k: usize) -> f64 {
    (0.7 + 1.9 * k as f64).sin() + 0.1 * (k as f64).sqrt()
}

/// Whether groups of so many effects are wide.
pub(super) fn is_wide(width: usize) -> bool {
    width >= WIDE
}
