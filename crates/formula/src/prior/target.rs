//! The parameter that a prior is on.

use std::fmt;

use super::{parse_node, trimmed_span};
use crate::error::{FormulaError, Span};
use crate::expansion::{
    SPLINE, SplineTerm, covariate_parameter, grouping_of, monotonic_parameter, smooth_parameter,
};
use crate::factor::Factor;
use crate::syntax::{NodeKind, quote_name};

/// The parameter that a prior is on. It prints as the coefficient's name in results.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PriorTarget {
    /// `Intercept`: the intercept of the fixed effects.
    Intercept,
    /// `weight`: every fixed effect but the intercept.
    Weight,
    /// `sigma`: the residual standard deviation.
    Sigma,
    /// `sd(site)` or `sd(patient, dose)`: the standard deviation of random effects.
    Sd {
        /// The name of the grouping factor, `site` or `region:district`.
        group: String,
        /// One effect, or all of them.
        effect: Option<String>,
    },
    /// `cor(patient)`: the correlations of random effects.
    Cor {
        /// The name of the grouping factor.
        group: String,
    },
    /// A coefficient (`x1:x2`, `color[red]`) or a parameter of the family (`shape`).
    Named(String),
}

/// Reads the text left of `~`.
pub(super) fn read_target(text: &str) -> Result<PriorTarget, FormulaError> {
    let span = trimmed_span(text);
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
        let pieces = split_text(rest, ',');
        let effect = match pieces[..] {
            [_] => None,
            [_, (at, effect)] => Some(parse_coefficient(effect, start + at)?),
            _ => return Err(arity_error(span, "sd")),
        };
        let group = parse_group(pieces[0].1, start)?;
        return Ok(PriorTarget::Sd { group, effect });
    }
    if let Some((rest, start)) = inside("cor") {
        if split_text(rest, ',').len() > 1 {
            return Err(arity_error(span, "cor"));
        }
        let group = parse_group(rest, start)?;
        return Ok(PriorTarget::Cor { group });
    }
    let named = parse_coefficient(body, span.start).or_else(|error| {
        // `sigma.I(x^2)`: a coefficient of the formula of a parameter.
        let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_');
        let named = body.split_once('.').filter(|(name, _)| is_name(name));
        let (parameter, rest) = named.ok_or_else(|| error.clone())?;
        let at = span.start + parameter.len() + 1;
        let name = parse_coefficient(rest, at).map_err(|_| error)?;
        Ok(format!("{parameter}.{name}"))
    });
    Ok(PriorTarget::Named(named?))
}

fn arity_error(span: Span, function: &str) -> FormulaError {
    match function {
        "sd" => FormulaError::new(span, "sd takes a group and perhaps one effect")
            .with_hint("write sd(patient) or sd(patient, dose)"),
        _ => FormulaError::new(span, "cor takes a group and nothing else")
            .with_hint("one prior covers all correlations of a group, as in cor(patient)"),
    }
}

/// The canonical name of a grouping factor.
fn parse_group(text: &str, start: usize) -> Result<String, FormulaError> {
    if text.trim().is_empty() {
        return Err(
            FormulaError::new(Span::new(start, start), "a group is expected here")
                .with_hint("name the grouping, as in sd(site)"),
        );
    }
    let found = parse_spline(text).and_then(|found| match found {
        Some(label) => Ok(label),
        None => grouping_of(&parse_node(text)?).or_else(|error| of_parameter(text).ok_or(error)),
    });
    found.map_err(|error| shift_error(error, start))
}

/// The name of a penalised smooth, `s(x)`, perhaps with a level and in the formula of a parameter:
/// `sigma.s(x, by = site)[north]`. `None` if the text names something else.
fn parse_spline(text: &str) -> Result<Option<String>, FormulaError> {
    let bracket = split_text(text, '[')[0].1.len();
    let (call, level) = text.split_at(bracket);
    let Ok(node) = parse_node(call) else {
        return Ok(None);
    };
    let NodeKind::Call(name, arguments) = &node.without_parens().kind else {
        return Ok(None);
    };
    let (owner, own) = match name.rsplit_once('.') {
        Some((owner, own)) => (format!("{owner}."), own),
        None => (String::new(), name.as_str()),
    };
    if own != SPLINE {
        return Ok(None);
    }
    let term = SplineTerm::read_call(node.span, arguments, &mut |_, _, _| {})?;
    Ok(Some(format!(
        "{owner}{}{}",
        term.term_label(),
        level.trim_end()
    )))
}

/// A grouping factor of the formula of a parameter whose name is in backticks: sigma.`the site`.
fn of_parameter(text: &str) -> Option<String> {
    let (parameter, rest) = text.trim().split_once('.')?;
    let grouping = grouping_of(&parse_node(rest).ok()?).ok()?;
    Some(format!("{parameter}.{grouping}"))
}

/// The canonical name of a coefficient, with blanks and quotes as results print them.
fn parse_coefficient(text: &str, start: usize) -> Result<String, FormulaError> {
    let pieces = split_text(text, ':');
    let names: Result<Vec<String>, FormulaError> = pieces
        .into_iter()
        .map(|(at, piece)| factor_name(piece).map_err(|error| shift_error(error, start + at)))
        .collect();
    Ok(names?.join(":"))
}

/// One factor's name with its level, `color[red]` or `poly(x, 3)[1]`.
fn factor_name(text: &str) -> Result<String, FormulaError> {
    let text = text.trim_end();
    let bracket = split_text(text, '[')[0].1.len();
    let (base, level) = text.split_at(bracket);
    if !level.is_empty() && !level.ends_with(']') {
        return Err(FormulaError::new(
            Span::new(bracket, bracket + 1),
            "this bracket is never closed",
        )
        .with_hint("a level's coefficient is written color[red]"));
    }
    if base.trim().is_empty() {
        return Err(
            FormulaError::new(Span::new(0, text.len()), "a coefficient is expected here")
                .with_hint("write it as in x1 or x1:x2"),
        );
    }
    if let Some(name) = smooth_parameter(base)? {
        return Ok(name + level);
    }
    if let Some(name) = covariate_parameter(base)? {
        return Ok(name + level);
    }
    if let Some(name) = monotonic_parameter(base)? {
        return Ok(name + level);
    }
    let node = parse_node(base)?;
    let name = match &node.without_parens().kind {
        NodeKind::Name(name) => quote_name(name).into_owned(),
        NodeKind::Call(name, arguments) => {
            match Factor::read_call(&node, name, arguments, &mut |_, _, _| {})? {
                Factor::Categorical(column) if !level.is_empty() => {
                    quote_name(&column).into_owned()
                }
                Factor::Coded(coded) if !level.is_empty() => coded.label(),
                factor => factor.to_string(),
            }
        }
        _ => {
            return Err(
                FormulaError::new(node.span, "this is not the name of a parameter").with_hint(
                    "priors are on Intercept, weight, a coefficient, sd(...), cor(...) or sigma",
                ),
            );
        }
    };
    Ok(name + level)
}

/// Splits a text at a character outside parentheses, brackets and backticks; returns the parts with
/// their offsets.
fn split_text(text: &str, separator: char) -> Vec<(usize, &str)> {
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

fn shift_error(mut error: FormulaError, by: usize) -> FormulaError {
    error.span = error.span.shift_by(by);
    error
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
