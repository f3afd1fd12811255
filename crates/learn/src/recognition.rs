//! Detects likely mistakes in columns: text that represents numbers, dates or identifiers, levels
//! that differ only in case, numbers that represent missing values.

use std::collections::{HashMap, HashSet};

use lehr_formula::{ColumnExpr, Factor, Terms, quote_name};
use lehr_table::{Column, Table};
use serde::{Deserialize, Serialize};

use crate::accumulator::{Learner, merge_each};
use crate::error::LearnError;
use crate::number_column::sentinel::NumberColumn;
use crate::response::family_guess::FamilyOrigin;
use crate::table_source::Blocks;

/// The most levels that are examined; a column with more should be a grouping factor anyway.
const MOST: usize = 1000;
/// Fewer levels are always accepted.
const FEWEST: usize = 3;
/// The least number of levels for which a column with nearly one level per row counts as an
/// identifier.
const MANY: usize = 20;
/// The share of levels, or of rows, that is decisive.
const NEARLY_ALL: f64 = 0.9;

/// Columns under examination: text that the formula treats as levels without an explicit request,
/// and numbers that may represent missing values. `C(...)` marks levels as intended, and so does a
/// family named by the user for classes.
#[derive(Clone, Serialize, Deserialize)]
pub struct Recognition {
    columns: Vec<TextColumn>,
    numbers: Vec<NumberColumn>,
}

impl Recognition {
    pub fn new(terms: &Terms, family: FamilyOrigin, blocks: &dyn Blocks) -> Recognition {
        let mut columns: Vec<TextColumn> = Vec::new();
        let factors = terms.fixed.iter().flat_map(|term| &term.factors);
        let bare = factors.filter_map(|factor| match factor {
            Factor::Column(name) => Some((name, ColumnRole::Covariate)),
            _ => None,
        });
        let response = match &terms.response.outcome {
            ColumnExpr::Column(name) => Some((name, ColumnRole::Response)),
            _ => None,
        };
        let mut numbers: Vec<NumberColumn> = Vec::new();
        for (name, role) in response.into_iter().chain(bare) {
            let told = role == ColumnRole::Response && family == FamilyOrigin::User;
            // Responses that are known only by a bound often share that bound.
            if role == ColumnRole::Response && terms.response.censoring.is_some() {
                continue;
            }
            if !blocks.is_text(name) {
                if !numbers.iter().any(|known| known.name == *name) {
                    numbers.push(NumberColumn::new(name));
                }
            } else if !told && !columns.iter().any(|known| known.name == *name) {
                columns.push(TextColumn::new(name, role));
            }
        }
        Recognition { columns, numbers }
    }

    /// Reports likely mistakes.
    pub fn judge(&self) -> Result<(), LearnError> {
        self.columns.iter().try_for_each(TextColumn::judge)?;
        self.numbers.iter().try_for_each(NumberColumn::judge)
    }
}

impl Learner for Recognition {
    fn add_rows(&mut self, _: &Terms, block: &Table, _: usize) -> Result<(), LearnError> {
        for column in &mut self.columns {
            column.add_rows(block.column(&column.name).ok());
        }
        for column in &mut self.numbers {
            column.add_rows(block.column(&column.name).ok());
        }
        Ok(())
    }

    fn merge(&mut self, other: &Recognition) {
        merge_each(&mut self.columns, &other.columns, TextColumn::merge);
        merge_each(&mut self.numbers, &other.numbers, NumberColumn::merge);
    }
}

/// The role of a column in the formula.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum ColumnRole {
    Covariate,
    Response,
}

/// A column of text under examination.
#[derive(Clone, Serialize, Deserialize)]
struct TextColumn {
    name: String,
    role: ColumnRole,
    levels: HashSet<String>,
    rows: usize,
}

impl TextColumn {
    fn new(name: &str, role: ColumnRole) -> TextColumn {
        TextColumn {
            name: name.to_owned(),
            role,
            levels: HashSet::new(),
            rows: 0,
        }
    }

    fn add_rows(&mut self, column: Option<&Column>) {
        let Some(Column::Category { codes, levels }) = column else {
            return;
        };
        self.rows += codes.len();
        self.insert(levels.iter());
    }

    fn insert<'l>(&mut self, levels: impl Iterator<Item = &'l String>) {
        for level in levels {
            if self.levels.len() < MOST && !self.levels.contains(level) {
                self.levels.insert(level.clone());
            }
        }
    }

    fn merge(&mut self, other: &TextColumn) {
        self.rows += other.rows;
        let mut levels: Vec<&String> = other.levels.iter().collect();
        levels.sort_unstable();
        self.insert(levels.into_iter());
    }

    /// The first level in order that matches, if nearly all do.
    fn nearly_all(&self, looks: fn(&str) -> bool) -> Option<&str> {
        let alike = || self.levels.iter().filter(|level| looks(level));
        let enough = alike().count() as f64 >= NEARLY_ALL * self.levels.len() as f64;
        alike().min().filter(|_| enough).map(String::as_str)
    }

    /// Two levels that differ only in case or in surrounding blanks.
    fn twins(&self) -> Option<(&str, &str)> {
        let mut seen: HashMap<String, &str> = HashMap::new();
        let mut levels: Vec<&str> = self.levels.iter().map(String::as_str).collect();
        levels.sort_unstable();
        levels.into_iter().find_map(|level| {
            let known = seen.insert(level.trim().to_lowercase(), level);
            known.map(|known| (known, level))
        })
    }

    fn judge(&self) -> Result<(), LearnError> {
        let name = quote_name(&self.name);
        let meant = match self.role {
            ColumnRole::Covariate => {
                format!("write C({name}) in the formula if each text is a level")
            }
            ColumnRole::Response => "name the --family if each text is a class".into(),
        };
        let (found, remedy) = if let Some((one, other)) = self.twins() {
            let found = format!("both {one:?} and {other:?}");
            (found, "write what is meant to be the same in one way")
        } else if self.levels.len() < FEWEST {
            return Ok(());
        } else if let Some(example) = self.nearly_all(looks_like_date) {
            let found = format!("text that looks like dates, such as {example:?}");
            (found, "write dates as 2024-03-01, which are read as days")
        } else if let Some(example) = self.nearly_all(looks_like_number) {
            let found = format!("text that looks like numbers, such as {example:?}");
            (found, "write plain numbers such as 1.5 in the table")
        } else if self.is_identifier() {
            let (levels, rows) = (self.levels.len(), self.rows);
            let found = format!("{levels} different texts in {rows} rows, as identifiers have");
            (found, "leave the column out of the formula")
        } else {
            return Ok(());
        };
        Err(LearnError::column(
            format!("column {:?}", self.name),
            "numbers, or levels that several rows share",
            found,
            format!("{remedy}, or {meant}"),
        ))
    }

    fn is_identifier(&self) -> bool {
        let levels = self.levels.len();
        (MANY..MOST).contains(&levels) && levels as f64 >= NEARLY_ALL * self.rows as f64
    }
}

/// Three groups of digits separated by the same character: `1/3/2024`, `2024-03-01`.
fn looks_like_date(text: &str) -> bool {
    let text = text.trim();
    ['/', '-', '.'].into_iter().any(|sign| {
        let parts: Vec<&str> = text.split(sign).collect();
        let digits = |part: &&str| {
            (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        parts.len() == 3 && parts.iter().all(digits)
    })
}

/// A number after removal of currencies, per cents, spaces and commas. Plain numbers do not count:
/// a table with those as text intends levels.
fn looks_like_number(text: &str) -> bool {
    let is_plain = |text: &str| text.trim().parse::<f64>().is_ok();
    let kept = |c: &char| !c.is_whitespace() && !"$€£¥%'_".contains(*c);
    let bare: String = text.chars().filter(kept).collect();
    let has_digit = bare.bytes().any(|byte| byte.is_ascii_digit());
    let with_point = bare.replacen(',', ".", 1);
    let without = bare.replace(',', "");
    !is_plain(text) && has_digit && (is_plain(&with_point) || is_plain(&without))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_disguise_are_told_from_words() {
        for text in [
            "$1.20",
            "1,5",
            "12 %",
            "1,234,567.5",
            "€ 3",
            "-1,5",
            "1'000",
        ] {
            assert!(looks_like_number(text), "{text}");
        }
        for text in ["red", "1.5", "02139", "A1", "12 kg", "1,5,x", ""] {
            assert!(!looks_like_number(text), "{text}");
        }
    }

    #[test]
    fn dates_are_told_from_numbers() {
        for text in ["1/3/2024", "2024-03-01", "01.02.24"] {
            assert!(looks_like_date(text), "{text}");
        }
        for text in ["1.5", "2024", "a/b/c", "1/2", "10-20"] {
            assert!(!looks_like_date(text), "{text}");
        }
    }
}
