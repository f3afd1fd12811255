//! Correlated normal residuals of the responses of a row.

use std::cell::RefCell;

use lehr_graph::Expr;
use lehr_model::distribution::LkjCholesky;
use lehr_model::{Row, Tracer};

use crate::column_name::RESPONSE;
use crate::law::Law;
use crate::response_name::RESCOR;

/// The density of a row's responses, factorised one after another: with the factor L of their
/// correlations,
///
/// ```text
/// yₖ | y₁ … yₖ₋₁ ~ N(ηₖ + σₖ Σ_{j<k} Lₖⱼ wⱼ, (σₖ Lₖₖ)²)        wₖ = (yₖ − mean)/sd of that
/// ```
///  The product is the multivariate normal density.
pub(crate) struct Residuals<'g> {
    factor: Expr<'g>,
    /// w of the responses so far.
    before: RefCell<Vec<Expr<'g>>>,
}

impl<'g> Residuals<'g> {
    /// Creates the correlations of this many responses.
    pub(crate) fn new(m: &Tracer<'g>, responses: usize, law: &Law) -> Residuals<'g> {
        let factor = LkjCholesky::new(responses, law.concentration());
        Residuals {
            factor: m.sample(RESCOR, factor),
            before: RefCell::default(),
        }
    }

    /// The mean and the standard deviation of the next response given those before it.
    pub(crate) fn given(
        &self,
        row: &Row<'_, 'g>,
        at: Expr<'g>,
        sigma: Expr<'g>,
    ) -> (Expr<'g>, Expr<'g>) {
        let mut before = self.before.borrow_mut();
        let own = before.len();
        let entry = |column: usize| {
            let line = self.factor.slice(0, own..own + 1);
            line.slice(1, column..column + 1).reshape([])
        };
        let explained = before.iter().enumerate();
        let explained = explained.map(|(column, w)| *w * entry(column));
        let mean = match explained.reduce(|a, b| a + b) {
            Some(sum) => at + sum * sigma,
            None => at,
        };
        let scale = sigma * entry(own);
        before.push((row.number(RESPONSE) - mean) / scale);
        (mean, scale)
    }
}
