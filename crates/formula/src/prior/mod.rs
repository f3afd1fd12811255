//! The language of priors: `weight ~ normal(0, 1)`, `sd(site) ~ half_normal(1)`.

mod target;

use std::fmt;

pub use target::PriorTarget;

use crate::error::{FormulaError, Span};
use crate::expression::ColumnExpr;
use crate::spelling::suggestion;
use crate::syntax::{NodeKind, SyntaxNode, parse_tokens, quote_name, split_tokens};

/// A prior as written. The model checks whether its names exist.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorSpec {
    /// The parameter that has the prior.
    pub target: PriorTarget,
    /// The distribution's name.
    pub distribution: String,
    /// The distribution's parameters, in order; finite.
    pub arguments: Vec<f64>,
    /// The place of the target.
    pub target_span: Span,
    /// The place of the distribution's name.
    pub distribution_span: Span,
}

impl PriorSpec {
    /// Reads one prior; the error points into `text`.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let Some(tilde) = text.rfind('~') else {
            let message = match text.trim() {
                "" => "the prior is empty",
                _ => "a prior needs a ~ between the parameter and the distribution",
            };
            let error = FormulaError::new(trimmed_span(text), message);
            return Err(error
                .with_hint("write it as in weight ~ normal(0, 1)")
                .in_prior(0));
        };
        let (left, right) = (&text[..tilde], &text[tilde + 1..]);
        check_sides(left, right, tilde)?;
        let target = target::read_target(left).map_err(|error| error.in_prior(0))?;
        let (distribution, arguments, span) =
            parse_distribution(right).map_err(|error| error.in_prior(tilde + 1))?;
        Ok(Self {
            target,
            distribution,
            arguments,
            target_span: trimmed_span(left),
            distribution_span: span.shift_by(tilde + 1),
        })
    }

    /// Refuses a distribution that is not among the known ones, with the nearest as hint.
    pub fn check_distribution<S: AsRef<str>>(&self, known: &[S]) -> Result<(), FormulaError> {
        let name = &self.distribution;
        if known.iter().any(|known| known.as_ref() == name) {
            return Ok(());
        }
        let message = format!("no distribution \"{name}\"");
        let hint = suggestion(name, "the library", known);
        Err(FormulaError::new(self.distribution_span, message)
            .with_hint(hint)
            .in_prior(0))
    }
}

fn check_sides(left: &str, right: &str, tilde: usize) -> Result<(), FormulaError> {
    let at = Span::new(tilde, tilde + 1);
    let error = if left.trim().is_empty() {
        FormulaError::new(at, "a parameter is expected before ~")
            .with_hint("write it as in weight ~ normal(0, 1)")
    } else if right.trim().is_empty() {
        FormulaError::new(at, "a distribution is expected after ~")
            .with_hint("write it as in weight ~ normal(0, 1)")
    } else if let (Some(first), false) = (left.find('~'), left.contains(['[', '`'])) {
        FormulaError::new(Span::new(first, first + 1), "a second ~ in one prior")
            .with_hint("give each prior its own --prior")
    } else if let Some(equals) = right.find('=') {
        let span = Span::new(equals, equals + 1).shift_by(tilde + 1);
        FormulaError::new(span, "a distribution's arguments have no names")
            .with_hint("give them in order, as in normal(0, 1)")
    } else {
        return Ok(());
    };
    Err(error.in_prior(0))
}

fn parse_node(text: &str) -> Result<SyntaxNode, FormulaError> {
    parse_tokens(&split_tokens(text)?, text.len())
}

fn parse_distribution(text: &str) -> Result<(String, Vec<f64>, Span), FormulaError> {
    let node = parse_node(text)?;
    let (name, arguments) = match &node.kind {
        NodeKind::Name(name) => (name, &[][..]),
        NodeKind::Call(name, arguments) => (name, &arguments[..]),
        _ => {
            return Err(
                FormulaError::new(node.span, "a distribution is expected after ~")
                    .with_hint("write it as in normal(0, 1)"),
            );
        }
    };
    let values: Result<Vec<f64>, FormulaError> = arguments.iter().map(read_constant).collect();
    let start = node.span.start;
    Ok((name.clone(), values?, Span::new(start, start + name.len())))
}

fn read_constant(node: &SyntaxNode) -> Result<f64, FormulaError> {
    let mut named = None;
    let expr = ColumnExpr::read_node(node, &mut |name, span| {
        named.get_or_insert((name.to_owned(), span));
    })?;
    if let Some((name, span)) = named {
        let message = format!("a distribution's arguments are numbers, found \"{name}\"");
        return Err(FormulaError::new(span, message).with_hint("write it as in normal(0, 1)"));
    }
    match expr.evaluate_columns(&|_| None).as_deref() {
        Ok(&[value]) if value.is_finite() => Ok(value),
        _ => Err(
            FormulaError::new(node.span, "a distribution's arguments are finite numbers")
                .with_hint("write it as in normal(0, 1)"),
        ),
    }
}

/// The text without the blanks around it.
fn trimmed_span(text: &str) -> Span {
    let start = text.len() - text.trim_start().len();
    Span::new(start, text.trim_end().len().max(start))
}

impl fmt::Display for PriorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<String> = self.arguments.iter().map(ToString::to_string).collect();
        let name = quote_name(&self.distribution);
        write!(f, "{} ~ {name}", self.target)?;
        if arguments.is_empty() {
            return Ok(());
        }
        write!(f, "({})", arguments.join(", "))
    }
}
