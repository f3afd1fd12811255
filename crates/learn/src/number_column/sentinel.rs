//! Detects numbers that represent missing values, such as `-999` far from all other values.

use lehr_formula::quote_name;
use lehr_numeric::column;
use lehr_table::Column;
use serde::{Deserialize, Serialize};

use crate::error::LearnError;

/// Numbers that people commonly use for missing values.
const USUAL: [f64; column::MARKS] = [
    -99.0, -999.0, 999.0, -9999.0, 9999.0, -99_999.0, 99_999.0, -999_999.0, 999_999.0,
];

/// Their least distance from 0.
const NEAREST: f64 = 99.0;

/// A column of numbers under examination.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct NumberColumn {
    pub name: String,
    /// How often each of the common codes occurs.
    counts: [usize; USUAL.len()],
    /// The range of all other numbers.
    low: f64,
    high: f64,
    others: usize,
}

impl NumberColumn {
    pub(crate) fn new(name: &str) -> NumberColumn {
        NumberColumn {
            name: name.to_owned(),
            counts: [0; USUAL.len()],
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            others: 0,
        }
    }

    pub(crate) fn add_rows(&mut self, column: Option<&Column>) {
        let Some(Column::Number(values)) = column else {
            return;
        };
        for chunk in values.chunks(column::CHUNK) {
            self.add_chunk(chunk);
        }
    }

    /// Most chunks hold finite numbers and none of the codes, which is fast to check.
    fn add_chunk(&mut self, chunk: &[f64]) {
        let [low, high] = column::range(chunk);
        let is_near = low > -NEAREST && high < NEAREST;
        let is_plain = column::is_finite(chunk) && (is_near || !column::holds_any(chunk, &USUAL));
        if !is_plain {
            for value in chunk {
                self.add_value(*value);
            }
            return;
        }
        self.low = self.low.min(low);
        self.high = self.high.max(high);
        self.others += chunk.len();
    }

    fn add_value(&mut self, value: f64) {
        if !value.is_finite() {
            return;
        }
        if let Some(place) = USUAL.iter().position(|usual| *usual == value) {
            self.counts[place] += 1;
        } else {
            self.low = self.low.min(value);
            self.high = self.high.max(value);
            self.others += 1;
        }
    }

    /// Adds the results of more rows.
    pub(crate) fn merge(&mut self, other: &NumberColumn) {
        for (own, other) in self.counts.iter_mut().zip(other.counts) {
            *own += other;
        }
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.others += other.others;
    }

    /// Reports the first code that is further from all other numbers than those are from one
    /// another.
    pub(crate) fn judge(&self) -> Result<(), LearnError> {
        let range = self.high - self.low;
        let is_far = |value: f64| {
            let away = (self.low - value).max(value - self.high);
            range > 0.0 && away > range
        };
        let suspect = (USUAL.iter().zip(self.counts))
            .find(|(value, count)| (1..=self.others).contains(count) && is_far(**value));
        let Some((value, count)) = suspect else {
            return Ok(());
        };
        let rows = if count == 1 { "row" } else { "rows" };
        let name = quote_name(&self.name);
        Err(LearnError::column(
            format!("column {:?}", self.name),
            "numbers",
            format!(
                "{value} in {count} {rows}, where all others lie between {} and {}",
                self.low, self.high
            ),
            format!(
                "--missing-text={value} reads it as missing, or write I(1 * {name}) in the formula if \
                 it is a number"
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(values: &[f64]) -> Option<String> {
        let mut column = NumberColumn::new("x");
        column.add_rows(Some(&Column::Number(values.to_vec())));
        column.judge().err().map(|error| error.to_string())
    }

    #[test]
    fn a_number_that_stands_for_nothing_is_asked_about() {
        let found = judged(&[1.5, 2.0, -999.0, 3.0, -999.0]).unwrap();
        let words = "found -999 in 2 rows, where all others lie between 1.5 and 3";
        assert!(found.contains(words), "{found}");
    }

    #[test]
    fn a_number_that_stands_for_nothing_is_found_in_a_long_column() {
        for centre in [0.0, 5000.0] {
            let one = |k: u32| centre + f64::from(k % 7);
            let mut values: Vec<f64> = (0..5000).map(one).collect();
            assert_eq!(judged(&values), None);
            values[4000] = -99_999.0;
            (values[17], values[2000]) = (f64::NAN, f64::INFINITY);
            let found = judged(&values).unwrap();
            let (low, high) = (centre, centre + 6.0);
            let words = format!("-99999 in 1 row, where all others lie between {low} and {high}");
            assert!(found.contains(&words), "{found}");
        }
    }

    #[test]
    fn numbers_among_their_like_are_numbers() {
        assert_eq!(judged(&[950.0, 999.0, 1200.0, 700.0]), None);
        assert_eq!(judged(&[-999.0, -999.0, -999.0, 1.0, 2.0]), None);
        assert_eq!(judged(&[1.0, 2.0, f64::NAN, 3.0]), None);
        assert_eq!(judged(&[-2000.0, 500.0, 999.0]), None);
    }
}
