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
        let smooth = self.smooths.first().map(ToString::to_string);
        let ordered = self.monotonics.first().map(ToString::to_string);
        let rows = self.by_row.then(|| "(1 | row())".to_owned());
        let covariate = self.covariate.as_ref().map(ToString::to_string);
        let offset = self.offsets.first().map(|term| format!("offset({term})"));
        let tied = self.groups.iter().find(|term| term.tie.is_some());
        let tied = tied.map(ToString::to_string);
        let found = [
            (smooth, "write s(x) for a smooth function of one column"),
            (ordered, "write C(x) for an effect of each level"),
            (rows, "write (1 | g) for effects of groups of rows"),
            (covariate, "write the column as it stands"),
            (offset, "leave it out; a parameter has no exposure"),
            (
                tied,
                "write (1 | g): effects on a parameter are independent of those on the response",
            ),
        ];
        let mut found = found.into_iter();
        found.find_map(|(term, hint)| Some((term?, hint)))
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
