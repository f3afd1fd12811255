//! Covariates that are not known exactly: measured with error, `me(x, sd)`, or missing in some
//! rows, `mi(x)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::column_use::{ColumnRole, UseListener};
use crate::error::{FormulaError, Span};
use crate::expression::ColumnExpr;
use crate::spelling::suggestion;
use crate::syntax::{NodeKind, SyntaxNode, parse_tokens, quote_name, split_tokens};

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
        let count = if call == MEASURED { 2 } else { 1 };
        if arguments.len() != count {
            let found = arguments.len();
            let noun = if count == 1 {
                "column"
            } else {
                "column and the sd of its errors"
            };
            let message = format!("{call}(...) takes a {noun}, found {found}");
            return Err(FormulaError::new(span, message).with_hint(hint));
        }
        let column = name_of(call, &arguments[0], used)?;
        let error = arguments.get(1).map(|node| match &node.kind {
            NodeKind::Named(name, value) if name == "sd" || name == "sdx" => {
                read_spread(value, used)
            }
            NodeKind::Named(name, _) => {
                let message = format!("{call}(...) has no argument \"{name}\"");
                Err(FormulaError::new(node.span, message).with_hint(suggestion(
                    name,
                    call,
                    &["sd"],
                )))
            }
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

fn name_of(
    call: &str,
    node: &SyntaxNode,
    used: &mut UseListener<'_>,
) -> Result<String, FormulaError> {
    let NodeKind::Name(name) = &node.without_parens().kind else {
        let message = format!("{call}(...) takes the name of a column");
        return Err(FormulaError::new(node.span, message)
            .with_hint("make a column of it in the table first"));
    };
    used(name, node.span, ColumnRole::Latent);
    Ok(name.clone())
}

/// A number or a function of columns.
fn read_spread(node: &SyntaxNode, used: &mut UseListener<'_>) -> Result<ColumnExpr, FormulaError> {
    let expr = ColumnExpr::read_node(node, &mut |name, span| used(name, span, ColumnRole::Spread))?;
    match (&expr, expr.find_unlearnt()) {
        (ColumnExpr::Number(value), _) if *value <= 0.0 => Err(FormulaError::new(
            node.span,
            "errors have a standard deviation above 0",
        )
        .with_hint("write the column alone if it has no errors")),
        (_, None) => Ok(expr),
        _ => Err(FormulaError::new(
            node.span,
            "a standard deviation is a number or a function of columns",
        )
        .with_hint("center and scale belong into terms of their own")),
    }
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
    let text = text.trim();
    let end = ENDS.into_iter().find(|end| text.ends_with(end));
    let call = end.and_then(|end| text.strip_suffix(end)).unwrap_or(text);
    let is_one = |name: &str| {
        let rest = call.strip_prefix(name);
        rest.is_some_and(|rest| rest.trim_start().starts_with('('))
    };
    let Some(name) = [MEASURED, MISSING].into_iter().find(|name| is_one(name)) else {
        return Ok(None);
    };
    let node = parse_tokens(&split_tokens(call)?, call.len())?;
    let NodeKind::Call(_, arguments) = &node.without_parens().kind else {
        return Ok(None);
    };
    let Some(first) = arguments.first() else {
        return Ok(None);
    };
    let column = name_of(name, first, &mut |_, _, _| {})?;
    Ok(Some(format!(
        "{name}({}){}",
        quote_name(&column),
        end.unwrap_or("")
    )))
}
