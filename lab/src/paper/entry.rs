//! Numbers as entries of a table.

use lehr_infer::posterior::Estimate;

use crate::paper::published::Figure;

/// The text of an empty entry.
pub(crate) const NONE: &str = "–";

/// A number with this many digits after the point.
pub(crate) fn fixed(value: Option<f64>, digits: usize) -> String {
    match value {
        Some(value) if value.is_finite() => format!("{value:.digits$}"),
        _ => NONE.into(),
    }
}

/// A number with about three figures, whatever its size.
pub(crate) fn figures(value: Option<f64>) -> String {
    match value {
        Some(value) if value != 0.0 && value.is_finite() => {
            let digits = (2.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
            format!("{value:.digits$}")
        }
        other => fixed(other, 1),
    }
}

/// A number and its error, with digits according to the error.
pub(crate) fn estimate(value: Option<Estimate>) -> String {
    let Some(Estimate { mean, error }) = value else {
        return NONE.into();
    };
    if !(error > 0.0 && error.is_finite()) {
        return fixed(Some(mean), 2);
    }
    let digits = (-error.log10().floor()).clamp(0.0, 3.0) as usize;
    format!("{mean:.digits$} ± {error:.digits$}")
}

/// A published number.
pub(crate) fn published(figure: Option<Figure>) -> String {
    match figure {
        Some(Figure {
            value,
            error: Some(error),
        }) => format!("{value:.1} ± {error:.1}"),
        Some(Figure { value, error: None }) => format!("{value}"),
        None => NONE.into(),
    }
}

/// The difference of two independent estimates.
pub(crate) fn difference(a: Option<Estimate>, b: Option<Estimate>) -> Option<Estimate> {
    let (a, b) = (a?, b?);
    Some(Estimate {
        mean: a.mean - b.mean,
        error: a.error.hypot(b.error),
    })
}

/// A count with its thousands apart.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_the_digits_that_are_known() {
        let known = Estimate {
            mean: 12.345,
            error: 0.034,
        };
        assert_eq!(estimate(Some(known)), "12.35 ± 0.03");
        assert_eq!(estimate(None), "–");
        assert_eq!(figures(Some(0.012_345)), "0.0123");
        assert_eq!(figures(Some(123.4)), "123");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(300), "300");
        let apart = difference(Some(known), Some(known)).unwrap();
        assert_eq!(apart.mean, 0.0);
        assert!((apart.error - 0.034 * 2.0_f64.sqrt()).abs() < 1e-12);
    }
}
