//! Whether the numbers of a column are numbers.

use super::BasisError;

/// Whether no value is NaN or infinite. All are looked at, which is faster than to look for the first such one.
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
