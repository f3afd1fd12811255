//! The formula language from a user's point of view.

mod basis;
mod expansion;
mod mistake;
mod prior;
mod property;
mod several;
mod spline;

use lehr_formula::{BasisError, LevelCoding, Lookup, Round, Term, TermBasis, TermLearner};

/// The basis of a term by a table that is in memory as a whole.
fn learned(
    term: &Term,
    codings: &[LevelCoding],
    columns: &Lookup<'_, '_>,
) -> Result<TermBasis, BasisError> {
    let mut learner = TermLearner::new(term, codings);
    loop {
        learner.add_rows(columns, 0)?;
        if learner.next_round()? == Round::Last {
            return Ok(learner.into_basis());
        }
    }
}
