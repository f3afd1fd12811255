//! Readable numbers.

/// Six digits at most: `3`, `0.25`, `1.5e-9`.
pub(super) fn format_number(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e15 {
        return format!("{value}");
    }
    let short: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    match short.abs() {
        1e-4..1e15 => short.to_string(),
        _ => format!("{short:e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::format_number;

    #[test]
    fn numbers_have_six_digits_at_most() {
        let found = [2.0, -0.5, 1.0 / 3.0, 2.5e-9, f64::INFINITY].map(format_number);
        assert_eq!(found, ["2", "-0.5", "0.333333", "2.5e-9", "inf"]);
    }
}
