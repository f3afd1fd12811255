//! Unpenalised splines as fixed effects: `bs(x, df = 6)`, `ns(x, df = 4)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::column_use::{UseListener, read_term};
use crate::error::{FormulaError, Span};
use crate::expression::ColumnExpr;
use crate::option::read_whole;
use crate::spelling::suggestion;
use crate::syntax::{NodeKind, SyntaxNode};

/// The most columns of one spline.
const MOST: f64 = 200.0;
/// The highest degree of B-splines.
const MOST_DEGREE: f64 = 10.0;
/// The default degree.
const USUAL_DEGREE: usize = 3;

/// Advice in place of a bad number.
const EXAMPLES: &str = "write bs(x, df = 6) or ns(x, df = 4)";

/// Splines of a column, with a coefficient for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegressionSpline {
    /// The argument of the splines.
    pub input: ColumnExpr,
    /// The kind of spline.
    pub kind: SplineKind,
    /// How many columns there are.
    pub df: usize,
}

/// A family of splines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplineKind {
    /// `bs`: B-splines of a degree, without the first.
    B {
        /// The degree of the polynomials.
        degree: usize,
    },
    /// `ns`: natural cubic splines, which are linear beyond the ends.
    Natural,
}

impl SplineKind {
    fn name(self) -> &'static str {
        match self {
            Self::B { .. } => "bs",
            Self::Natural => "ns",
        }
    }
}

impl RegressionSpline {
    /// Reads the arguments of a call of `bs` or `ns`.
    pub(crate) fn read_call(
        name: &str,
        span: Span,
        arguments: &[SyntaxNode],
        used: &mut UseListener<'_>,
    ) -> Result<Self, FormulaError> {
        let options: &[&str] = match name {
            "bs" => &["df", "degree"],
            _ => &["df"],
        };
        let example = format!("{name}(x, df = 5)");
        let Some((input, rest)) = arguments.split_first() else {
            return Err(
                FormulaError::new(span, format!("{name}(...) names no column"))
                    .with_hint(format!("write {example}")),
            );
        };
        let input = read_term(input, used)?;
        let mut found: [Option<usize>; 2] = [None; 2];
        for (place, argument) in rest.iter().enumerate() {
            let (option, value) = match &argument.kind {
                NodeKind::Named(option, value) => (option.as_str(), &**value),
                // As in R, unnamed numbers are in this order.
                _ => (options.get(place).copied().unwrap_or(""), argument),
            };
            let Some(at) = options.iter().position(|known| *known == option) else {
                let message = format!("{name}(...) has no argument \"{option}\"");
                return Err(FormulaError::new(argument.span, message)
                    .with_hint(unknown_hint(name, option, options)));
            };
            let most = if option == "df" { MOST } else { MOST_DEGREE };
            if found[at]
                .replace(read_whole(option, value, 1.0..=most, EXAMPLES)?)
                .is_some()
            {
                return Err(FormulaError::given_twice(argument.span, option));
            }
        }
        let degree = found[1].unwrap_or(USUAL_DEGREE);
        let Some(df) = found[0] else {
            let message = format!("{name}(...) needs df, the number of its columns");
            return Err(FormulaError::new(span, message).with_hint(format!(
                "write {example}, or s(x), which finds by itself how smooth it is"
            )));
        };
        if name == "bs" && df < degree {
            let message =
                format!("bs of degree {degree} has at least {degree} columns, found {df}");
            return Err(FormulaError::new(span, message)
                .with_hint(format!("write df = {degree} or more, or a lower degree")));
        }
        let kind = match name {
            "bs" => SplineKind::B { degree },
            _ => SplineKind::Natural,
        };
        Ok(Self { input, kind, df })
    }
}

fn unknown_hint(name: &str, option: &str, options: &[&str]) -> String {
    match option {
        "knots" | "Boundary.knots" | "intercept" => format!(
            "knots are at quantiles of the fitted rows: say how many columns, as in {name}(x, df = 5)"
        ),
        _ => suggestion(option, name, options),
    }
}

impl fmt::Display for RegressionSpline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, df = {}", self.kind.name(), self.input, self.df)?;
        match self.kind {
            SplineKind::B { degree } if degree != USUAL_DEGREE => write!(f, ", degree = {degree})"),
            _ => f.write_str(")"),
        }
    }
}
