//! Tables that are read in blocks.

use lehr_formula::Terms;
use lehr_table::{Column, Table};

use crate::accumulator::{Accumulator, Learner, LearningPass};
use crate::error::LearnError;

/// A callback for each block of a table.
pub type EachBlock<'a> = dyn FnMut(&Table) -> Result<(), LearnError> + 'a;

/// Accumulators that were shown the same rows.
pub type LearningResult = Vec<Option<Box<dyn Accumulator>>>;

/// A table that is read in blocks, any number of times. A table in memory is one block.
pub trait Blocks {
    /// The names of its columns.
    fn names(&self) -> &[String];

    /// Whether a column holds text.
    fn is_text(&self, name: &str) -> bool;

    /// Passes on all rows in blocks, each time in the same order. Columns other than the named ones
    /// may be left out; a category may have different levels in each block.
    fn each(&self, columns: &[&str], visit: &mut EachBlock<'_>) -> Result<(), LearnError>;

    /// The first rows, if they can be read much faster than all.
    ///
    /// # Errors
    /// If they cannot be read.
    fn peek_rows(&self, _columns: &[&str]) -> Result<Option<Table>, LearnError> {
        Ok(None)
    }

    /// Passes all rows to several accumulators in one pass and returns the number of rows. `None`
    /// replaces an accumulator that refused a row.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn accumulate_all(
        &self,
        accumulators: Vec<Box<dyn Accumulator>>,
    ) -> Result<(usize, LearningResult), LearnError> {
        let mut all = 0;
        let accumulate = |accumulator: Box<dyn Accumulator>| {
            let (rows, learned) = self.accumulate(accumulator)?;
            all = rows;
            Ok(Some(learned))
        };
        let learned: Result<LearningResult, LearnError> =
            accumulators.into_iter().map(accumulate).collect();
        Ok((all, learned?))
    }

    /// Passes all rows to an accumulator and returns the number of rows.
    ///
    /// # Errors
    /// If the rows cannot be read, or the accumulator refuses one.
    fn accumulate(
        &self,
        mut accumulator: Box<dyn Accumulator>,
    ) -> Result<(usize, Box<dyn Accumulator>), LearnError> {
        let columns = accumulator.columns();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut rows = 0;
        self.each(&columns, &mut |block| {
            accumulator.add_rows(block, rows)?;
            rows += block.n_rows();
            Ok(())
        })?;
        Ok((rows, accumulator))
    }
}

/// The learner after all rows, and the number of rows.
pub(crate) fn learned<P: Learner>(
    terms: &Terms,
    learner: P,
    blocks: &dyn Blocks,
) -> Result<(P, usize), LearnError> {
    let (rows, accumulator) = blocks.accumulate(Box::new(LearningPass::new(terms, learner)))?;
    Ok((LearningPass::of(accumulator).learner, rows))
}

impl Blocks for Table {
    fn names(&self) -> &[String] {
        Table::names(self)
    }

    fn is_text(&self, name: &str) -> bool {
        matches!(self.column(name), Ok(Column::Category { .. }))
    }

    fn each(&self, _columns: &[&str], visit: &mut EachBlock<'_>) -> Result<(), LearnError> {
        visit(self)
    }
}
