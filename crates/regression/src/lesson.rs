//! One round of learning from all rows, as data: whoever has rows can learn from them, and what several
//! have learnt is put together.

use lehr_formula::Terms;
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::error::RegressionError;
use crate::learning::{Levels, Scales};
use crate::part::Guess;
use crate::recognition::Recognition;
use crate::source::Source;

/// What is to be learnt of all rows in one round. A copy that was made before the round can learn from
/// some of the rows; copies are merged in the order of their rows.
#[derive(Serialize, Deserialize)]
pub struct Lesson {
    terms: Terms,
    pub(crate) pupil: Pupil,
}

/// Who learns.
#[derive(Serialize, Deserialize)]
pub(crate) enum Pupil {
    Recognition(Recognition),
    Guess(Guess),
    Levels(Box<Levels>),
    Scales(Box<Scales>),
}

impl Lesson {
    pub(crate) fn new(terms: &Terms, pupil: Pupil) -> Lesson {
        Lesson {
            terms: terms.clone(),
            pupil,
        }
    }

    /// The columns that it is about.
    pub fn columns(&self) -> Vec<&str> {
        self.terms.columns()
    }

    /// Learns from a block of rows, before which so many come.
    ///
    /// # Errors
    /// If a value cannot be what the formula takes it for.
    pub fn see(&mut self, block: &Table, first: usize) -> Result<(), RegressionError> {
        if block.n_rows() == 0 {
            return Ok(());
        }
        let terms = &self.terms;
        let optional = terms.optional_columns();
        let checked = || Source::block(block, &terms.columns(), (&optional, first));
        match &mut self.pupil {
            Pupil::Recognition(own) => own.see(block),
            Pupil::Guess(own) => own.see(block),
            Pupil::Levels(own) => own.see(&checked()?)?,
            Pupil::Scales(own) => own.see(terms, &checked()?)?,
        }
        Ok(())
    }

    /// Takes in what a copy has learnt from rows after these.
    ///
    /// # Panics
    /// If it is a copy of another lesson.
    pub fn merge(&mut self, other: Lesson) {
        match (&mut self.pupil, other.pupil) {
            (Pupil::Recognition(own), Pupil::Recognition(other)) => own.merge(&other),
            (Pupil::Guess(own), Pupil::Guess(other)) => own.merge(&other),
            (Pupil::Levels(own), Pupil::Levels(other)) => own.merge(&other),
            (Pupil::Scales(own), Pupil::Scales(other)) => own.merge(&other),
            _ => panic!("a copy of another lesson"),
        }
    }
}
