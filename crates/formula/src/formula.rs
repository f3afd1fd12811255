//! A formula that parses.

use std::collections::HashSet;

use crate::column_use::ColumnUse;
use crate::dialect;
use crate::error::{FormulaError, Span};
use crate::expansion::{Expander, RightSidePart, Terms, bare_pipe};
use crate::response::{self, LeftSide};
use crate::syntax::{SyntaxNode, Token, TokenKind, parse_tokens};

/// A formula as written: a response and its predictors.
///
/// The grammar is R's with lme4's group terms. Operators, from loose to tight: `|` `||` (inside
/// parentheses), `+ -`, `* /`, `:`, `^` or `**`. Whitespace, line breaks included, may stand
/// between words.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    source: String,
    left: SyntaxNode,
    right: SyntaxNode,
}

impl Formula {
    /// Parses these tokens of `source`.
    pub(crate) fn of_tokens(tokens: &[Token], source: &str) -> Result<Self, FormulaError> {
        check_wrapper(tokens)?;
        let tilde = find_tilde(tokens, source)?;
        let (left, right) = (&tokens[..tilde], &tokens[tilde + 1..]);
        let at = tokens[tilde].span;
        if left.is_empty() {
            return Err(FormulaError::new(at, "a response is expected before ~")
                .with_hint("name the column to explain, as in y ~ x"));
        }
        let Some(last) = right.last() else {
            return Err(FormulaError::new(at, "nothing follows ~")
                .with_hint("write y ~ 1 for an intercept alone, y ~ . for all columns"));
        };
        check_pipes(right)?;
        // Something missing at the end of the text is reported at its end.
        let end = match source[last.span.end..].trim() {
            "" => source.len(),
            _ => last.span.end,
        };
        Ok(Self {
            source: source.to_owned(),
            left: parse_tokens(left, at.start)?,
            right: parse_tokens(right, end)?,
        })
    }

    /// The left side as it is written.
    pub(crate) fn left_side(&self) -> &SyntaxNode {
        &self.left
    }

    /// The same terms for another response.
    pub(crate) fn with_left(&self, left: SyntaxNode) -> Self {
        Self {
            left,
            ..self.clone()
        }
    }

    /// The text it was parsed from, which errors point into.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The place of the left side.
    pub(crate) fn left_span(&self) -> Span {
        self.left.span
    }

    /// Expands the formula. `columns` are those of the table. `.` stands for all of them except the
    /// response, trials, weights, offsets and grouping factors.
    ///
    /// Without a `.` the columns are not used; [`Terms::check_columns`] checks them.
    pub fn expand<S: AsRef<str>>(&self, columns: &[S]) -> Result<Terms, FormulaError> {
        let (left, right, uses) = self.read_sides(&[])?;
        if !uses.dotted {
            return Terms::assemble_terms(left, right, uses.columns, self.right.span);
        }
        let claimed = uses.columns.iter().filter(|used| used.is_claimed());
        let claimed: HashSet<&str> = claimed.map(|used| used.name.as_str()).collect();
        let names = columns.iter().map(AsRef::as_ref);
        let dot: Vec<String> = names
            .filter(|name| !claimed.contains(name))
            .map(str::to_owned)
            .collect();
        let (left, right, uses) = self.read_sides(&dot)?;
        Terms::assemble_terms(left, right, uses.columns, self.right.span)
    }

    /// Reads both sides, with `.` standing for `dot`.
    fn read_sides(&self, dot: &[String]) -> Result<(LeftSide, RightSidePart, Uses), FormulaError> {
        let mut expander = Expander::new(dot);
        let mut used = |name: &str, span, role| expander.note_use(name, span, role);
        let left = response::read_response(&self.left, &mut used)?;
        let right = expander.expand_side(&self.right)?;
        let uses = Uses {
            dotted: expander.dots > 0,
            columns: expander.uses,
        };
        Ok((left, right, uses))
    }
}

/// The columns that the sides of a formula mention.
struct Uses {
    columns: Vec<ColumnUse>,
    dotted: bool,
}

fn find_tilde(tokens: &[Token], source: &str) -> Result<usize, FormulaError> {
    let mut tildes = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| token.kind == TokenKind::Tilde);
    let Some((at, _)) = tildes.next() else {
        return Err(match (tokens.first(), tokens.last()) {
            (Some(first), Some(last)) => {
                let message = "a formula needs a ~ between the response and the terms";
                FormulaError::new(first.span.up_to(last.span), message)
                    .with_hint("write it as in y ~ x1 + x2")
            }
            _ => FormulaError::new(Span::new(0, source.len()), "the formula is empty")
                .with_hint("write response ~ terms, as in y ~ x1 + x2"),
        });
    };
    let Some((second, token)) = tildes.next() else {
        return Ok(at);
    };
    let between = &tokens[at..second];
    let is_list = between.iter().any(|token| token.kind == TokenKind::Comma);
    let hint = if is_list {
        "the formula of a parameter is given apart, as in --formula 'sigma ~ z'"
    } else {
        "one ~ parts the response from the terms; join terms with +"
    };
    Err(FormulaError::new(token.span, "a second ~ in one formula").with_hint(hint))
}

/// Refuses calls of other languages around a formula, such as `bf(y ~ x)` and `lmer(y ~ x)`.
fn check_wrapper(tokens: &[Token]) -> Result<(), FormulaError> {
    let [first, open, ..] = tokens else {
        return Ok(());
    };
    let (TokenKind::Name(name), TokenKind::Open) = (&first.kind, &open.kind) else {
        return Ok(());
    };
    let has_tilde = tokens.iter().any(|token| token.kind == TokenKind::Tilde);
    match dialect::wrapper_advice(name).filter(|_| has_tilde) {
        None => Ok(()),
        Some(hint) => {
            let message = format!("a formula does not stand inside {name}(...)");
            Err(FormulaError::new(first.span, message).with_hint(hint))
        }
    }
}

/// Refuses a `|` right of `~` outside parentheses. The check is made here, where its place is
/// known.
fn check_pipes(tokens: &[Token]) -> Result<(), FormulaError> {
    let mut depth = 0_usize;
    for token in tokens {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            TokenKind::Pipe if depth == 0 => return Err(bare_pipe(token.span, "|")),
            TokenKind::DoublePipe if depth == 0 => return Err(bare_pipe(token.span, "||")),
            _ => {}
        }
    }
    Ok(())
}
