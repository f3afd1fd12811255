//! One pass of learning over all rows. Copies of an accumulator can read different rows, in any process, and are
//! merged afterwards.

use std::any::Any;

use lehr_formula::Terms;
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::error::LearnError;

/// Something that is learned from all rows in one pass. A copy made before the pass can read some
/// of the rows; copies are merged in the order of their rows.
pub trait Accumulator: Any + Send + Sync {
    /// The columns that it reads.
    fn columns(&self) -> Vec<&str>;

    /// Reads a block of rows. `first` is the number of rows before it.
    ///
    /// # Errors
    /// If the formula cannot take a value.
    fn add_rows(&mut self, block: &Table, first: usize) -> Result<(), LearnError>;

    /// A copy, which can read other rows.
    fn copied(&self) -> Box<dyn Accumulator>;

    /// Adds the results of a copy that read later rows.
    ///
    /// # Panics
    /// If `later` is not a copy of this accumulator.
    fn merge(&mut self, later: Box<dyn Accumulator>);
}

/// The part of an accumulator that depends on the quantity to learn.
pub trait Pupil: Clone + Send + Sync + 'static {
    /// Reads a block of rows. `first` is the number of rows before it.
    fn see(&mut self, terms: &Terms, block: &Table, first: usize) -> Result<(), LearnError>;

    /// Adds the results of a copy that read later rows.
    fn merge(&mut self, later: &Self);
}

/// A pupil, with the terms whose columns it reads.
#[derive(Clone, Serialize, Deserialize)]
pub struct Lesson<P> {
    terms: Terms,
    pub pupil: P,
}

impl<P: Pupil> Lesson<P> {
    pub fn new(terms: &Terms, pupil: P) -> Lesson<P> {
        Lesson {
            terms: terms.clone(),
            pupil,
        }
    }

    /// The lesson behind an accumulator.
    ///
    /// # Panics
    /// If the accumulator is a lesson of another pupil.
    pub fn of(accumulator: Box<dyn Accumulator>) -> Lesson<P> {
        let own: Box<dyn Any> = accumulator;
        *own.downcast().expect("a lesson keeps its pupil")
    }
}

impl<P: Pupil> Accumulator for Lesson<P> {
    fn columns(&self) -> Vec<&str> {
        self.terms.column_names()
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
