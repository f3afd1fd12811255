//! Fits factors and terms to a table that is in memory as a whole.

use super::column::Lookup;
use super::error::BasisError;
use super::factor_basis::Basis;
use super::learner::{Learner, Round};
use super::term_basis::TermBasis;
use crate::coded::Coding;
use crate::factor::{Factor, Term};

impl Basis {
    /// Learns the constants of a factor from a table's columns.  A text column is categorical even
    /// without `C(...)`; its levels are sorted, and `coding` determines whether the first one has a
    /// column. Refuses columns that are missing, values that are not finite (`log` of a negative
    /// number), and columns without variation where the factor needs some.
    pub fn fit_columns(
        factor: &Factor,
        coding: Coding,
        columns: &Lookup<'_, '_>,
    ) -> Result<Self, BasisError> {
        let mut learner = Learner::new(factor, coding);
        loop {
            learner.add_rows(columns, 0)?;
            if learner.next_round()? == Round::Last {
                return Ok(learner.into_basis());
            }
        }
    }
}

impl TermBasis {
    /// Fits each factor; `codings` is the term's row of [`Terms::term_codings`](crate::Terms::term_codings).
    pub fn fit_columns(
        term: &Term,
        codings: &[Coding],
        columns: &Lookup<'_, '_>,
    ) -> Result<Self, BasisError> {
        assert_eq!(
            term.factors.len(),
            codings.len(),
            "one coding for each factor"
        );
        let pairs = term.factors.iter().zip(codings);
        let factors = pairs.map(|(factor, &coding)| Basis::fit_columns(factor, coding, columns));
        Ok(Self {
            factors: factors.collect::<Result<_, _>>()?,
        })
    }
}
