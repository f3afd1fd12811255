//! Readable numbers: few digits, the same in tables, plots and the terminal.

/// Digits after the point that show two figures of an uncertainty.
pub(crate) fn decimal_places(uncertainty: f64) -> usize {
    if uncertainty.is_finite() && uncertainty > 0.0 {
        (1.0 - uncertainty.log10().floor()).clamp(0.0, 9.0) as usize
    } else {
        3
    }
}

/// A value with this many digits after the point; very large and very small ones with a power of
/// ten.
pub(crate) fn format_fixed(value: f64, decimals: usize) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return name_unusual(value).into();
    }
    // More than six digits after the point would be mostly zeros.
    if size >= 1e7 || (size > 0.0 && size < 1e-5) || (decimals > 6 && size < 1e-2 && size > 0.0) {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.decimals$}");
    let is_zero = text.bytes().all(|byte| matches!(byte, b'-' | b'0' | b'.'));
    match text.strip_prefix('-') {
        Some(rest) if is_zero => rest.into(),
        _ => text,
    }
}

/// A value with about four figures, whatever its size.
pub(crate) fn format_short(value: f64) -> String {
    let size = value.abs();
    if value.is_finite() && size > 0.0 {
        format_fixed(value, (3.0 - size.log10().floor()).clamp(0.0, 9.0) as usize)
    } else {
        format_fixed(value, 0)
    }
}

/// An estimate and its error, with digits according to the error.
pub(crate) fn with_error(mean: f64, error: f64) -> String {
    with_digits((mean, error), decimal_places(error))
}

/// An estimate and its error with this many digits after the point; an error that is not finite is
/// left out.
pub(crate) fn with_digits((mean, error): (f64, f64), digits: usize) -> String {
    let mean = group_digits(&format_fixed(mean, digits));
    if error.is_finite() && error > 0.0 {
        format!("{mean} ± {}", format_fixed(error, digits))
    } else {
        mean
    }
}

/// A duration in the unit that reads best.
pub(crate) fn format_duration(seconds: f64) -> String {
    match seconds {
        _ if !seconds.is_finite() => name_unusual(seconds).into(),
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 5970.0 => format!(
            "{:.0} min {:02.0} s",
            (s / 60.0).floor(),
            (s % 60.0).floor()
        ),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A count with its thousands apart.
pub(crate) fn format_count(value: u64) -> String {
    group_digits(&value.to_string())
}

/// A number's text with the thousands of its whole part apart.
pub(crate) fn group_digits(text: &str) -> String {
    let sign = usize::from(text.starts_with('-'));
    let whole = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    if whole < 5 {
        return text.into();
    }
    let mut out = text[..sign].to_string();
    for (index, digit) in text[sign..sign + whole].chars().enumerate() {
        if index > 0 && (whole - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(&text[sign + whole..]);
    out
}

/// Replaces hyphens by minus signs.
pub(crate) fn print_minus(text: &str) -> String {
    text.replace('-', "−")
}

fn name_unusual(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "∞"
    } else {
        "-∞"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_decides_the_digits() {
        assert_eq!(with_error(-12_345.678, 0.123), "-12,345.68 ± 0.12");
        assert_eq!(with_error(3.0, 250.0), "3 ± 250");
        assert_eq!(with_error(3.0, f64::NAN), "3.000");
    }

    #[test]
    fn extreme_numbers_stay_short() {
        for value in [1e300, -1e300, 5e-324, 0.0, f64::NAN, f64::INFINITY, -1e-9] {
            assert!(
                format_short(value).chars().count() <= 10,
                "{}",
                format_short(value)
            );
            assert!(format_fixed(value, 3).chars().count() <= 10);
        }
        assert_eq!(format_fixed(-0.000_04, 2), "0.00");
        assert_eq!(format_fixed(f64::NEG_INFINITY, 2), "-∞");
    }

    #[test]
    fn durations_choose_their_unit() {
        assert_eq!(format_duration(0.000_5), "500 µs");
        assert_eq!(format_duration(12.34), "12.3 s");
        assert_eq!(format_duration(125.0), "2 min 05 s");
        assert_eq!(format_duration(7200.0), "2.0 h");
    }

    #[test]
    fn thousands_are_set_apart_from_five_figures_on() {
        assert_eq!(format_count(1234), "1234");
        assert_eq!(format_count(1_234_567), "1,234,567");
        assert_eq!(group_digits("-73421.5"), "-73,421.5");
    }
}
