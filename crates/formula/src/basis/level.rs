//! The levels of a categorical column and their coding.

use std::collections::{HashMap, HashSet};

use lehr_spelling::nearest;
use serde::{Deserialize, Serialize};

use super::column::{ColumnValues, Lookup};
use super::error::BasisError;
use crate::coded::LevelCoding;

/// The distinct values of a column, in ascending order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LevelSet {
    Text(Vec<String>),
    Numbers(Vec<f64>),
}

impl LevelSet {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(levels) => levels.len(),
            Self::Numbers(levels) => levels.len(),
        }
    }

    pub(super) fn level_names(&self) -> Vec<String> {
        match self {
            Self::Text(levels) => levels.clone(),
            Self::Numbers(levels) => levels.iter().map(ToString::to_string).collect(),
        }
    }

    /// The level of each row.
    pub(super) fn level_codes(
        &self,
        name: &str,
        column: ColumnValues<'_>,
    ) -> Result<Vec<u32>, BasisError> {
        match (self, column) {
            (Self::Text(known), ColumnValues::Labels { codes, levels }) => {
                let places: HashMap<&str, u32> =
                    known.iter().map(String::as_str).zip(0..).collect();
                let places: Vec<Option<u32>> = levels
                    .iter()
                    .map(|level| places.get(level.as_str()).copied())
                    .collect();
                let found = |&code: &u32| places[code as usize];
                let codes_found: Option<Vec<u32>> = codes.iter().map(found).collect();
                codes_found.ok_or_else(|| {
                    let new = codes.iter().filter(|code| found(code).is_none());
                    unseen_error(name, new.map(|code| levels[*code as usize].clone()), known)
                })
            }
            (Self::Numbers(known), ColumnValues::Numbers(values)) => {
                let found = |value: &f64| {
                    let place = known.binary_search_by(|level| {
                        level.partial_cmp(value).unwrap_or(std::cmp::Ordering::Less)
                    });
                    place.ok().map(|place| place as u32)
                };
                let codes_found: Option<Vec<u32>> = values.iter().map(found).collect();
                codes_found.ok_or_else(|| {
                    let new = values.iter().filter(|value| found(value).is_none());
                    unseen_error(name, new.map(ToString::to_string), &self.level_names())
                })
            }
            (Self::Text(_), ColumnValues::Numbers(_)) => Err(BasisError::Numbers(name.to_owned())),
            (Self::Numbers(_), ColumnValues::Labels { .. }) => {
                Err(BasisError::Text(name.to_owned()))
            }
        }
    }
}

/// The error that lists each new level once.
fn unseen_error(column: &str, new: impl Iterator<Item = String>, known: &[String]) -> BasisError {
    let mut levels: Vec<String> = Vec::new();
    for level in new {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    let near = match &levels[..] {
        [only] => nearest(only, known),
        _ => None,
    };
    BasisError::UnseenLevel {
        column: column.to_owned(),
        levels,
        hint: match near {
            Some(near) => format!("\n  hint: did you mean \"{near}\"?"),
            None => "\n  hint: leave such rows out, fit again with rows of that level, or take it \
                     for the first with --new-levels reference"
                .into(),
        },
    }
}

/// The values that occur in a column, gathered block by block; levels without a row are left out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LevelLearner {
    name: String,
    texts: HashSet<String>,
    /// By their bits, -0 as 0.
    numbers: HashSet<u64>,
}

impl LevelLearner {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            texts: HashSet::new(),
            numbers: HashSet::new(),
        }
    }

    pub(super) fn add_rows(
        &mut self,
        columns: &Lookup<'_, '_>,
        first: usize,
    ) -> Result<(), BasisError> {
        let name = &self.name;
        match columns(name).ok_or_else(|| BasisError::Unknown(name.clone()))? {
            ColumnValues::Numbers(values) => {
                if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                    return Err(BasisError::NotFinite {
                        factor: format!("C({name})"),
                        row: first + row + 1,
                        value: values[row],
                    });
                }
                let bits = values.iter().map(|value| (value + 0.0).to_bits());
                self.numbers.extend(bits);
            }
            ColumnValues::Labels { codes, levels } => {
                let mut occurs = vec![false; levels.len()];
                for &code in codes {
                    occurs[code as usize] = true;
                }
                for (level, _) in levels.iter().zip(occurs).filter(|(_, occurs)| *occurs) {
                    if !self.texts.contains(level) {
                        self.texts.insert(level.clone());
                    }
                }
            }
        }
        Ok(())
    }

    /// The column.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Adds the values of more rows.
    pub(super) fn merge_learner(&mut self, other: &LevelLearner) {
        self.texts.extend(other.texts.iter().cloned());
        self.numbers.extend(&other.numbers);
    }

    /// The levels in ascending order.
    pub(super) fn learnt_levels(&mut self, coding: LevelCoding) -> Result<LevelSet, BasisError> {
        let mut numbers: Vec<f64> = (self.numbers.iter().copied()).map(f64::from_bits).collect();
        numbers.sort_by(f64::total_cmp);
        let mut texts: Vec<String> = std::mem::take(&mut self.texts).into_iter().collect();
        texts.sort_unstable();
        let levels = if texts.is_empty() {
            LevelSet::Numbers(numbers)
        } else {
            LevelSet::Text(texts)
        };
        match (levels.len(), coding) {
            (0, _) => Err(BasisError::Empty(format!("C({})", self.name))),
            (1, LevelCoding::Treatment) => Err(BasisError::OneLevel {
                column: self.name.clone(),
                level: levels.level_names().remove(0),
            }),
            _ => Ok(levels),
        }
    }
}
