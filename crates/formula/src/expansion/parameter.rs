//! Formulas of the parameters that a family has besides its mean: `sigma ~ x`.

use std::collections::HashSet;

use super::column_use::ColumnRole;
use super::terms::Terms;
use crate::error::FormulaError;
use crate::expression::Expr;
use crate::formula::Formula;

impl Terms {
    /// Reads the formula of a parameter for a table with these columns. Its response is the
    /// parameter, which need not be a column.
    ///
    /// Refuses what only the formula of the response has: group terms, smooth functions, offsets
    /// and weights.
    pub fn of_parameter(formula: &Formula, columns: &[String]) -> Result<Self, FormulaError> {
        let terms = formula.expand(columns)?;
        let wrong = |message: &str, hint: &str| {
            Err(FormulaError::new(formula.left_span(), message).hint(hint))
        };
        let response = &terms.response;
        let Expr::Column(_) = &response.outcome else {
            return wrong(
                "a parameter of the family is expected before ~",
                "name it alone, as in sigma ~ x",
            );
        };
        if !response.is_plain() || terms.weights.is_some() {
            return wrong(
                "a parameter has neither trials, weights nor standard errors",
                "write sigma ~ x; trials and weights belong to the formula of the response",
            );
        }
        if terms.others() > 0 || !terms.offsets.is_empty() {
            return wrong(
                "the formula of a parameter has common terms only",
                "groups, smooth functions, mo(x) and offsets belong to the formula of the response",
            );
        }
        let known: HashSet<&str> = columns.iter().map(String::as_str).collect();
        let read = (terms.uses.iter()).filter(|used| used.role != ColumnRole::Response);
        let unknown = read.filter(|used| !known.contains(used.name.as_str()));
        match unknown.min_by_key(|used| used.span.start) {
            None => Ok(terms),
            Some(used) => used.check_known(columns).map(|()| terms),
        }
    }

    /// The parameter that the formula explains, if it was read by [`Terms::of_parameter`].
    pub fn parameter(&self) -> &str {
        match &self.response.outcome {
            Expr::Column(name) => name,
            _ => "",
        }
    }
}
