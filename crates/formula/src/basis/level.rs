//! The levels of a categorical column and their coding.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::error::BasisError;
use super::factor_basis::Column;
use crate::spelling::nearest;

/// How a categorical factor becomes columns of zeros and ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// One column for each level but the first, which the others are compared with.
    Treatment,
    /// One column for each level.
    Full,
}

/// The distinct values of a column, in ascending order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Levels {
    Text(Vec<String>),
    Numbers(Vec<f64>),
}

impl Levels {
    /// The values that occur in a column; levels no row has are left out.
    pub(super) fn fit(name: &str, column: Column<'_>) -> Result<Self, BasisError> {
        let levels = match column {
            Column::Numbers(values) => {
                let mut sorted = values.to_vec();
                if let Some(row) = sorted.iter().position(|value| !value.is_finite()) {
                    return Err(BasisError::NotFinite {
                        factor: format!("C({name})"),
                        row: row + 1,
                        value: sorted[row],
                    });
                }
                sorted.sort_by(f64::total_cmp);
                // By value, so that -0 and 0 are one level.
                sorted.dedup_by(|right, left| right == left);
                Self::Numbers(sorted)
            }
            Column::Labels { codes, levels } => {
                let mut occurs = vec![false; levels.len()];
                for &code in codes {
                    occurs[code as usize] = true;
                }
                let kept = levels.iter().zip(occurs).filter(|(_, occurs)| *occurs);
                let mut sorted: Vec<String> = kept.map(|(level, _)| level.clone()).collect();
                sorted.sort_unstable();
                sorted.dedup();
                Self::Text(sorted)
            }
        };
        match levels.len() {
            0 => Err(BasisError::Empty(format!("C({name})"))),
            _ => Ok(levels),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(levels) => levels.len(),
            Self::Numbers(levels) => levels.len(),
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Text(levels) => levels.clone(),
            Self::Numbers(levels) => levels.iter().map(ToString::to_string).collect(),
        }
    }

    /// Which level each row has.
    pub(super) fn codes(&self, name: &str, column: Column<'_>) -> Result<Vec<u32>, BasisError> {
        match (self, column) {
            (Self::Text(known), Column::Labels { codes, levels }) => {
                let places: HashMap<&str, u32> =
                    known.iter().map(String::as_str).zip(0..).collect();
                let places: Vec<Option<u32>> = levels
                    .iter()
                    .map(|level| places.get(level.as_str()).copied())
                    .collect();
                let place = |&code: &u32| {
                    let code = code as usize;
                    places[code].ok_or_else(|| unseen(name, &levels[code], known))
                };
                codes.iter().map(place).collect()
            }
            (Self::Numbers(known), Column::Numbers(values)) => {
                let place = |value: &f64| {
                    let found = known.binary_search_by(|level| {
                        level.partial_cmp(value).unwrap_or(std::cmp::Ordering::Less)
                    });
                    match found {
                        Ok(place) => Ok(place as u32),
                        Err(_) => Err(unseen(name, &value.to_string(), &self.names())),
                    }
                };
                values.iter().map(place).collect()
            }
            (Self::Text(_), Column::Numbers(_)) => Err(BasisError::Numbers(name.to_owned())),
            (Self::Numbers(_), Column::Labels { .. }) => Err(BasisError::Text(name.to_owned())),
        }
    }
}

fn unseen(column: &str, level: &str, known: &[String]) -> BasisError {
    BasisError::UnseenLevel {
        column: column.to_owned(),
        level: level.to_owned(),
        hint: match nearest(level, known) {
            Some(near) => format!("\n  hint: did you mean \"{near}\"?"),
            None => String::new(),
        },
    }
}
