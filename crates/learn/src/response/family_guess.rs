//! Guesses the form of a response from its values.

use std::collections::HashSet;

use lehr_formula::{ColumnExpr, Terms};
use lehr_table::{Column, Table};
use serde::{Deserialize, Serialize};

use crate::accumulator::Learner;
use crate::error::LearnError;
use crate::response_rule::ResponseForm;

/// Whether the user or the response determines the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyOrigin {
    /// The user named it.
    User,
    /// It is guessed from the response.
    Response,
}

/// Evidence of the form of a response.
pub(crate) enum FamilyEvidence<'t> {
    /// The user named the family.
    Named,
    /// The formula alone determines the form.
    Form(ResponseForm),
    /// The values of this column determine it.
    Column(&'t str),
}

impl<'t> FamilyEvidence<'t> {
    /// The evidence that these terms give.
    pub(crate) fn of(terms: &'t Terms, family: FamilyOrigin) -> FamilyEvidence<'t> {
        if family == FamilyOrigin::User {
            return FamilyEvidence::Named;
        }
        if terms.response.errors.is_some() {
            return FamilyEvidence::Form(ResponseForm::Real);
        }
        if terms.response.trials.is_some() {
            return FamilyEvidence::Form(ResponseForm::Successes);
        }
        match &terms.response.outcome {
            ColumnExpr::Column(name) => FamilyEvidence::Column(name),
            _ => FamilyEvidence::Form(ResponseForm::Real),
        }
    }
}

/// Statistics from which the form of a response is guessed.
#[derive(Clone, Serialize, Deserialize)]
pub struct FamilyGuess {
    name: String,
    levels: HashSet<String>,
    is_text: bool,
    is_binary: bool,
    is_whole: bool,
    most: f64,
}

impl FamilyGuess {
    pub fn new(name: &str) -> FamilyGuess {
        FamilyGuess {
            name: name.to_owned(),
            levels: HashSet::new(),
            is_text: false,
            is_binary: true,
            is_whole: true,
            most: 0.0,
        }
    }

    /// The form of the response. Whole numbers may be counts or measurements, which only the user knows.
    pub fn finish(&self) -> Result<ResponseForm, LearnError> {
        Ok(match (self.is_text, self.is_binary) {
            (true, _) if self.levels.len() > 2 => ResponseForm::Unordered,
            (true, _) | (_, true) => ResponseForm::Two,
            _ if self.is_whole && self.most > 0.0 => {
                return Err(whole_numbers(&self.name, self.most));
            }
            _ => ResponseForm::Real,
        })
    }
}

impl Learner for FamilyGuess {
    fn add_rows(&mut self, _: &Terms, block: &Table, _: usize) -> Result<(), LearnError> {
        match block.column(&self.name) {
            Ok(Column::Boolean(_)) => {}
            Ok(Column::Category { levels: names, .. }) => {
                self.is_text = true;
                self.levels.extend(names.iter().take(3).cloned());
            }
            Ok(Column::Number(y)) => {
                self.is_binary &= y.iter().all(|&y| y == 0.0 || y == 1.0);
                self.is_whole &= y.iter().all(|&y| y >= 0.0 && y.fract() == 0.0);
                self.most = y.iter().copied().fold(self.most, f64::max);
            }
            _ => (self.is_binary, self.is_whole) = (false, false),
        }
        Ok(())
    }

    fn merge(&mut self, other: &FamilyGuess) {
        self.levels.extend(other.levels.iter().cloned());
        self.is_text |= other.is_text;
        self.is_binary &= other.is_binary;
        self.is_whole &= other.is_whole;
        self.most = self.most.max(other.most);
    }
}

fn whole_numbers(name: &str, most: f64) -> LearnError {
    LearnError::column(
        format!("column {name:?}"),
        "a family to be named for whole numbers, which may be counts or measurements",
        format!("whole numbers up to {most} and no family"),
        "--family poisson or negbinomial for counts, gaussian for measurements, ordinal for \
               ratings",
    )
}
