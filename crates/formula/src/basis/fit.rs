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
    pub fn fit(
        factor: &Factor,
        coding: Coding,
        columns: &Lookup<'_, '_>,
    ) -> Result<Self, BasisError> {
        let mut learner = Learner::new(factor, coding);
        loop {
            learner.see(columns, 0)?;
            if learner.turn()? == Round::Last {
                return Ok(learner.finish());
            }
        }
    }
}

impl TermBasis {
    /// Fits each factor; `codings` is the term's row of [`Terms::codings`](crate::Terms::codings).
    pub fn fit(
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
        let factors = pairs.map(|(factor, &coding)| Basis::fit(factor, coding, columns));
        Ok(Self {
            factors: factors.collect::<Result<_, _>>()?,
        })
    }
}
