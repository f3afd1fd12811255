//! A mistake in a formula, its place in the text, and how it is shown.

use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A half-open range of bytes in the text that was parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes from `start` up to `end`.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest span that covers both.
    pub fn up_to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    pub(crate) fn shift_by(self, by: usize) -> Self {
        Self::new(self.start + by, self.end + by)
    }
}

/// The kind of text a mistake was found in: the first word of the rendered error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextKind {
    /// A model formula.
    #[default]
    Formula,
    /// A prior such as `sd(site) ~ half_normal(1)`.
    Prior,
}

/// A mistake in a formula or a prior, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FormulaError {
    /// The bytes at fault; empty at a place where something is missing.
    pub span: Span,
    /// The message on one line: what was expected and what was found.
    pub message: String,
    /// Advice on what to write instead, shown beside the caret.
    pub hint: Option<String>,
    /// The text that `span` points into.
    pub origin: TextKind,
}

/// Longest source line that is shown whole; longer ones are cut around the caret.
const LINE_WIDTH: usize = 100;

impl FormulaError {
    /// An error without a hint.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            hint: None,
            origin: TextKind::default(),
        }
    }

    /// Something that may be given once only.
    pub(crate) fn given_twice(span: Span, what: impl std::fmt::Display) -> Self {
        Self::new(span, format!("{what} is given twice")).with_hint("leave one out")
    }

    /// The same error with a hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn in_prior(mut self, shift: usize) -> Self {
        self.origin = TextKind::Prior;
        self.span = self.span.shift_by(shift);
        self
    }

    /// The error as a user sees it: place, message, the line, a caret, the hint.  `source` is the
    /// text that was parsed. Lines and columns count from 1 and columns count characters; carets
    /// are as wide as the characters above them. A span outside `source` is clamped, so this
    /// function never panics.
    ///
    /// ```
    /// use lehr_formula::Formula;
    ///
    /// let source = "y ~ hieght + (1|g)";
    /// let terms = Formula::parse(source).unwrap().expand::<&str>(&[]).unwrap();
    /// let error = terms.check_columns(&["y", "height", "g"]).unwrap_err();
    /// assert_eq!(
    ///     error.render(source),
    ///     r#"formula:1:5: no column "hieght" in the table
    ///   y ~ hieght + (1|g)
    ///       ^^^^^^  did you mean "height"?"#
    /// );
    /// ```
    pub fn render(&self, source: &str) -> String {
        let place = LinePosition::locate_span(self.span, source);
        let mut text = format!(
            "{}:{}:{}: {}\n  {}\n  {}{}",
            match self.origin {
                TextKind::Formula => "formula",
                TextKind::Prior => "prior",
            },
            place.line,
            place.column,
            self.message,
            place.shown,
            " ".repeat(place.indent),
            "^".repeat(place.carets),
        );
        if let Some(hint) = &self.hint {
            let _ = write!(text, "  {hint}");
        }
        text
    }
}

/// A span as line and column for printing.
struct LinePosition {
    line: usize,
    column: usize,
    shown: String,
    indent: usize,
    carets: usize,
}

impl LinePosition {
    fn locate_span(span: Span, source: &str) -> Self {
        let start = char_boundary(source, span.start);
        let end = char_boundary(source, span.end).max(start);
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = source[start..]
            .find('\n')
            .map_or(source.len(), |at| start + at);
        let (before, inside, after) = cut_line(
            printable_text(&source[line_start..start]),
            printable_text(&source[start..end.min(line_end)]),
            printable_text(&source[end.min(line_end)..line_end]),
        );
        Self {
            line: source[..line_start].matches('\n').count() + 1,
            column: source[line_start..start].chars().count() + 1,
            indent: before.width(),
            carets: inside.width().max(1),
            shown: format!("{before}{inside}{after}").trim_end().to_owned(),
        }
    }
}

/// Cuts a long line to the part around its caret.
fn cut_line(before: String, inside: String, after: String) -> (String, String, String) {
    if before.width() + inside.width() + after.width() <= LINE_WIDTH {
        return (before, inside, after);
    }
    let inside = cut_head(&inside, LINE_WIDTH / 2);
    let room = (LINE_WIDTH - inside.width()) / 2;
    let kept: String = cut_head(&before.chars().rev().collect::<String>(), room);
    (kept.chars().rev().collect(), inside, cut_head(&after, room))
}

/// The first characters of a text up to a width, with an ellipsis where it was cut.
fn cut_head(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    for letter in text.chars() {
        if kept.width() + letter.width().unwrap_or(0) >= width {
            break;
        }
        kept.push(letter);
    }
    kept + "…"
}

/// Replaces tabs and control characters, which would move the caret away from its target.
fn printable_text(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '\t' | '\r' => ' ',
            other if other.is_control() => '\u{fffd}',
            other => other,
        })
        .collect()
}

fn char_boundary(source: &str, at: usize) -> usize {
    let mut at = at.min(source.len());
    while !source.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carets_are_as_wide_as_wide_characters() {
        let source = "y ~ 身長 + x";
        let error = FormulaError::new(Span::new(4, 10), "no");
        assert_eq!(
            error.render(source),
            "formula:1:5: no\n  y ~ 身長 + x\n      ^^^^"
        );
    }

    #[test]
    fn columns_count_characters_and_lines_count_from_one() {
        let source = "größe ~ a +\n  é + b";
        let at = source.find('b').unwrap();
        let error = FormulaError::new(Span::new(at, at + 1), "no").with_hint("yes");
        assert_eq!(
            error.render(source),
            "formula:2:7: no\n    é + b\n        ^  yes"
        );
    }

    #[test]
    fn a_span_outside_the_text_is_clamped() {
        let error = FormulaError::new(Span::new(90, 99), "no");
        assert_eq!(error.render("y ~"), "formula:1:4: no\n  y ~\n     ^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let source = format!("y ~ {}oops{}", "a + ".repeat(60), " + b".repeat(60));
        let at = source.find("oops").unwrap();
        let shown = FormulaError::new(Span::new(at, at + 4), "no").render(&source);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].width() <= LINE_WIDTH + 2);
        assert!(lines[1].starts_with("  …") && lines[1].ends_with('…'));
        assert_eq!(
            lines[1].find("oops").map(|at| lines[1][..at].width()),
            lines[2].find('^')
        );
    }
}
