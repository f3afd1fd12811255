//! Checks that the values of a column are finite.

use super::BasisError;

/// Whether no value is NaN or infinite. All values are checked, which is faster than stopping at
/// the first bad one.
pub fn is_finite(values: &[f64]) -> bool {
    values
        .iter()
        .fold(true, |all, value| all & value.is_finite())
}

/// Refuses the first value that is NaN or infinite.
pub(super) fn check_finite(factor: &str, values: &[f64]) -> Result<(), BasisError> {
    if is_finite(values) {
        return Ok(());
    }
    let row = values.iter().position(|value| !value.is_finite());
    let row = row.unwrap_or_default();
    Err(BasisError::NotFinite {
        factor: factor.to_owned(),
        row: row + 1,
        value: values[row],
    })
}
