//! Bounds on the response: `y | cens(c)`, `y | trunc(lb = 0)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::column_use::{ColumnRole, UseListener};
use crate::error::{FormulaError, Span};
use crate::expression::ColumnExpr;
use crate::spelling::unknown_option;
use crate::syntax::{NodeKind, SyntaxNode, quote_name};

/// `cens(c)`: the rows whose response is known by bounds only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CensoringTerm {
    /// The column of censoring states: none, left, right or interval.
    pub status: String,
    /// The upper end of an interval whose lower end is the response.
    pub upper: Option<ColumnExpr>,
}

/// `trunc(lb, ub)`: the limits of the responses that could be observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truncation {
    /// The lower limit.
    pub low: Option<ColumnExpr>,
    /// The upper limit.
    pub high: Option<ColumnExpr>,
}

impl CensoringTerm {
    /// Reads the arguments of a call.
    pub(crate) fn read_call(
        span: Span,
        arguments: &[SyntaxNode],
        used: &mut UseListener<'_>,
    ) -> Result<Self, FormulaError> {
        let hint = "write cens(c), or cens(c, upper) where c says interval in some rows";
        let (first, upper) = match arguments {
            [first] => (first, None),
            [first, upper] => (first, Some(upper)),
            _ => {
                let found = arguments.len();
                let message = format!("cens takes a column, and perhaps upper ends, found {found}");
                return Err(FormulaError::new(span, message).with_hint(hint));
            }
        };
        let NodeKind::Name(status) = &first.without_parens().kind else {
            let message = "cens(...) takes a column of none, left, right and interval";
            return Err(FormulaError::new(first.span, message).with_hint(hint));
        };
        used(status, first.span, ColumnRole::Censoring);
        let upper = upper.map(|node| match &node.kind {
            NodeKind::Named(name, value) if name == "upper" || name == "y2" => {
                read_limit(value, used)
            }
            NodeKind::Named(name, _) => Err(unknown_option("cens", name, node.span, &["upper"])),
            _ => read_limit(node, used),
        });
        Ok(Self {
            status: status.clone(),
            upper: upper.transpose()?,
        })
    }

    /// The columns it reads, with repeats.
    pub fn column_names(&self) -> Vec<&str> {
        let upper = self.upper.iter().flat_map(ColumnExpr::column_names);
        std::iter::once(self.status.as_str()).chain(upper).collect()
    }
}

impl Truncation {
    /// Reads the arguments of a call.
    pub(crate) fn read_call(
        span: Span,
        arguments: &[SyntaxNode],
        used: &mut UseListener<'_>,
    ) -> Result<Self, FormulaError> {
        let hint = "write trunc(lb = 0), trunc(ub = 10) or trunc(0, 10)";
        if arguments.is_empty() || arguments.len() > 2 {
            let message = format!("trunc takes one or two limits, found {}", arguments.len());
            return Err(FormulaError::new(span, message).with_hint(hint));
        }
        let mut found = Self {
            low: None,
            high: None,
        };
        for (place, node) in arguments.iter().enumerate() {
            let (name, value) = match &node.kind {
                NodeKind::Named(name, value) => (name.as_str(), &**value),
                _ => (["lb", "ub"][place], node),
            };
            let side = match name {
                "lb" => &mut found.low,
                "ub" => &mut found.high,
                _ => return Err(unknown_option("trunc", name, node.span, &["lb", "ub"])),
            };
            if side.is_some() {
                return Err(FormulaError::given_twice(node.span, name));
            }
            *side = Some(read_limit(value, used)?);
        }
        if let (Some(ColumnExpr::Number(low)), Some(ColumnExpr::Number(high))) =
            (&found.low, &found.high)
            && low >= high
        {
            let message = format!("nothing lies between {low} and {high}");
            return Err(FormulaError::new(span, message).with_hint("the lower limit comes first"));
        }
        Ok(found)
    }

    /// The columns it reads, with repeats.
    pub fn column_names(&self) -> Vec<&str> {
        let both = self.low.iter().chain(&self.high);
        both.flat_map(ColumnExpr::column_names).collect()
    }
}

/// A number or a function of columns that bounds the response.
fn read_limit(node: &SyntaxNode, used: &mut UseListener<'_>) -> Result<ColumnExpr, FormulaError> {
    let expr = ColumnExpr::read_node(node, &mut |name, span| used(name, span, ColumnRole::Limit))?;
    match expr.find_unlearnt() {
        None => Ok(expr),
        Some(_) => Err(FormulaError::new(
            node.span,
            "a limit is a number or a function of columns",
        )
        .with_hint("center and scale belong into terms on the right of ~")),
    }
}

impl fmt::Display for CensoringTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.upper {
            None => write!(f, "cens({})", quote_name(&self.status)),
            Some(upper) => write!(f, "cens({}, {upper})", quote_name(&self.status)),
        }
    }
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.low, &self.high) {
            (Some(low), Some(high)) => write!(f, "trunc(lb = {low}, ub = {high})"),
            (Some(low), None) => write!(f, "trunc(lb = {low})"),
            (None, Some(high)) => write!(f, "trunc(ub = {high})"),
            (None, None) => Ok(()),
        }
    }
}
