//! The language of priors: `weight ~ normal(0, 1)`, `sd(site) ~ half_normal(1)`.

use std::fmt;

use crate::error::{FormulaError, Span};
use crate::expansion::grouping_of;
use crate::expression::Expr;
use crate::factor::Factor;
use crate::spelling::suggestion;
use crate::syntax::{Node, NodeKind, parse, quoted, tokens};

/// A prior as it was written; whether its names exist is for the model to say.
#[derive(Clone, Debug, PartialEq)]
pub struct PriorSpec {
    /// What the prior is on.
    pub target: PriorTarget,
    /// The distribution's name.
    pub distribution: String,
    /// The distribution's parameters, in order; finite.
    pub arguments: Vec<f64>,
    /// Where the target is written.
    pub target_span: Span,
    /// Where the distribution's name is written.
    pub distribution_span: Span,
}

/// What a prior is on. Prints as the name that the coefficient has in results.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PriorTarget {
    /// `Intercept`: the common intercept.
    Intercept,
    /// `weight`: every common coefficient but the intercept.
    Weight,
    /// `sigma`: the residual standard deviation.
    Sigma,
    /// `sd(site)` or `sd(patient, dose)`: the spread of a group's effects.
    Sd {
        /// The grouping's name, `site` or `region:district`.
        group: String,
        /// One effect, or all of them.
        effect: Option<String>,
    },
    /// `cor(patient)`: the correlations of a group's effects.
    Cor {
        /// The grouping's name.
        group: String,
    },
    /// A coefficient (`x1:x2`, `color[red]`) or a parameter of the family (`shape`).
    Named(String),
}

impl PriorSpec {
    /// Reads one prior; the error points into `text`.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let Some(tilde) = text.rfind('~') else {
            let message = match text.trim() {
                "" => "the prior is empty",
                _ => "a prior needs a ~ between the parameter and the distribution",
            };
            let error = FormulaError::new(trimmed(text), message);
            return Err(error
                .hint("write it as in weight ~ normal(0, 1)")
                .in_prior(0));
        };
        let (left, right) = (&text[..tilde], &text[tilde + 1..]);
        check_sides(left, right, tilde)?;
        let target = target(left).map_err(|error| error.in_prior(0))?;
        let (distribution, arguments, span) =
            distribution(right).map_err(|error| error.in_prior(tilde + 1))?;
        Ok(Self {
            target,
            distribution,
            arguments,
            target_span: trimmed(left),
            distribution_span: span.shifted(tilde + 1),
        })
    }

    /// Refuses a target that is not among the model's parameters, with the nearest as hint.
    pub fn check_target<S: AsRef<str>>(&self, parameters: &[S]) -> Result<(), FormulaError> {
        let name = self.target.to_string();
        if parameters.iter().any(|known| known.as_ref() == name) {
            return Ok(());
        }
        let message = format!("no parameter \"{name}\" in the model");
        let hint = suggestion(&name, "the model", parameters);
        Err(FormulaError::new(self.target_span, message)
            .hint(hint)
            .in_prior(0))
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
            .hint(hint)
            .in_prior(0))
    }
}

fn check_sides(left: &str, right: &str, tilde: usize) -> Result<(), FormulaError> {
    let at = Span::new(tilde, tilde + 1);
    let error = if left.trim().is_empty() {
        FormulaError::new(at, "a parameter is expected before ~")
            .hint("write it as in weight ~ normal(0, 1)")
    } else if right.trim().is_empty() {
        FormulaError::new(at, "a distribution is expected after ~")
            .hint("write it as in weight ~ normal(0, 1)")
    } else if let (Some(first), false) = (left.find('~'), left.contains(['[', '`'])) {
        FormulaError::new(Span::new(first, first + 1), "a second ~ in one prior")
            .hint("give each prior its own --prior")
    } else if let Some(equals) = right.find('=') {
        let span = Span::new(equals, equals + 1).shifted(tilde + 1);
        FormulaError::new(span, "a distribution's arguments have no names")
            .hint("give them in order, as in normal(0, 1)")
    } else {
        return Ok(());
    };
    Err(error.in_prior(0))
}

fn target(text: &str) -> Result<PriorTarget, FormulaError> {
    let span = trimmed(text);
    let body = &text[span.start..span.end];
    match body {
        "Intercept" => return Ok(PriorTarget::Intercept),
        "weight" => return Ok(PriorTarget::Weight),
        "sigma" => return Ok(PriorTarget::Sigma),
        _ => {}
    }
    let inside = |name: &str| {
        let rest = body.strip_prefix(name)?.trim_start();
        let rest = rest.strip_prefix('(')?.strip_suffix(')')?;
        Some((rest, span.end - 1 - rest.len()))
    };
    if let Some((rest, start)) = inside("sd") {
        let pieces = split(rest, ',');
        let effect = match pieces[..] {
            [_] => None,
            [_, (at, effect)] => Some(coefficient(effect, start + at)?),
            _ => return Err(arity(span, "sd")),
        };
        let group = group(pieces[0].1, start)?;
        return Ok(PriorTarget::Sd { group, effect });
    }
    if let Some((rest, start)) = inside("cor") {
        if split(rest, ',').len() > 1 {
            return Err(arity(span, "cor"));
        }
        let group = group(rest, start)?;
        return Ok(PriorTarget::Cor { group });
    }
    Ok(PriorTarget::Named(coefficient(body, span.start)?))
}

fn arity(span: Span, function: &str) -> FormulaError {
    match function {
        "sd" => FormulaError::new(span, "sd takes a group and perhaps one effect")
            .hint("write sd(patient) or sd(patient, dose)"),
        _ => FormulaError::new(span, "cor takes a group and nothing else")
            .hint("one prior covers all correlations of a group, as in cor(patient)"),
    }
}

/// The canonical name of a grouping.
fn group(text: &str, start: usize) -> Result<String, FormulaError> {
    if text.trim().is_empty() {
        return Err(
            FormulaError::new(Span::new(start, start), "a group is expected here")
                .hint("name the grouping, as in sd(site)"),
        );
    }
    let node = read(text).map_err(|error| shifted(error, start))?;
    grouping_of(&node).map_err(|error| shifted(error, start))
}

/// The canonical name of a coefficient: blanks and quotes as results print them.
fn coefficient(text: &str, start: usize) -> Result<String, FormulaError> {
    let pieces = split(text, ':');
    let names: Result<Vec<String>, FormulaError> = pieces
        .into_iter()
        .map(|(at, piece)| factor_name(piece).map_err(|error| shifted(error, start + at)))
        .collect();
    Ok(names?.join(":"))
}

/// One factor's name with its level, `color[red]` or `poly(x, 3)[1]`.
fn factor_name(text: &str) -> Result<String, FormulaError> {
    let text = text.trim_end();
    let bracket = split(text, '[')[0].1.len();
    let (base, level) = text.split_at(bracket);
    if !level.is_empty() && !level.ends_with(']') {
        return Err(FormulaError::new(
            Span::new(bracket, bracket + 1),
            "this bracket is never closed",
        )
        .hint("a level's coefficient is written color[red]"));
    }
    if base.trim().is_empty() {
        return Err(
            FormulaError::new(Span::new(0, text.len()), "a coefficient is expected here")
                .hint("write it as in x1 or x1:x2"),
        );
    }
    let node = read(base)?;
    let name = match &node.bare().kind {
        NodeKind::Name(name) => quoted(name).into_owned(),
        NodeKind::Call(name, arguments) => {
            match Factor::read_call(&node, name, arguments, &mut |_, _, _| {})? {
                Factor::Categorical(column) if !level.is_empty() => quoted(&column).into_owned(),
                factor => factor.to_string(),
            }
        }
        _ => {
            return Err(
                FormulaError::new(node.span, "this is not the name of a parameter").hint(
                    "priors are on Intercept, weight, a coefficient, sd(...), cor(...) or sigma",
                ),
            );
        }
    };
    Ok(name + level)
}

fn read(text: &str) -> Result<Node, FormulaError> {
    parse(&tokens(text)?, text.len())
}

fn distribution(text: &str) -> Result<(String, Vec<f64>, Span), FormulaError> {
    let node = read(text)?;
    let (name, arguments) = match &node.kind {
        NodeKind::Name(name) => (name, &[][..]),
        NodeKind::Call(name, arguments) => (name, &arguments[..]),
        _ => {
            return Err(
                FormulaError::new(node.span, "a distribution is expected after ~")
                    .hint("write it as in normal(0, 1)"),
            );
        }
    };
    let values: Result<Vec<f64>, FormulaError> = arguments.iter().map(constant).collect();
    let start = node.span.start;
    Ok((name.clone(), values?, Span::new(start, start + name.len())))
}

fn constant(node: &Node) -> Result<f64, FormulaError> {
    let mut named = None;
    let expr = Expr::read(node, &mut |name, span| {
        named.get_or_insert((name.to_owned(), span));
    })?;
    if let Some((name, span)) = named {
        let message = format!("a distribution's arguments are numbers, found \"{name}\"");
        return Err(FormulaError::new(span, message).hint("write it as in normal(0, 1)"));
    }
    match expr.evaluate(&|_| None).as_deref() {
        Ok(&[value]) if value.is_finite() => Ok(value),
        _ => Err(
            FormulaError::new(node.span, "a distribution's arguments are finite numbers")
                .hint("write it as in normal(0, 1)"),
        ),
    }
}

/// Parts a text at a character that no parentheses, brackets or backticks hold; with offsets.
fn split(text: &str, separator: char) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let (mut start, mut depth, mut quoted, mut escaped) = (0, 0_usize, false, false);
    for (at, letter) in text.char_indices() {
        if letter == separator && depth == 0 && !quoted {
            pieces.push((start, &text[start..at]));
            start = at + letter.len_utf8();
        }
        match letter {
            '`' if !escaped => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        escaped = letter == '\\' && quoted && !escaped;
    }
    pieces.push((start, &text[start..]));
    pieces
}

fn shifted(mut error: FormulaError, by: usize) -> FormulaError {
    error.span = error.span.shifted(by);
    error
}

/// The text without the blanks around it.
fn trimmed(text: &str) -> Span {
    let start = text.len() - text.trim_start().len();
    Span::new(start, text.trim_end().len().max(start))
}

impl fmt::Display for PriorTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Intercept => f.write_str("Intercept"),
            Self::Weight => f.write_str("weight"),
            Self::Sigma => f.write_str("sigma"),
            Self::Sd {
                group,
                effect: None,
            } => write!(f, "sd({group})"),
            Self::Sd {
                group,
                effect: Some(effect),
            } => write!(f, "sd({group}, {effect})"),
            Self::Cor { group } => write!(f, "cor({group})"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for PriorSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments: Vec<String> = self.arguments.iter().map(ToString::to_string).collect();
        let name = quoted(&self.distribution);
        write!(f, "{} ~ {name}", self.target)?;
        if arguments.is_empty() {
            return Ok(());
        }
        write!(f, "({})", arguments.join(", "))
    }
}
