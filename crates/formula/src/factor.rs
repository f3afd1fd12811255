//! Terms and the factors whose products they are.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::coded::CodedColumn;
use crate::column_use::{UseListener, read_term};
use crate::dialect;
use crate::error::{FormulaError, Span};
use crate::expression::{ColumnExpr, Standard, only_argument};
use crate::function::{self, ColumnFunction};
use crate::splined::RegressionSpline;
use crate::syntax::{NodeKind, SyntaxNode, quote_name};

/// Highest degree of `poly`; higher powers of a column carry no further information in double
/// precision.
const MAX_DEGREE: f64 = 50.0;

/// One part of a term: a column, or something computed from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// A column; numeric, unless [`Terms::resolve_text`](crate::Terms::resolve_text) finds that it holds
    /// text.
    Column(String),
    /// `C(color)`: one column of zeros and ones for each level.
    Categorical(String),
    /// `C(color, ref = "red")`, `C(color, sum)`: levels with an explicit coding.
    Coded(CodedColumn),
    /// `I(x^2)` or `log(x)`.
    Expression(ColumnExpr),
    /// `poly(x, 3)`: orthogonal polynomials of degrees 1 to 3.
    Poly(ColumnExpr, usize),
    /// `bs(x, df = 6)`, `ns(x, df = 4)`: splines.
    Spline(RegressionSpline),
    /// `scale(x)`: centred, and divided by the standard deviation.
    Scale(ColumnExpr),
    /// `center(x)`: centred.
    Center(ColumnExpr),
}

/// A product of distinct factors, one coefficient for each of its columns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Term {
    /// In the order they were written.
    pub factors: Vec<Factor>,
}

impl Factor {
    /// Whether it is coded by levels; text columns are after `Terms::resolve`.
    pub fn is_categorical(&self) -> bool {
        matches!(self, Self::Categorical(_) | Self::Coded(_))
    }

    /// The columns it reads, in order, with repeats.
    pub fn column_names(&self) -> Vec<&str> {
        match self {
            Self::Column(name) | Self::Categorical(name) => vec![name],
            Self::Coded(coded) => vec![&coded.column],
            Self::Spline(splined) => splined.input.column_names(),
            Self::Expression(expr)
            | Self::Poly(expr, _)
            | Self::Scale(expr)
            | Self::Center(expr) => expr.column_names(),
        }
    }

    /// The expression that is computed before levels, powers or scales are applied.
    pub(crate) fn expression(&self) -> ColumnExpr {
        match self {
            Self::Column(name) | Self::Categorical(name) => ColumnExpr::Column(name.clone()),
            Self::Coded(coded) => ColumnExpr::Column(coded.column.clone()),
            Self::Spline(splined) => splined.input.clone(),
            Self::Expression(expr)
            | Self::Poly(expr, _)
            | Self::Scale(expr)
            | Self::Center(expr) => expr.clone(),
        }
    }

    /// Reads a call as a factor.
    pub(crate) fn read_call(
        node: &SyntaxNode,
        name: &str,
        arguments: &[SyntaxNode],
        used: &mut UseListener<'_>,
    ) -> Result<Self, FormulaError> {
        let argument = || only_argument(name, arguments, node.span);
        match name {
            "C" => {
                let coded = CodedColumn::read_call(node.span, arguments, used)?;
                if coded.is_plain() {
                    return Ok(Self::Categorical(coded.column));
                }
                Ok(Self::Coded(coded))
            }
            "poly" => read_poly(node.span, arguments, used),
            "bs" | "ns" => {
                RegressionSpline::read_call(name, node.span, arguments, used).map(Self::Spline)
            }
            "scale" => Ok(Self::Scale(read_term(argument()?, used)?)),
            "center" => Ok(Self::Center(read_term(argument()?, used)?)),
            "I" => Ok(match read_term(argument()?, used)? {
                ColumnExpr::Column(name) => Self::Column(name),
                ColumnExpr::Standard(Standard::Center, inner) => Self::Center(*inner),
                ColumnExpr::Standard(Standard::Scale, inner) => Self::Scale(*inner),
                other => Self::Expression(other),
            }),
            _ if ColumnFunction::from_name(name).is_some() => {
                Ok(Self::Expression(read_term(node, used)?))
            }
            _ => Err(
                match dialect::smooth_call(name, &columns_named(arguments)) {
                    Some(advice) => function::unknown_function(name, node.span).with_hint(advice),
                    None => misplaced_error(name, node.span),
                },
            ),
        }
    }
}

fn read_poly(
    span: Span,
    arguments: &[SyntaxNode],
    used: &mut UseListener<'_>,
) -> Result<Factor, FormulaError> {
    let [argument, degree] = arguments else {
        let found = arguments.len();
        let message = format!("poly takes a column and a degree, found {found}");
        let is_raw =
            |node: &SyntaxNode| matches!(&node.kind, NodeKind::Named(name, _) if name == "raw");
        let hint = if arguments.iter().any(is_raw) {
            "write x + I(x^2) for powers as they are"
        } else {
            "write poly(x, 2) for a parabola"
        };
        return Err(FormulaError::new(span, message).with_hint(hint));
    };
    let expr = read_term(argument, used)?;
    let degree = match &degree.kind {
        NodeKind::Named(name, value) if name == "degree" => value,
        _ => degree,
    };
    match degree.without_parens().kind {
        NodeKind::Number(value) if (1.0..=MAX_DEGREE).contains(&value) && value.fract() == 0.0 => {
            Ok(Factor::Poly(expr, value as usize))
        }
        _ => {
            let message = format!("the degree of poly is a whole number from 1 to {MAX_DEGREE}");
            Err(FormulaError::new(degree.span, message)
                .with_hint("write poly(x, 2) for a parabola"))
        }
    }
}

/// The columns among the arguments of a call, quoted where they need it.
fn columns_named(arguments: &[SyntaxNode]) -> Vec<String> {
    let column = |argument: &SyntaxNode| match &argument.without_parens().kind {
        NodeKind::Name(name) => Some(quote_name(name).into_owned()),
        _ => None,
    };
    arguments.iter().filter_map(column).collect()
}

/// The error for a call that is not a term: valid elsewhere in a formula, or unknown.
fn misplaced_error(name: &str, span: Span) -> FormulaError {
    let hint = match name {
        "cbind" => "write cbind(successes, failures) ~ ...",
        "se" => "write y | se(s) ~ ...",
        "cens" => "write y | cens(c) ~ ...",
        "trunc" => "write y | trunc(lb = 0) ~ ...",
        "trials" => "write successes | trials(n) ~ ...",
        _ => return function::unknown_function(name, span),
    };
    FormulaError::new(span, format!("{name}(...) belongs left of ~")).with_hint(hint)
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => f.write_str(&quote_name(name)),
            Self::Categorical(name) => write!(f, "C({})", quote_name(name)),
            Self::Coded(coded) => write!(f, "{coded}"),
            Self::Spline(splined) => write!(f, "{splined}"),
            Self::Expression(call @ ColumnExpr::Call(..)) => write!(f, "{call}"),
            Self::Expression(expr) => write!(f, "I({expr})"),
            Self::Poly(expr, degree) => write!(f, "poly({expr}, {degree})"),
            Self::Scale(expr) => write!(f, "scale({expr})"),
            Self::Center(expr) => write!(f, "center({expr})"),
        }
    }
}

impl Term {
    /// A term of one factor.
    pub fn from_factor(factor: Factor) -> Self {
        Self {
            factors: vec![factor],
        }
    }

    /// Equal for terms that are the same product, whatever the order of the factors.
    pub(crate) fn sort_key(&self) -> Vec<String> {
        let mut names: Vec<String> = self.factors.iter().map(ToString::to_string).collect();
        names.sort_unstable();
        names
    }

    /// The product; a factor of both terms appears once, as in R.
    pub(crate) fn interaction_with(&self, other: &Self) -> Self {
        let mut factors = self.factors.clone();
        for factor in &other.factors {
            if !factors.contains(factor) {
                factors.push(factor.clone());
            }
        }
        Self { factors }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, factor) in self.factors.iter().enumerate() {
            if at > 0 {
                f.write_str(":")?;
            }
            write!(f, "{factor}")?;
        }
        Ok(())
    }
}
