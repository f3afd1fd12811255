//! Covariates that are not known exactly: measured with error, `me(x, sd)`, or missing in some
//! rows, `mi(x)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::coded::read_column;
use crate::column_use::{ColumnRole, UseListener};
use crate::error::{FormulaError, Span};
use crate::expression::ColumnExpr;
use crate::spelling::unknown_option;
use crate::syntax::{NodeKind, SyntaxNode, parse_call, quote_name};

/// The names, in a formula, of covariates measured with error and of those with missing values.
pub(super) const MEASURED: &str = "me";
pub(super) const MISSING: &str = "mi";

/// The endings of the names of the mean and the standard deviation of true values.
const ENDS: [&str; 2] = [".mean", ".sd"];

/// A numeric covariate whose true value is a latent variable of the row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CovariateTerm {
    /// The column.
    pub column: String,
    /// The standard deviation of its errors; `None` if it is missing in some rows instead.
    pub error: Option<ColumnExpr>,
}

impl CovariateTerm {
    /// Reads the arguments of a call, if it is one of these.
    pub(super) fn read_call(
        span: Span,
        (call, arguments): (&str, &[SyntaxNode]),
        used: &mut UseListener<'_>,
    ) -> Result<Self, FormulaError> {
        let hint = match call {
            MEASURED => "write me(x, s), where s is the standard deviation of the errors of x",
            _ => "write mi(x)",
        };
        let (count, noun) = match call {
            MEASURED => (2, "column and the sd of its errors"),
            _ => (1, "column"),
        };
        if arguments.len() != count {
            let found = arguments.len();
            let message = format!("{call}(...) takes a {noun}, found {found}");
            return Err(FormulaError::new(span, message).with_hint(hint));
        }
        let column = read_column(call, &arguments[0], ColumnRole::Latent, used)?;
        let error = arguments.get(1).map(|node| match &node.kind {
            NodeKind::Named(name, value) if name == "sd" || name == "sdx" => {
                read_spread(value, used)
            }
            NodeKind::Named(name, _) => Err(unknown_option(call, name, node.span, &["sd"])),
            _ => read_spread(node, used),
        });
        Ok(Self {
            column,
            error: error.transpose()?,
        })
    }

    /// The name of its coefficient: `me(x)`.
    pub fn term_label(&self) -> String {
        let call = self.error.as_ref().map_or(MISSING, |_| MEASURED);
        format!("{call}({})", quote_name(&self.column))
    }

    /// The columns it reads, with repeats.
    pub fn column_names(&self) -> Vec<&str> {
        let errors = self.error.iter().flat_map(ColumnExpr::column_names);
        std::iter::once(self.column.as_str())
            .chain(errors)
            .collect()
    }
}

/// A number or a function of columns.
fn read_spread(node: &SyntaxNode, used: &mut UseListener<'_>) -> Result<ColumnExpr, FormulaError> {
    let expr = ColumnExpr::read_node(node, &mut |name, span| used(name, span, ColumnRole::Spread))?;
    let (message, hint) = match (&expr, expr.find_unlearnt()) {
        (ColumnExpr::Number(value), _) if *value <= 0.0 => (
            "errors have a standard deviation above 0",
            "write the column alone if it has no errors",
        ),
        (_, None) => return Ok(expr),
        _ => (
            "a standard deviation is a number or a function of columns",
            "center and scale belong into terms of their own",
        ),
    };
    Err(FormulaError::new(node.span, message).with_hint(hint))
}

impl fmt::Display for CovariateTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.error {
            Some(error) => write!(f, "{MEASURED}({}, {error})", quote_name(&self.column)),
            None => write!(f, "{MISSING}({})", quote_name(&self.column)),
        }
    }
}

/// The parameter that a text names, `me(x)` or `mi(x).sd`: a coefficient, or the mean or standard
/// deviation of the true values. `None` if it names something else.
pub(crate) fn parse_parameter(text: &str) -> Result<Option<String>, FormulaError> {
    let Some((call, end)) = parse_call(text, &[MEASURED, MISSING], &ENDS)? else {
        return Ok(None);
    };
    let Some(first) = call.arguments.first() else {
        return Ok(None);
    };
    let column = read_column(&call.name, first, ColumnRole::Latent, &mut |_, _, _| {})?;
    Ok(Some(format!("{}({}){end}", call.name, quote_name(&column))))
}
