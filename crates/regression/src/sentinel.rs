//! Numbers that stand for missing values: `-999` among numbers that are nowhere near.

use lehr_formula::quoted;
use lehr_table::Column;
use serde::{Deserialize, Serialize};

use crate::error::RegressionError;

/// What people write where there is nothing to write.
const USUAL: [f64; 9] = [
    -99.0, -999.0, 999.0, -9999.0, 9999.0, -99_999.0, 99_999.0, -999_999.0, 999_999.0,
];

/// A column of numbers while it is looked at.
#[derive(Serialize, Deserialize)]
pub(crate) struct NumberColumn {
    pub(crate) name: String,
    /// How often each of the usual ones occurs.
    counts: [usize; USUAL.len()],
    /// All other numbers lie between these.
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

    pub(crate) fn see(&mut self, column: Option<&Column>) {
        let Some(Column::Number(values)) = column else {
            return;
        };
        for value in values.iter().filter(|value| value.is_finite()) {
            if let Some(place) = USUAL.iter().position(|usual| usual == value) {
                self.counts[place] += 1;
            } else {
                self.low = self.low.min(*value);
                self.high = self.high.max(*value);
                self.others += 1;
            }
        }
    }

    /// Takes in what was seen in more rows.
    pub(crate) fn merge(&mut self, other: &NumberColumn) {
        for (own, other) in self.counts.iter_mut().zip(other.counts) {
            *own += other;
        }
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.others += other.others;
    }

    /// Asks about the first of the usual ones that is further from all other numbers than those are
    /// from one another.
    pub(crate) fn judge(&self) -> Result<(), RegressionError> {
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
        let name = quoted(&self.name);
        Err(RegressionError::Column {
            at: format!("column {:?}", self.name),
            expected: "numbers".into(),
            found: format!(
                "{value} in {count} {rows}, where all others lie between {} and {}",
                self.low, self.high
            ),
            hint: format!(
                "--missing-text={value} reads it as missing, or write I(1 * {name}) in the formula if \
                 it is a number"
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(values: &[f64]) -> Option<String> {
        let mut column = NumberColumn::new("x");
        column.see(Some(&Column::Number(values.to_vec())));
        column.judge().err().map(|error| error.to_string())
    }

    #[test]
    fn a_number_that_stands_for_nothing_is_asked_about() {
        let found = judged(&[1.5, 2.0, -999.0, 3.0, -999.0]).unwrap();
        let words = "found -999 in 2 rows, where all others lie between 1.5 and 3";
        assert!(found.contains(words), "{found}");
    }

    #[test]
    fn numbers_among_their_like_are_numbers() {
        assert_eq!(judged(&[950.0, 999.0, 1200.0, 700.0]), None);
        assert_eq!(judged(&[-999.0, -999.0, -999.0, 1.0, 2.0]), None);
        assert_eq!(judged(&[1.0, 2.0, f64::NAN, 3.0]), None);
        assert_eq!(judged(&[-2000.0, 500.0, 999.0]), None);
    }
}
