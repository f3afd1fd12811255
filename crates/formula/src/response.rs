//! The left side of a formula: outcome, trials, bounds and weights.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::column_use::{ColumnRole, UseListener, read_numbers};
use crate::dialect;
use crate::error::{FormulaError, Span};
use crate::expression::{ColumnExpr, only_argument};
use crate::function::ColumnFunction;
use crate::limited::{CensoringTerm, Truncation};
use crate::syntax::{BinaryOperator, NodeKind, Sign, SyntaxNode, quote_name};

/// The response of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// A column, which may hold text, or a function of columns.
    pub outcome: ColumnExpr,
    /// The number of trials, for an outcome that counts successes.
    pub trials: Option<Trials>,
    /// The known standard error of the outcome: `y | se(s)`.
    pub errors: Option<ColumnExpr>,
    /// Censoring of the outcome: `y | cens(c)`.
    #[serde(default)]
    pub censoring: Option<CensoringTerm>,
    /// Truncation of the outcome: `y | trunc(lb, ub)`.
    #[serde(default)]
    pub truncation: Option<Truncation>,
}

/// The number of trials of a binomial outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trials {
    /// A column: `successes | trials(n)`.
    Column(String),
    /// The same in every row: `successes | trials(10)`.
    Count(u64),
    /// The successes plus these failures: `cbind(successes, failures)`.
    Failures(ColumnExpr),
}

impl Response {
    /// The columns besides the outcome that its prediction needs: those of trials, of standard
    /// errors and of limits.
    pub fn addition_columns(&self) -> Vec<&str> {
        let errors = self.errors.iter().flat_map(ColumnExpr::column_names);
        let limits = self.truncation.iter().flat_map(Truncation::column_names);
        let trials = self.trial_columns().into_iter();
        trials.chain(errors).chain(limits).collect()
    }

    /// The columns of the observed outcome: its own and those of `cens(...)`.
    pub fn observed_columns(&self) -> Vec<&str> {
        let censoring = self.censoring.iter().flat_map(CensoringTerm::column_names);
        self.outcome
            .column_names()
            .into_iter()
            .chain(censoring)
            .collect()
    }

    /// Whether it is a column without additions.
    pub fn is_plain(&self) -> bool {
        let bounds = self.censoring.is_some() || self.truncation.is_some();
        self.trials.is_none() && self.errors.is_none() && !bounds
    }

    /// The columns that give the number of trials.
    pub fn trial_columns(&self) -> Vec<&str> {
        match &self.trials {
            None | Some(Trials::Count(_)) => Vec::new(),
            Some(Trials::Column(name)) => vec![name],
            Some(Trials::Failures(failures)) => {
                [self.outcome.column_names(), failures.column_names()].concat()
            }
        }
    }
}

/// The left side as parsed, with the row weights that become part of the terms.
pub(crate) struct LeftSide {
    pub(crate) response: Response,
    pub(crate) weights: Option<(ColumnExpr, Span)>,
}

/// Reads the left side.  `cbind(successes, failures)` is the syntax of R, `successes | trials(n)`
/// that of brms and bambi.
pub(crate) fn read_response(
    node: &SyntaxNode,
    used: &mut UseListener<'_>,
) -> Result<LeftSide, FormulaError> {
    match &node.kind {
        NodeKind::Paren(inner) => read_response(inner, used),
        NodeKind::Binary(BinaryOperator::Pipe, outcome, additions) => {
            let outcome = read_outcome(outcome, used)?;
            let mut left = plain_response(outcome);
            read_additions(additions, &mut left, used)?;
            Ok(left)
        }
        NodeKind::Binary(BinaryOperator::DoublePipe, ..) => {
            Err(FormulaError::new(node.span, "|| has no meaning left of ~")
                .with_hint("write successes | trials(n)"))
        }
        NodeKind::Call(name, arguments) if name == "cbind" => read_cbind(node, arguments, used),
        _ => Ok(plain_response(read_outcome(node, used)?)),
    }
}

fn plain_response(outcome: ColumnExpr) -> LeftSide {
    let response = Response {
        outcome,
        trials: None,
        errors: None,
        censoring: None,
        truncation: None,
    };
    LeftSide {
        response,
        weights: None,
    }
}

fn read_outcome(node: &SyntaxNode, used: &mut UseListener<'_>) -> Result<ColumnExpr, FormulaError> {
    match &node.kind {
        NodeKind::Paren(inner) => read_outcome(inner, used),
        NodeKind::Name(name) => {
            used(name, node.span, ColumnRole::Response);
            Ok(ColumnExpr::Column(name.clone()))
        }
        NodeKind::Call(name, _) if name == "I" || ColumnFunction::from_name(name).is_some() => {
            let mut numbers = |name: &str, span, _| used(name, span, ColumnRole::NumericResponse);
            read_numbers(node, &mut numbers)
        }
        NodeKind::Call(name, _) => {
            let message = format!("{name}(...) cannot be a response");
            Err(FormulaError::new(node.span, message).with_hint(dialect::response_advice(name)))
        }
        NodeKind::Dot => Err(FormulaError::new(node.span, ". cannot be a response")
            .with_hint("name the column to explain")),
        NodeKind::Number(_) => Err(
            FormulaError::new(node.span, "a number cannot be a response")
                .with_hint("name the column to explain"),
        ),
        _ => Err(FormulaError::new(node.span, "the response is not a column")
            .with_hint("wrap arithmetic in I(...), as in I(a + b) ~ ...")),
    }
}

fn read_additions(
    node: &SyntaxNode,
    left: &mut LeftSide,
    used: &mut UseListener<'_>,
) -> Result<(), FormulaError> {
    match &node.kind {
        NodeKind::Paren(inner) => read_additions(inner, left, used),
        NodeKind::Sum(items) => {
            for item in items {
                if item.sign == Sign::Minus {
                    return Err(FormulaError::new(
                        item.node.span,
                        "nothing can be taken away here",
                    ));
                }
                read_additions(&item.node, left, used)?;
            }
            Ok(())
        }
        NodeKind::Call(name, arguments) => read_addition(node, (name, arguments), left, used),
        _ => Err(no_addition(node.span, "")),
    }
}

fn no_addition(span: Span, name: &str) -> FormulaError {
    const USUAL: &str =
        "write successes | trials(n), y | weights(w), y | se(s), y | cens(c) or y | trunc(lb = 0)";
    FormulaError::new(
        span,
        "only trials(...), weights(...), se(...), cens(...) and trunc(...) follow a | here",
    )
    .with_hint(dialect::addition_advice(name).unwrap_or(USUAL))
}

/// Reads an addition to the response, such as trials or bounds.
fn read_addition(
    node: &SyntaxNode,
    (name, arguments): (&str, &[SyntaxNode]),
    left: &mut LeftSide,
    used: &mut UseListener<'_>,
) -> Result<(), FormulaError> {
    let (span, response) = (node.span, &mut left.response);
    let is_given = match name {
        "trials" => response.trials.is_some(),
        "se" => response.errors.is_some(),
        "cens" => response.censoring.is_some(),
        "trunc" => response.truncation.is_some(),
        _ => false,
    };
    if is_given {
        return Err(FormulaError::given_twice(span, format!("{name}(...)")));
    }
    match name {
        "trials" => {
            response.trials = Some(read_trials(only_argument(name, arguments, span)?, used)?);
        }
        "weights" => {
            if left.weights.is_some() {
                return Err(FormulaError::new(span, "weights(...) is given twice")
                    .with_hint("multiply them, as in weights(v * w)"));
            }
            let mut weighed = |name: &str, span, _| used(name, span, ColumnRole::Weights);
            let weights = read_numbers(only_argument(name, arguments, span)?, &mut weighed)?;
            left.weights = Some((weights, span));
        }
        "se" => {
            let mut read = |name: &str, span, _| used(name, span, ColumnRole::Errors);
            response.errors = Some(read_numbers(
                only_argument(name, arguments, span)?,
                &mut read,
            )?);
        }
        "cens" => response.censoring = Some(CensoringTerm::read_call(span, arguments, used)?),
        "trunc" => response.truncation = Some(Truncation::read_call(span, arguments, used)?),
        _ => return Err(no_addition(span, name)),
    }
    one_kind(&left.response, span)
}

/// Refuses an outcome that is both censored and truncated, which is not supported.
fn one_kind(response: &Response, span: Span) -> Result<(), FormulaError> {
    if response.censoring.is_some() && response.truncation.is_some() {
        let message = "a response is either censored or truncated here";
        return Err(FormulaError::new(span, message).with_hint("leave out cens(...) or trunc(...)"));
    }
    Ok(())
}

fn read_cbind(
    node: &SyntaxNode,
    arguments: &[SyntaxNode],
    used: &mut UseListener<'_>,
) -> Result<LeftSide, FormulaError> {
    let [successes, failures] = arguments else {
        let message = format!(
            "cbind takes successes and failures, found {}",
            arguments.len()
        );
        return Err(
            FormulaError::new(node.span, message).with_hint("write cbind(successes, failures)")
        );
    };
    let mut left = plain_response(read_outcome(successes, used)?);
    let mut failed = |name: &str, span| used(name, span, ColumnRole::Failures);
    let counted = ColumnExpr::read_node(failures, &mut failed)?;
    if counted.column_names().is_empty() || counted.find_unlearnt().is_some() {
        return Err(
            FormulaError::new(failures.span, "the failures are not a column").with_hint(
                "write successes | trials(n) for the same number of trials in every row",
            ),
        );
    }
    left.response.trials = Some(Trials::Failures(counted));
    Ok(left)
}

fn read_trials(node: &SyntaxNode, used: &mut UseListener<'_>) -> Result<Trials, FormulaError> {
    match &node.without_parens().kind {
        NodeKind::Name(name) => {
            used(name, node.span, ColumnRole::Trials);
            Ok(Trials::Column(name.clone()))
        }
        NodeKind::Number(count) if *count >= 1.0 && count.fract() == 0.0 && *count < 1e15 => {
            Ok(Trials::Count(*count as u64))
        }
        _ => Err(
            FormulaError::new(node.span, "trials are a column or a positive whole number")
                .with_hint("make a column of it in the table first"),
        ),
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outcome = match &self.outcome {
            plain @ (ColumnExpr::Column(_) | ColumnExpr::Call(..)) => plain.to_string(),
            other => format!("I({other})"),
        };
        if let Some(Trials::Failures(failures)) = &self.trials {
            return write!(f, "cbind({outcome}, {failures})");
        }
        f.write_str(&outcome)?;
        let trials = match &self.trials {
            None | Some(Trials::Failures(_)) => None,
            Some(Trials::Column(name)) => Some(format!("trials({})", quote_name(name))),
            Some(Trials::Count(count)) => Some(format!("trials({count})")),
        };
        let errors = self.errors.as_ref().map(|errors| format!("se({errors})"));
        let censoring = self.censoring.as_ref().map(ToString::to_string);
        let truncation = self.truncation.as_ref().map(ToString::to_string);
        let all = [trials, errors, censoring, truncation];
        for (place, addition) in all.into_iter().flatten().enumerate() {
            let sign = if place == 0 { "|" } else { "+" };
            write!(f, " {sign} {addition}")?;
        }
        Ok(())
    }
}
