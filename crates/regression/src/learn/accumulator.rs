//! One round of learning from all rows: whoever has rows can learn from them, and what several have learnt
//! is put together.

use std::any::Any;

use lehr_formula::Terms;
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use super::error::LearnError;

/// What is to be learnt of all rows in one round. A copy that was made before the round can learn from
/// some of the rows; copies are merged in the order of their rows.
pub trait Accumulator: Any + Send + Sync {
    /// The columns that it reads.
    fn columns(&self) -> Vec<&str>;

    /// Learns from a block of rows, before which so many come.
    ///
    /// # Errors
    /// If a value cannot be what the formula takes it for.
    fn add_rows(&mut self, block: &Table, first: usize) -> Result<(), LearnError>;

    /// A copy that can learn from other rows.
    fn copied(&self) -> Box<dyn Accumulator>;

    /// Takes in what a copy has learnt from rows after these.
    ///
    /// # Panics
    /// If it is a copy of another accumulator.
    fn merge(&mut self, later: Box<dyn Accumulator>);
}

/// Who learns from the rows of a formula.
pub(crate) trait Pupil: Clone + Send + Sync + 'static {
    /// Learns from a block of rows, before which so many come.
    fn see(&mut self, terms: &Terms, block: &Table, first: usize) -> Result<(), LearnError>;

    /// Takes in what a copy has learnt from rows after these.
    fn merge(&mut self, later: &Self);
}

/// A pupil with the terms whose columns it is shown.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Lesson<P> {
    terms: Terms,
    pub(crate) pupil: P,
}

impl<P: Pupil> Lesson<P> {
    pub(crate) fn new(terms: &Terms, pupil: P) -> Lesson<P> {
        Lesson {
            terms: terms.clone(),
            pupil,
        }
    }

    /// The same that was handed on as an accumulator.
    ///
    /// # Panics
    /// If it is another.
    pub(crate) fn of(accumulator: Box<dyn Accumulator>) -> Lesson<P> {
        let own: Box<dyn Any> = accumulator;
        *own.downcast().expect("a lesson keeps its pupil")
    }
}

impl<P: Pupil> Accumulator for Lesson<P> {
    fn columns(&self) -> Vec<&str> {
        self.terms.columns()
    }

    fn add_rows(&mut self, block: &Table, first: usize) -> Result<(), LearnError> {
        if block.n_rows() == 0 {
            return Ok(());
        }
        self.pupil.see(&self.terms, block, first)
    }

    fn copied(&self) -> Box<dyn Accumulator> {
        Box::new(self.clone())
    }

    fn merge(&mut self, later: Box<dyn Accumulator>) {
        self.pupil.merge(&Lesson::of(later).pupil);
    }
}
