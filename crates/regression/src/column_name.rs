//! The names of a design's columns, and of quantities of its rows.

/// The names of the design's columns.
pub const MATRIX: &str = "x";
pub(crate) const RESPONSE: &str = "y";
pub(crate) const OFFSET: &str = "offset";
pub(crate) const ROW_WEIGHT: &str = "weight";
pub(crate) const TRIALS: &str = "trials";
pub(crate) const ERRORS: &str = "se";

/// The latent of each row on the scale of the linear predictor.
pub(crate) const ROW_EFFECT: &str = "row_effect";

/// The linear predictor of each row, offset included.
pub const PREDICTOR: &str = "predictor";

/// The index column of a group term.
pub(crate) fn group_column(place: usize) -> String {
    format!("group{}", place + 1)
}

/// The matrix of multipliers of a group term's effects.
pub(crate) fn slope_column(place: usize) -> String {
    format!("slope{}", place + 1)
}

/// The matrix of the design that the formula of a parameter reads.
pub(crate) fn parameter_column(name: &str) -> String {
    format!("x.{name}")
}

/// The matrix of a smooth function's basis.
pub(crate) fn basis_column(place: usize) -> String {
    format!("basis{}", place + 1)
}

/// The levels that have their own functions.
pub(crate) fn level_column(place: usize) -> String {
    format!("level{}", place + 1)
}

/// The matrix of a smooth's functions.
pub(crate) fn spline_column(place: usize) -> String {
    format!("spline{}", place + 1)
}

/// The column of level places.
pub(crate) fn monotonic_column(place: usize) -> String {
    format!("monotonic{}", place + 1)
}

/// The matrix of the inputs of a function by inducing points, standardised.
pub(crate) const INDUCED: &str = "induced";
