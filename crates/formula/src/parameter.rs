//! Formulas of the parameters that a family has besides its mean: `sigma ~ x`.

use std::collections::HashSet;

use crate::column_use::ColumnRole;
use crate::error::FormulaError;
use crate::expansion::Terms;
use crate::expression::ColumnExpr;
use crate::formula::Formula;

impl Terms {
    /// Reads the formula of a parameter for a table with these columns. Its response is the
    /// parameter, which need not be a column.
    ///
    /// Refuses terms that only the formula of the response can have: `gp(x)`, `mo(x)`, effects of
    /// rows, covariates with errors, offsets and weights.
    pub fn of_parameter(formula: &Formula, columns: &[String]) -> Result<Self, FormulaError> {
        let terms = formula.expand(columns)?;
        let wrong = |message: &str, hint: &str| {
            Err(FormulaError::new(formula.left_span(), message).with_hint(hint))
        };
        let response = &terms.response;
        let ColumnExpr::Column(_) = &response.outcome else {
            return wrong(
                "a parameter of the family is expected before ~",
                "name it alone, as in sigma ~ x",
            );
        };
        if !response.is_plain() || terms.weights.is_some() {
            return wrong(
                "a parameter has neither trials, weights, standard errors nor bounds",
                "write sigma ~ x; what follows a | belongs to the formula of the response",
            );
        }
        if let Some((found, hint)) = terms.not_of_parameters() {
            let message = format!("{found} belongs to the formula of the response");
            return wrong(&message, hint);
        }
        let known: HashSet<&str> = columns.iter().map(String::as_str).collect();
        let read = (terms.uses.iter()).filter(|used| used.role != ColumnRole::Response);
        let unknown = read.filter(|used| !known.contains(used.name.as_str()));
        match unknown.min_by_key(|used| used.span.start) {
            None => Ok(terms),
            Some(used) => used.check_known(columns).map(|()| terms),
        }
    }

    /// The first term that the formula of a parameter cannot have, and advice.
    fn not_of_parameters(&self) -> Option<(String, &'static str)> {
        let smooth = (self.smooths.first()).map(|term| {
            let hint = "write s(x) for a smooth function of one column";
            (term.to_string(), hint)
        });
        let ordered = (self.monotonics.first())
            .map(|term| (term.to_string(), "write C(x) for an effect of each level"));
        let rows = (self.by_row).then(|| {
            let hint = "write (1 | g) for effects of groups of rows";
            ("(1 | row())".to_owned(), hint)
        });
        let covariate = (self.covariate.as_ref())
            .map(|term| (term.to_string(), "write the column as it stands"));
        let offset = (self.offsets.first()).map(|term| {
            let hint = "leave it out; a parameter has no exposure";
            (format!("offset({term})"), hint)
        });
        let tied = (self.groups.iter().find(|term| term.tie.is_some())).map(|term| {
            let hint =
                "write (1 | g): effects on a parameter are independent of those on the response";
            (term.to_string(), hint)
        });
        (smooth.or(ordered).or(rows))
            .or(covariate)
            .or(offset)
            .or(tied)
    }

    /// Renames the parameter on the left side.
    pub fn rename_parameter(&mut self, name: &str) {
        self.response.outcome = ColumnExpr::Column(name.to_owned());
    }

    /// The parameter on the left side, if the formula was read by [`Terms::of_parameter`].
    pub fn parameter(&self) -> &str {
        match &self.response.outcome {
            ColumnExpr::Column(name) => name,
            _ => "",
        }
    }
}
