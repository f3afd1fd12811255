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
    fn columns(&self) -> Vec<String>;

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
pub trait Learner: Clone + Send + Sync + 'static {
    /// Reads a block of rows. `first` is the number of rows before it.
    fn add_rows(&mut self, terms: &Terms, block: &Table, first: usize) -> Result<(), LearnError>;

    /// Adds the results of a copy that read later rows.
    fn merge(&mut self, later: &Self);
}

/// Merges each learner with its copy that read later rows.
pub(crate) fn merge_each<L>(own: &mut [L], later: &[L], merge: impl Fn(&mut L, &L)) {
    own.iter_mut()
        .zip(later)
        .for_each(|(own, later)| merge(own, later));
}

/// A learner, with the terms whose columns it reads.
#[derive(Clone, Serialize, Deserialize)]
pub struct LearningPass<P> {
    terms: Terms,
    pub learner: P,
}

impl<P: Learner> LearningPass<P> {
    pub fn new(terms: &Terms, learner: P) -> LearningPass<P> {
        LearningPass {
            terms: terms.clone(),
            learner,
        }
    }

    /// The learning pass behind an accumulator.
    ///
    /// # Panics
    /// If the accumulator is a pass of another learner.
    pub fn of(accumulator: Box<dyn Accumulator>) -> LearningPass<P> {
        let own: Box<dyn Any> = accumulator;
        *own.downcast().expect("a learning pass keeps its learner")
    }
}

impl<P: Learner> Accumulator for LearningPass<P> {
    fn columns(&self) -> Vec<String> {
        let names = self.terms.column_names().into_iter();
        names.map(str::to_owned).collect()
    }

    fn add_rows(&mut self, block: &Table, first: usize) -> Result<(), LearnError> {
        if block.n_rows() == 0 {
            return Ok(());
        }
        self.learner.add_rows(&self.terms, block, first)
    }

    fn copied(&self) -> Box<dyn Accumulator> {
        Box::new(self.clone())
    }

    fn merge(&mut self, later: Box<dyn Accumulator>) {
        self.learner.merge(&LearningPass::of(later).learner);
    }
}
