//! Tables that are too long to be held at once.

use lehr_table::{Column, Table};

use crate::error::RegressionError;
use crate::lesson::Lesson;

/// What is done with each block of a table.
pub type EachBlock<'a> = dyn FnMut(&Table) -> Result<(), RegressionError> + 'a;

/// Lessons that were taught together.
pub type Taught = Vec<Option<Lesson>>;

/// A table that is read block after block, as often as it takes. A table in memory is one
/// block.
pub trait Blocks {
    /// The names of its columns.
    fn names(&self) -> &[String];

    /// Whether a column holds text.
    fn is_text(&self, name: &str) -> bool;

    /// Hands on all rows, block after block and each time in the same order. Columns other than
    /// the named ones may be left out; a category may have other levels in each block.
    fn each(&self, columns: &[&str], visit: &mut EachBlock<'_>) -> Result<(), RegressionError>;

    /// The first rows, where that is much less work than to read all.
    ///
    /// # Errors
    /// If they cannot be read.
    fn glance(&self, _columns: &[&str]) -> Result<Option<Table>, RegressionError> {
        Ok(None)
    }

    /// Shows all rows to several lessons in one go, and says how many there were. `None` in the place of
    /// a lesson for which some row was not what it takes it for.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn teach_all(&self, lessons: Vec<Lesson>) -> Result<(usize, Taught), RegressionError> {
        let mut rows = 0;
        let teach = |mut lesson: Lesson| {
            rows = self.teach(&mut lesson)?;
            Ok(Some(lesson))
        };
        let taught: Result<Taught, RegressionError> = lessons.into_iter().map(teach).collect();
        Ok((rows, taught?))
    }

    /// Shows all rows to a lesson, and says how many there were.
    fn teach(&self, lesson: &mut Lesson) -> Result<usize, RegressionError> {
        let columns: Vec<String> = lesson.columns().iter().map(ToString::to_string).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let mut rows = 0;
        self.each(&columns, &mut |block| {
            lesson.see(block, rows)?;
            rows += block.n_rows();
            Ok(())
        })?;
        Ok(rows)
    }
}

impl Blocks for Table {
    fn names(&self) -> &[String] {
        Table::names(self)
    }

    fn is_text(&self, name: &str) -> bool {
        matches!(self.column(name), Ok(Column::Category { .. }))
    }

    fn each(&self, _columns: &[&str], visit: &mut EachBlock<'_>) -> Result<(), RegressionError> {
        visit(self)
    }
}
