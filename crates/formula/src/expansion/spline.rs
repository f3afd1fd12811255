//! Penalised smooths of one column: `s(x)`, `s(x, k = 20)`, `s(month, bs = "cc", period = 12)`.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::smooth::{ByVariable, read_by};
use crate::column_use::{UseListener, read_numbers};
use crate::error::{FormulaError, Span};
use crate::expression::ColumnExpr;
use crate::factor::{Factor, Term};
use crate::option::{read_period, read_whole};
use crate::spelling::unknown_option;
use crate::syntax::{NodeKind, SyntaxNode, quote_name};

/// Advice in place of a bad `k`.
const USUAL: &str = "leave it out for the usual 10";

/// The name of the call in a formula.
pub(crate) const NAME: &str = "s";

/// The arguments that have names.
const OPTIONS: [&str; 4] = ["k", "bs", "period", "by"];

/// The fewest and the most functions that can be asked for.
const FEWEST: f64 = 4.0;
const MOST: f64 = 200.0;

/// A penalised smooth of one column: a straight line with a fixed effect, plus splines whose
/// weights are random effects with a common standard deviation. The smaller that is, the smoother
/// the function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplineTerm {
    /// The argument of the function.
    pub input: ColumnExpr,
    /// The kind of spline.
    pub basis: PenalisedSpline,
    /// The period of the input, if it was given.
    pub period: Option<f64>,
    /// The number of basis functions, if it was given; the constant and the line count.
    pub k: Option<usize>,
    /// The column that multiplies the function, or for each of whose levels there is a function.
    pub by: Option<ByVariable>,
}

/// Splines with a penalty, by the names of mgcv.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PenalisedSpline {
    /// Thin-plate regression splines; ∫ f″² is small.
    #[default]
    Tp,
    /// Cubic splines on a circle; ∫ f″² is small.
    Cc,
    /// Cubic B-splines on equal steps; the second differences of their weights are small.
    Ps,
}

impl PenalisedSpline {
    /// All of them.
    pub const ALL: [PenalisedSpline; 3] = [Self::Tp, Self::Cc, Self::Ps];

    /// The name of the basis in a formula.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tp => "tp",
            Self::Cc => "cc",
            Self::Ps => "ps",
        }
    }
}

impl SplineTerm {
    /// Reads the arguments of a call.
    pub(crate) fn read_call(
        span: Span,
        arguments: &[SyntaxNode],
        used: &mut UseListener<'_>,
    ) -> Result<Self, FormulaError> {
        let is_named = |node: &&SyntaxNode| matches!(node.kind, NodeKind::Named(..));
        let inputs: Vec<&SyntaxNode> = arguments.iter().filter(|node| !is_named(node)).collect();
        let input = match inputs[..] {
            [only] => read_numbers(only, used)?,
            [] => {
                return Err(FormulaError::new(span, "s(...) names no column")
                    .with_hint("name one, as in s(x)"));
            }
            [_, second, ..] => {
                let hint = "write gp(x, z) for a surface, s(x) + s(z) for a sum, s(x, by = g) for a \
                            function of each level";
                let error = FormulaError::new(second.span, "s(...) is of one column");
                return Err(error.with_hint(hint));
            }
        };
        let mut term = Self {
            input,
            basis: PenalisedSpline::default(),
            period: None,
            k: None,
            by: None,
        };
        let mut named: Vec<&str> = Vec::new();
        for argument in arguments {
            let NodeKind::Named(name, value) = &argument.kind else {
                continue;
            };
            if named.contains(&name.as_str()) {
                return Err(FormulaError::given_twice(argument.span, name));
            }
            named.push(name);
            if name == "by" {
                term.by = Some(read_by(value, used)?);
            } else {
                term.read_option(name, argument.span, value)?;
            }
        }
        if let Some(by) = &term.by
            && term.input.column_names().contains(&by.column())
        {
            return Err(
                FormulaError::new(span, "by is another column than the one smoothed")
                    .with_hint("write s(x), or by = z for a column z"),
            );
        }
        if term.period.is_some() && term.basis != PenalisedSpline::Cc {
            return Err(FormulaError::new(span, "only bs = \"cc\" has a period")
                .with_hint("write s(month, bs = \"cc\", period = 12)"));
        }
        Ok(term)
    }

    fn read_option(
        &mut self,
        name: &str,
        span: Span,
        value: &SyntaxNode,
    ) -> Result<(), FormulaError> {
        match name {
            "k" => self.k = Some(read_whole(name, value, FEWEST..=MOST, USUAL)?),
            "bs" => self.basis = read_basis(value)?,
            "period" => {
                self.period = Some(read_period(value, "s(month, bs = \"cc\", period = 12)")?);
            }
            _ => {
                let error = unknown_option(NAME, name, span, &OPTIONS);
                return Err(match name {
                    "m" | "sp" | "fx" => error.with_hint("its smoothness is learnt, as sd(s(x))"),
                    _ => error,
                });
            }
        }
        Ok(())
    }

    /// The name of the function, as in the name `sd(s(x))` of its standard deviation.
    pub fn term_label(&self) -> String {
        match &self.by {
            None => format!("{NAME}({})", self.input),
            Some(by) => format!("{NAME}({}, by = {})", self.input, quote_name(by.column())),
        }
    }

    /// The columns it reads, in order, with repeats.
    pub fn column_names(&self) -> Vec<&str> {
        let by = self.by.iter().map(ByVariable::column);
        self.input.column_names().into_iter().chain(by).collect()
    }

    /// The line, which is part of the function and not penalised; a periodic function has none.
    /// With `by` there is a line for each level, or one line times the column.
    pub fn line_term(&self) -> Option<Term> {
        let factor = match &self.input {
            ColumnExpr::Column(name) => Factor::Column(name.clone()),
            other => Factor::Expression(other.clone()),
        };
        let own = Term::from_factor(factor);
        let line = match self.by_factor() {
            None => own,
            Some(by) => own.interaction_with(&Term::from_factor(by)),
        };
        (self.basis != PenalisedSpline::Cc).then_some(line)
    }

    /// The constant of a function that a column multiplies: the column itself.
    pub(super) fn constant_term(&self) -> Option<Term> {
        match &self.by {
            Some(ByVariable::Column(_)) => self.by_factor().map(Term::from_factor),
            _ => None,
        }
    }

    fn by_factor(&self) -> Option<Factor> {
        self.by.as_ref().map(|by| match by {
            ByVariable::Column(name) => Factor::Column(name.clone()),
            ByVariable::Levels(name) => Factor::Categorical(name.clone()),
        })
    }

    /// A text column has a function for each of its levels.
    pub(super) fn resolve_text(&mut self, is_text: &dyn Fn(&str) -> bool) {
        if let Some(by) = &mut self.by {
            by.resolve_text(is_text);
        }
    }
}

impl fmt::Display for SplineTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}({}", self.input)?;
        if let Some(by) = &self.by {
            write!(f, ", by = {by}")?;
        }
        if let Some(k) = self.k {
            write!(f, ", k = {k}")?;
        }
        if self.basis != PenalisedSpline::default() {
            write!(f, ", bs = \"{}\"", self.basis.name())?;
        }
        if let Some(period) = self.period {
            write!(f, ", period = {period}")?;
        }
        f.write_str(")")
    }
}

fn read_basis(node: &SyntaxNode) -> Result<PenalisedSpline, FormulaError> {
    let name = match &node.without_parens().kind {
        NodeKind::Text(name) | NodeKind::Name(name) => name.as_str(),
        _ => "",
    };
    let mut all = PenalisedSpline::ALL.into_iter();
    all.find(|one| one.name() == name).ok_or_else(|| {
        let message = match name {
            "" => "bs takes the name of a basis".to_owned(),
            _ => format!("no basis \"{name}\""),
        };
        let hint = match name {
            "re" => "write (1 | g) for effects by group",
            "gp" => "write gp(x)",
            "cr" | "cs" | "ts" | "ds" | "ad" => "write bs = \"tp\", which is as smooth",
            "cp" => "write bs = \"cc\", which repeats itself as well",
            _ => "one of \"tp\", \"cc\" (on a circle) and \"ps\" (on equal steps)",
        };
        FormulaError::new(node.span, message).with_hint(hint)
    })
}
