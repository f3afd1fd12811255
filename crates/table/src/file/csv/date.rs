//! Dates of CSV files as days.

/// The [`crate::file::Field::type_name`] of a column of dates.
pub(super) const DATE: &str = "date";

/// The days from 1970-01-01 to a date such as `2024-03-01`; `None` for anything else.
pub(super) fn parse_days(text: &str) -> Option<f64> {
    let text = text.trim();
    let bytes = text.as_bytes();
    let is_dash = |place: usize| bytes[place] == b'-';
    if bytes.len() != 10 || !is_dash(4) || !is_dash(7) {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        let part = text.get(from..to)?;
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse().ok().filter(|_| digits)
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let sound = (1..=12).contains(&month) && (1..=month_length(year, month)).contains(&day);
    sound.then(|| from_civil(year, month, day) as f64)
}

/// The number of days of a month.
fn month_length(year: i64, month: i64) -> i64 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970 in the Gregorian calendar, by years that begin in March (Hinnant, "chrono-compatible
/// low-level date algorithms", 2013).
fn from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-02-29", 11_016.0),
            ("2000-03-01", 11_017.0),
            (" 2024-03-01 ", 19_783.0),
        ] {
            assert_eq!(parse_days(text), Some(expected), "{text}");
        }
        for text in [
            "2023-02-29",
            "2024-13-01",
            "2024-3-1",
            "1/3/2024",
            "2024-03-0x",
            "ä024-03-1",
        ] {
            assert_eq!(parse_days(text), None, "{text}");
        }
    }
}
