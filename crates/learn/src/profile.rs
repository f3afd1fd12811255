//! Statistics of the fitted table's columns that a prediction reads.

use lehr_formula::{ByVariable, Factor, Terms};
use lehr_numeric::column;
use lehr_table::{Column, Labels, Moment, Table, TableError};
use serde::{Deserialize, Serialize};

use crate::accumulator::merge_each;
use crate::column_use::population_columns;
use crate::error::{LearnError, list_names};
use crate::fixed_effects::FixedEffects;
use crate::smooth_term::monotonic::Monotonic;
use crate::source::Source;

/// Statistics of one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnProfile {
    /// The column.
    pub name: String,
    /// Its values.
    pub values: ValueProfile,
}

/// Statistics of a column's values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ValueProfile {
    /// Numeric values.
    Number {
        /// Their mean.
        mean: f64,
        /// The smallest value.
        low: f64,
        /// The largest value.
        high: f64,
    },
    /// Levels in order, and the place of the most frequent one.
    Levels {
        /// The names.
        names: Vec<String>,
        /// The place of the most frequent level.
        commonest: usize,
        /// The type of the column in the table.
        held: LevelType,
        /// The reference level, if the formula names one.
        #[serde(default)]
        baseline: Option<String>,
    },
}

/// The type of a column of levels in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LevelType {
    /// Text.
    Text,
    /// Numbers, which the formula treats as levels.
    Numbers,
    /// Boolean values.
    Truths,
}

/// A value of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValue {
    /// A number.
    Number(f64),
    /// A level as text.
    Level(String),
    /// A Boolean value.
    Truth(bool),
}

impl ColumnValue {
    /// The value in `rows` rows.
    pub fn column(&self, rows: usize) -> Column {
        match self {
            ColumnValue::Number(value) => Column::Number(vec![*value; rows]),
            ColumnValue::Truth(value) => Column::Boolean(vec![Some(*value); rows]),
            ColumnValue::Level(name) => Column::Category {
                codes: vec![0; rows],
                levels: vec![name.clone()].into(),
            },
        }
    }
}

impl std::fmt::Display for ColumnValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ColumnValue::Number(value) => write!(f, "{value}"),
            ColumnValue::Level(name) => f.write_str(name),
            ColumnValue::Truth(value) => write!(f, "{value}"),
        }
    }
}

impl ColumnProfile {
    /// The default value at which the column is held: the mean of numbers, the most frequent level.
    pub fn reference(&self) -> ColumnValue {
        match &self.values {
            ValueProfile::Number { mean, .. } => ColumnValue::Number(*mean),
            ValueProfile::Levels {
                names,
                commonest,
                held,
                ..
            } => held.value(&names[*commonest]),
        }
    }

    /// The levels as values; `None` for numbers.
    pub fn levels(&self) -> Option<Vec<ColumnValue>> {
        match &self.values {
            ValueProfile::Number { .. } => None,
            ValueProfile::Levels { names, held, .. } => {
                Some(names.iter().map(|name| held.value(name)).collect())
            }
        }
    }

    /// The column with unknown levels replaced by the first; `None` if there is nothing to replace.
    pub fn with_known_levels(&self, column: &Column) -> Option<Column> {
        let ValueProfile::Levels {
            names, baseline, ..
        } = &self.values
        else {
            return None;
        };
        match column {
            Column::Category { codes, levels } => {
                // The first level in the order of the terms.
                let first = baseline.as_ref().or(names.iter().min())?;
                let level = |level: &String| {
                    let known = names.contains(level);
                    if known { level.clone() } else { first.clone() }
                };
                let renamed: Vec<String> = levels.iter().map(level).collect();
                (renamed[..] != levels[..]).then(|| Column::Category {
                    codes: codes.clone(),
                    levels: renamed.into(),
                })
            }
            Column::Number(values) => {
                let known: Vec<f64> = names.iter().filter_map(|name| name.parse().ok()).collect();
                let least = known.iter().copied().fold(f64::INFINITY, f64::min);
                let first = baseline.as_ref().and_then(|name| name.parse().ok());
                let first = first.unwrap_or(least);
                let value = |value: &f64| {
                    let stays = value.is_nan() || known.contains(value);
                    if stays { *value } else { first }
                };
                Some(Column::Number(values.iter().map(value).collect()))
            }
            _ => None,
        }
    }

    /// Puts levels into the order of the formula; the reference level comes first.
    pub fn reorder(&mut self, order: &[String], reference: Option<&String>) {
        let ValueProfile::Levels {
            names,
            commonest,
            baseline,
            ..
        } = &mut self.values
        else {
            return;
        };
        let common = names[*commonest].clone();
        let others = order.iter().filter(|name| Some(*name) != reference);
        *names = reference.into_iter().chain(others).cloned().collect();
        *commonest = names.iter().position(|name| *name == common).unwrap_or(0);
        *baseline = names.first().cloned();
    }

    /// Parses a value from a user; refuses text that is not a number, or not a level of the column.
    pub fn read(&self, text: &str) -> Result<ColumnValue, LearnError> {
        let text = text.trim();
        let wrong = |expected: &str, hint: String| {
            LearnError::column(
                format!("column {:?}", self.name),
                expected,
                format!("{text:?}"),
                hint,
            )
        };
        match &self.values {
            ValueProfile::Number { .. } => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(ColumnValue::Number(value)),
                _ => Err(wrong("a finite number", String::new())),
            },
            ValueProfile::Levels { names, held, .. } => match names.iter().find(|n| *n == text) {
                Some(name) => Ok(held.value(name)),
                None => Err(wrong(
                    "a level of the table that was fitted",
                    format!("the levels are {}", list_names(names)),
                )),
            },
        }
    }
}

impl LevelType {
    /// The level in the type of the table.
    fn value(self, name: &str) -> ColumnValue {
        match self {
            LevelType::Text => ColumnValue::Level(name.to_owned()),
            LevelType::Numbers => ColumnValue::Number(name.parse().unwrap_or(f64::NAN)),
            LevelType::Truths => ColumnValue::Truth(name == "true"),
        }
    }
}

/// Gives profiles the order of levels that the formula sets.
pub fn order_levels(
    profiles: &mut [ColumnProfile],
    population: &FixedEffects,
    monotonics: &[Monotonic],
) {
    for (column, levels) in monotonics.iter().map(Monotonic::order) {
        let mut own = profiles.iter_mut();
        if let Some(profile) = own.find(|profile| profile.name == column) {
            profile.reorder(&levels, None);
        }
    }
    for basis in population.factors() {
        let Factor::Coded(coded) = basis.factor() else {
            continue;
        };
        let mut own = profiles.iter_mut();
        if let Some(profile) = own.find(|profile| profile.name == coded.column) {
            profile.reorder(&basis.level_names(), coded.reference.as_ref());
        }
    }
}

/// A row with every column at its reference, for the fixed effects.
pub fn reference_row(profiles: &[ColumnProfile]) -> Result<Table, TableError> {
    let mut table = Table::new();
    for profile in profiles {
        table.insert(profile.name.clone(), profile.reference().column(1))?;
    }
    Ok(table)
}

/// The profiles of columns while rows are seen.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProfileLearner {
    columns: Vec<ColumnProfiler>,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct ColumnProfiler {
    name: String,
    /// Whether the formula treats it as levels, whatever its type.
    as_levels: bool,
    moment: Moment,
    low: f64,
    high: f64,
    labels: Labels,
    counts: Vec<u64>,
    held: LevelType,
}

impl ProfileLearner {
    /// The columns that the fixed effects read.
    pub(crate) fn new(terms: &Terms) -> ProfileLearner {
        let others = terms.parameters.iter().flat_map(|terms| &terms.fixed);
        let factors = terms.fixed.iter().chain(others);
        let factors = factors.flat_map(|term| &term.factors);
        let coded = factors.filter(|factor| factor.is_categorical());
        let coded = coded.flat_map(Factor::column_names);
        let splines = terms.all_splines().map(|(_, term)| &term.by);
        let by = terms.smooths.iter().map(|smooth| &smooth.by).chain(splines);
        let levels = by.filter_map(|by| match by {
            Some(ByVariable::Levels(name)) => Some(name.as_str()),
            _ => None,
        });
        let ordered = terms.monotonics.iter();
        let ordered = ordered.map(|effect| effect.coded.column.as_str());
        let coded: Vec<&str> = coded.chain(levels).chain(ordered).collect();
        let column = |name: &str| ColumnProfiler {
            name: name.to_owned(),
            as_levels: coded.contains(&name),
            moment: Moment::default(),
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            labels: Labels::default(),
            counts: Vec::new(),
            held: LevelType::Numbers,
        };
        let columns = population_columns(terms).into_iter();
        ProfileLearner {
            columns: columns.map(column).collect(),
        }
    }

    pub(crate) fn add_rows(&mut self, source: &Source<'_>) {
        (self.columns.iter_mut()).for_each(|column| column.add_rows(source));
    }

    /// Adds the results of a copy that has seen more rows.
    pub(crate) fn merge(&mut self, other: &ProfileLearner) {
        merge_each(&mut self.columns, &other.columns, ColumnProfiler::merge);
    }

    pub(crate) fn finish(self) -> Vec<ColumnProfile> {
        let columns = self.columns.into_iter();
        columns.map(ColumnProfiler::finish).collect()
    }
}

impl ColumnProfiler {
    fn add_rows(&mut self, source: &Source<'_>) {
        match source.column(&self.name) {
            Column::Number(values) if !self.as_levels => {
                if column::is_finite(values) {
                    self.add_numbers(values);
                } else {
                    let there = values.iter().copied().filter(|value| !value.is_nan());
                    self.add_numbers(&there.collect::<Vec<f64>>());
                }
                return;
            }
            Column::Category { .. } => self.held = LevelType::Text,
            Column::Boolean(_) => self.held = LevelType::Truths,
            _ => {}
        }
        let (codes, names) = source.labels(&self.name);
        for code in self.labels.merged_codes(&codes, &names) {
            self.count(code, 1);
        }
    }

    fn add_numbers(&mut self, values: &[f64]) {
        self.moment.push_all(values);
        let [low, high] = column::range(values);
        self.low = self.low.min(low);
        self.high = self.high.max(high);
    }

    fn count(&mut self, code: u32, rows: u64) {
        let code = code as usize;
        if self.counts.len() <= code {
            self.counts.resize(code + 1, 0);
        }
        self.counts[code] += rows;
    }

    fn merge(&mut self, other: &ColumnProfiler) {
        self.moment.merge_sums(&other.moment);
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        if other.held != LevelType::Numbers {
            self.held = other.held;
        }
        let codes = self.labels.merge_labels(&other.labels);
        for (code, rows) in codes.into_iter().zip(&other.counts) {
            self.count(code, *rows);
        }
    }

    fn finish(self) -> ColumnProfile {
        let values = if self.counts.is_empty() {
            ValueProfile::Number {
                mean: self.moment.mean(),
                low: self.low,
                high: self.high,
            }
        } else {
            let (names, places) = self.labels.sorted_labels();
            let mut counts = vec![0; names.len()];
            for (place, count) in places.iter().zip(&self.counts) {
                counts[*place as usize] = *count;
            }
            // Of equally frequent levels the first.
            let commonest = (0..counts.len()).rev().max_by_key(|place| counts[*place]);
            ValueProfile::Levels {
                names: names.to_vec(),
                commonest: commonest.unwrap_or(0),
                held: self.held,
                baseline: None,
            }
        };
        ColumnProfile {
            name: self.name,
            values,
        }
    }
}
