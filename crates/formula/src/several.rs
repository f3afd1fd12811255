//! Formulas of several responses: `mvbind(y1, y2) ~ x`, `bf(y1 ~ x) + bf(y2 ~ z)`.

use crate::dialect;
use crate::error::{FormulaError, Span};
use crate::formula::Formula;
use crate::syntax::{BinaryOperator, NodeKind, SyntaxNode, Token, TokenKind, split_tokens};

/// The most responses of one model.
const MOST_RESPONSES: usize = 20;

/// The name of the call that correlates residuals.
const RESCOR: &str = "set_rescor";

/// Whether the residuals of the responses of a row are correlated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResidualCorrelation {
    /// The responses of a row are independent given their predictors.
    Independent,
    /// `+ set_rescor(TRUE)`: they are normal with correlations that are estimated.
    Correlated,
}

/// The formulas of one model, one for each response, as written.
///
/// One response is written `y ~ x`. Several with the same terms are `mvbind(y1, y2) ~ x`, others
/// `bf(y1 ~ x) + bf(y2 ~ z)`, as in brms.
#[derive(Clone, Debug, PartialEq)]
pub struct Formulas {
    source: String,
    responses: Vec<Formula>,
    residuals: ResidualCorrelation,
}

impl Formulas {
    /// Parses the formulas of one or several responses; the error points into `source`.
    pub fn parse(source: &str) -> Result<Formulas, FormulaError> {
        let tokens = split_tokens(source)?;
        let (tokens, residuals) = without_rescor(tokens)?;
        let mut responses = Vec::new();
        for part in split_formulas(&tokens, source)? {
            responses.extend(spread_responses(Formula::of_tokens(part, source)?)?);
        }
        let all = Formulas {
            source: source.to_owned(),
            responses,
            residuals: residuals
                .map_or(ResidualCorrelation::Independent, |(residuals, _)| residuals),
        };
        all.check_responses(residuals.map(|(_, span)| span))?;
        Ok(all)
    }

    fn check_responses(&self, rescor: Option<Span>) -> Result<(), FormulaError> {
        if let Some(span) = rescor.filter(|_| self.responses.len() == 1) {
            let message = "the residuals of one response have nothing to be correlated with";
            return Err(FormulaError::new(span, message)
                .with_hint("leave it out, or write mvbind(y1, y2) ~ ... + set_rescor(TRUE)"));
        }
        if let Some(one) = self.responses.get(MOST_RESPONSES) {
            let message = format!("more than {MOST_RESPONSES} responses");
            return Err(FormulaError::new(one.left_span(), message)
                .with_hint("fit those that belong together"));
        }
        Ok(())
    }

    /// The text they were parsed from, which errors point into.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The formula of each response.
    pub fn responses(&self) -> &[Formula] {
        &self.responses
    }

    /// Whether the residuals of the responses of a row are correlated.
    pub fn residuals(&self) -> ResidualCorrelation {
        self.residuals
    }

    /// The one formula, if there is one response.
    pub(crate) fn into_single(mut self) -> Result<Formula, FormulaError> {
        match self.responses.get(1) {
            None => Ok(self.responses.remove(0)),
            Some(second) => Err(FormulaError::new(
                second.left_span(),
                "one response is expected here, and this is the second",
            )
            .with_hint("name one, as in y ~ x")),
        }
    }
}

impl Formula {
    /// Parses the formula of one response; the error points into `source`. For several responses
    /// use [`Formulas`].
    pub fn parse(source: &str) -> Result<Self, FormulaError> {
        Formulas::parse(source)?.into_single()
    }
}

/// The tokens without `+ set_rescor(...)`, and the setting of that call.
#[expect(clippy::type_complexity, reason = "two answers of one question")]
fn without_rescor(
    tokens: Vec<Token>,
) -> Result<(Vec<Token>, Option<(ResidualCorrelation, Span)>), FormulaError> {
    let named = |token: &Token| matches!(&token.kind, TokenKind::Name(name) if name == RESCOR);
    let Some(at) = tokens.iter().position(named) else {
        return Ok((tokens, None));
    };
    let span = tokens[at].span;
    let wrong = || {
        FormulaError::new(span, "set_rescor(...) is a summand of its own at the end")
            .with_hint("write + set_rescor(TRUE) or + set_rescor(FALSE)")
    };
    let [_, open, value, close, rest @ ..] = &tokens[at..] else {
        return Err(wrong());
    };
    let is_call = open.kind == TokenKind::Open && close.kind == TokenKind::Close;
    let is_added = at > 0 && tokens[at - 1].kind == TokenKind::Plus && rest.is_empty();
    let residuals = match &value.kind {
        TokenKind::Name(name) if is_call && is_added => match name.as_str() {
            "TRUE" | "T" | "true" => ResidualCorrelation::Correlated,
            "FALSE" | "F" | "false" => ResidualCorrelation::Independent,
            _ => return Err(wrong()),
        },
        _ => return Err(wrong()),
    };
    let call = span.up_to(close.span);
    Ok((tokens[..at - 1].to_vec(), Some((residuals, call))))
}

/// The tokens of each formula: those inside `bf(...)`, or all.
fn split_formulas<'t>(tokens: &'t [Token], source: &str) -> Result<Vec<&'t [Token]>, FormulaError> {
    let is_wrapper = |token: &Token| match &token.kind {
        TokenKind::Name(name) => matches!(name.as_str(), "bf" | "brmsformula"),
        _ => false,
    };
    let [first, open, ..] = tokens else {
        return Ok(vec![tokens]);
    };
    if !is_wrapper(first) || open.kind != TokenKind::Open {
        return Ok(vec![tokens]);
    }
    let mut found = Vec::new();
    for part in split_summands(tokens) {
        match part {
            [name, open, inner @ .., close]
                if is_wrapper(name)
                    && open.kind == TokenKind::Open
                    && close.kind == TokenKind::Close =>
            {
                check_alone(name, inner)?;
                found.push(inner);
            }
            other => {
                let span = other.first().map_or(Span::new(0, source.len()), |t| t.span);
                return Err(
                    FormulaError::new(span, "the formula of a response is expected here")
                        .with_hint("write bf(y1 ~ x) + bf(y2 ~ z)"),
                );
            }
        }
    }
    Ok(found)
}

/// Refuses arguments that brms allows beside the formula of a response.
fn check_alone(name: &Token, inner: &[Token]) -> Result<(), FormulaError> {
    let mut depth = 0_usize;
    for (at, token) in inner.iter().enumerate() {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            TokenKind::Comma if depth == 0 => {
                let (span, hint) = (
                    name.span,
                    dialect::beside_advice(&response_names(&inner[at + 1..])),
                );
                let message = "bf(...) holds the formula of one response and nothing else";
                return Err(FormulaError::new(span, message).with_hint(hint));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The names among tokens.
fn response_names(tokens: &[Token]) -> Vec<&str> {
    let named = tokens.iter().filter_map(|token| match &token.kind {
        TokenKind::Name(name) => Some(name.as_str()),
        _ => None,
    });
    named.collect()
}

/// The tokens split at each `+` outside parentheses.
fn split_summands(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_usize;
    let parted = tokens.split(|token| {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.kind == TokenKind::Plus
    });
    parted.collect()
}

/// A formula for each response of `mvbind(...)`.
fn spread_responses(formula: Formula) -> Result<Vec<Formula>, FormulaError> {
    let left = formula.left_side();
    let (responses, additions) = match &left.without_parens().kind {
        NodeKind::Binary(BinaryOperator::Pipe, responses, additions) => {
            (responses.without_parens(), Some((&left.span, additions)))
        }
        _ => (left.without_parens(), None),
    };
    let NodeKind::Call(name, columns) = &responses.kind else {
        return Ok(vec![formula]);
    };
    if name == "c" {
        return Err(
            FormulaError::new(responses.span, "c(...) does not name responses")
                .with_hint("write mvbind(y1, y2) ~ ..."),
        );
    }
    if name != "mvbind" {
        return Ok(vec![formula]);
    }
    if columns.is_empty() {
        return Err(
            FormulaError::new(responses.span, "mvbind(...) names no response")
                .with_hint("write mvbind(y1, y2) ~ ..."),
        );
    }
    let own = |column: &SyntaxNode| match additions {
        None => column.clone(),
        Some((_, additions)) => SyntaxNode {
            kind: NodeKind::Binary(
                BinaryOperator::Pipe,
                Box::new(column.clone()),
                additions.clone(),
            ),
            span: column.span,
            depth: left.depth,
        },
    };
    Ok(columns
        .iter()
        .map(|column| formula.with_left(own(column)))
        .collect())
}
