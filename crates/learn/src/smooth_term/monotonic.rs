//! Monotonic effects `mo(x)`: the ordered levels of a column.

use lehr_formula::{Factor, LevelCoding, MonotonicTerm, Round, Term, TermBasis, TermLearner};
use serde::{Deserialize, Serialize};

use crate::error::LearnError;
use crate::fixed_effects::{add_rows_to, next_rounds};
use crate::source::Source;

/// With fewer levels the order is meaningless, and with more the column is a quantity.
const FEWEST: usize = 3;
const MOST: usize = 50;

/// A monotonic effect with the levels learned from the fitted table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Monotonic {
    /// `mo(income)`.
    pub label: String,
    basis: TermBasis,
}

/// A monotonic effect while its table is read.
#[derive(Clone)]
pub(crate) struct MonotonicLearner {
    label: String,
    column: String,
    levels: Vec<TermLearner>,
}

impl MonotonicLearner {
    pub(crate) fn new(term: &MonotonicTerm) -> MonotonicLearner {
        let factor = Term::from_factor(Factor::Coded(term.coded.clone()));
        MonotonicLearner {
            label: term.term_label(),
            column: term.coded.column.clone(),
            levels: vec![TermLearner::new(&factor, &[LevelCoding::Full])],
        }
    }

    pub(crate) fn add_rows(&mut self, source: &Source<'_>) -> Result<(), LearnError> {
        add_rows_to(&mut self.levels, source)
    }

    pub(crate) fn next_round(&mut self) -> Result<Round, LearnError> {
        next_rounds(&mut self.levels)
    }

    /// The effect, if the column can have one.
    pub(crate) fn finish(mut self) -> Result<Monotonic, LearnError> {
        let learner = self.levels.pop().expect("one column");
        let made = Monotonic {
            label: self.label,
            basis: learner.into_basis(),
        };
        let (column, count) = (lehr_formula::quote_name(&self.column), made.levels().len());
        let (expected, hint) = match count {
            ..FEWEST => (
                format!("at least {FEWEST} levels"),
                format!("write C({column}) for a difference"),
            ),
            FEWEST..=MOST => return Ok(made),
            _ => (
                format!("at most {MOST} levels"),
                format!("write s({column}) for a smooth function of a quantity"),
            ),
        };
        Err(LearnError::column(
            made.label,
            expected,
            count.to_string(),
            hint,
        ))
    }
}

impl Monotonic {
    /// The levels in order.
    pub fn levels(&self) -> Vec<String> {
        self.basis.factors[0].level_names()
    }

    /// The name of the shares of its steps.
    pub fn step_name(&self) -> String {
        format!("{}.step", self.label)
    }

    /// The place of each row's level in the order. Refuses levels that were not fitted.
    pub fn ranks(&self, source: &Source<'_>) -> Result<Vec<u32>, LearnError> {
        Ok(self.basis.factors[0].column_ranks(&|name| source.read(name))?)
    }

    /// The column, and its levels in order.
    pub fn order(&self) -> (&str, Vec<String>) {
        (
            self.basis.factors[0].factor().column_names()[0],
            self.levels(),
        )
    }
}
