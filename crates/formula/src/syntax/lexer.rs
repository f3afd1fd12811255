//! Cuts text into tokens.

use std::borrow::Cow;

use super::comparison::ComparisonOperator;
use super::token::{Token, TokenKind};
use crate::error::{FormulaError, Span};

/// The tokens of a text, in order.
pub(crate) fn split_tokens(text: &str) -> Result<Vec<Token>, FormulaError> {
    let mut lexer = Lexer {
        text,
        at: 0,
        depth: 0,
    };
    let mut found = Vec::new();
    while let Some(token) = lexer.next()? {
        found.push(token);
    }
    Ok(found)
}

/// A column's name as a formula spells it: in backticks unless it is a plain name.
pub fn quote_name(name: &str) -> Cow<'_, str> {
    let plain = split_tokens(name).is_ok_and(
        |found| matches!(&found[..], [Token { kind: TokenKind::Name(read), .. }] if read == name),
    );
    if plain {
        return Cow::Borrowed(name);
    }
    let escaped = name.replace('\\', "\\\\").replace('`', "\\`");
    Cow::Owned(format!("`{escaped}`"))
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// The number of open parentheses: arguments are named only inside them.
    depth: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Result<Option<Token>, FormulaError> {
        self.skip_while(char::is_whitespace);
        let start = self.at;
        let Some(first) = self.peek() else {
            return Ok(None);
        };
        let kind = match first {
            '`' => TokenKind::Name(self.read_quoted('`')?),
            // Quotes are a mistake outside of parentheses, where no levels can be named.
            quote @ ('"' | '\'') if self.depth > 0 => TokenKind::Text(self.read_quoted(quote)?),
            '0'..='9' => self.read_number()?,
            '.' if self.peek_second().is_some_and(|next| next.is_ascii_digit()) => {
                self.read_number()?
            }
            '.' if !self.peek_second().is_some_and(continues_name) => self.read_symbol()?,
            letter if starts_name(letter) => self.name(),
            _ => self.read_symbol()?,
        };
        Ok(Some(Token {
            kind,
            span: Span::new(start, self.at),
        }))
    }

    fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    fn skip_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let start = self.at;
        let rest = self.rest();
        self.at += rest.find(|letter| !wanted(letter)).unwrap_or(rest.len());
        &self.text[start..self.at]
    }

    fn name(&mut self) -> TokenKind {
        TokenKind::Name(self.skip_while(continues_name).to_owned())
    }

    /// The text up to the next such quote.
    fn read_quoted(&mut self, quote: char) -> Result<String, FormulaError> {
        let mut name = String::new();
        let mut letters = self.rest().char_indices().skip(1);
        while let Some((offset, letter)) = letters.next() {
            match letter {
                letter if letter == quote => {
                    self.at += offset + 1;
                    return Ok(name);
                }
                '\\' => name.extend(letters.next().map(|(_, escaped)| escaped)),
                other => name.push(other),
            }
        }
        let span = Span::new(self.at, self.at + 1);
        Err(match quote {
            '`' => FormulaError::new(span, "this backtick is never closed")
                .with_hint("close the column's name with another `"),
            _ => FormulaError::new(span, "this quote is never closed")
                .with_hint("close the level with the same quote, as in \"night\""),
        })
    }

    fn read_number(&mut self) -> Result<TokenKind, FormulaError> {
        let start = self.at;
        self.skip_while(|letter| letter.is_ascii_digit());
        if self.peek() == Some('.') {
            self.at += 1;
            self.skip_while(|letter| letter.is_ascii_digit());
        }
        self.read_exponent();
        let end = self.at;
        let tail = self.skip_while(continues_name);
        let read = &self.text[start..end];
        let span = Span::new(start, self.at);
        if !tail.is_empty() {
            let message = format!("a number runs into a name in \"{read}{tail}\"");
            return Err(FormulaError::new(span, message).with_hint(format!(
                "write I({read} * {tail}) for a product, or `{read}{tail}` for a column"
            )));
        }
        match read.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(TokenKind::Number(value)),
            _ => Err(
                FormulaError::new(span, format!("the number {read} is too large"))
                    .with_hint("numbers go up to about 1.8e308"),
            ),
        }
    }

    fn read_exponent(&mut self) {
        let rest = self.rest().strip_prefix(['e', 'E']).unwrap_or("");
        let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        if digits.starts_with(|letter: char| letter.is_ascii_digit()) {
            self.at += 1 + rest.len() - digits.len();
            self.skip_while(|letter| letter.is_ascii_digit());
        }
    }

    fn read_symbol(&mut self) -> Result<TokenKind, FormulaError> {
        if self.rest().starts_with("::") {
            let span = Span::new(self.at, self.at + 2);
            return Err(FormulaError::new(span, "functions have no packages here")
                .with_hint("name the function alone, as in ns(x, df = 4)"));
        }
        for (written, kind) in SYMBOLS {
            let is_inner = matches!(kind, TokenKind::Equals | TokenKind::Compare(_));
            if (!is_inner || self.depth > 0) && self.rest().starts_with(written) {
                self.at += written.len();
                self.depth = match kind {
                    TokenKind::Open => self.depth + 1,
                    TokenKind::Close => self.depth.saturating_sub(1),
                    _ => self.depth,
                };
                return Ok(kind.clone());
            }
        }
        let letter = self.peek().unwrap_or(' ');
        let span = Span::new(self.at, self.at + letter.len_utf8());
        let message = format!("the character {letter:?} has no meaning here");
        let is_after = letter == '=' && self.text[..self.at].contains('~');
        let hint = if is_after {
            "arguments stand inside the parentheses of a function, as in gp(x, k = 30)"
        } else {
            letter_advice(letter)
        };
        Err(FormulaError::new(span, message).with_hint(hint))
    }
}

/// Longer symbols come before their prefixes.
const SYMBOLS: &[(&str, TokenKind)] = &[
    ("%in%", TokenKind::In),
    ("||", TokenKind::DoublePipe),
    ("**", TokenKind::Caret),
    ("|", TokenKind::Pipe),
    ("*", TokenKind::Star),
    (".", TokenKind::Dot),
    ("+", TokenKind::Plus),
    ("-", TokenKind::Minus),
    ("\u{2212}", TokenKind::Minus),
    ("/", TokenKind::Slash),
    ("^", TokenKind::Caret),
    (":", TokenKind::Colon),
    ("~", TokenKind::Tilde),
    (",", TokenKind::Comma),
    ("==", TokenKind::Compare(ComparisonOperator::Equal)),
    ("!=", TokenKind::Compare(ComparisonOperator::Unequal)),
    ("<=", TokenKind::Compare(ComparisonOperator::AtMost)),
    (">=", TokenKind::Compare(ComparisonOperator::AtLeast)),
    ("<", TokenKind::Compare(ComparisonOperator::Below)),
    (">", TokenKind::Compare(ComparisonOperator::Above)),
    ("=", TokenKind::Equals),
    ("(", TokenKind::Open),
    (")", TokenKind::Close),
];

fn letter_advice(letter: char) -> &'static str {
    match letter {
        '=' => "the response and the terms are joined by ~",
        '"' | '\'' => "put names with spaces in backticks, as in `my column`",
        '$' => "columns are named alone: height, not table$height",
        '[' | ']' | '{' | '}' => "group with ( and )",
        '<' | '>' | '!' => "compare numbers inside I(...), as in I(age > 65)",
        '&' => "write a:b for an interaction",
        '%' => "the only operator spelt with % is %in%",
        _ => "put unusual names in backticks, as in `my column`",
    }
}

fn starts_name(letter: char) -> bool {
    letter == '_' || letter == '.' || unicode_ident::is_xid_start(letter)
}

fn continues_name(letter: char) -> bool {
    letter == '.' || unicode_ident::is_xid_continue(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Option<String> {
        match split_tokens(text).ok()?.pop()?.kind {
            TokenKind::Name(name) => Some(name),
            _ => None,
        }
    }

    #[test]
    fn names_may_be_dotted_unicode_or_backticked() {
        for plain in [
            "x",
            "Sepal.Length",
            "größe",
            "身長",
            "_id",
            ".hidden",
            "e\u{301}",
        ] {
            assert_eq!(name(plain).as_deref(), Some(plain));
            assert_eq!(quote_name(plain), plain);
        }
        assert_eq!(name("`my col`").as_deref(), Some("my col"));
    }

    #[test]
    fn quoting_any_name_reads_back_as_that_name() {
        for odd in [
            "my col",
            "a`b",
            "back\\slash",
            "1st",
            "I(x)",
            "a:b",
            "~",
            "",
        ] {
            assert_eq!(name(&quote_name(odd)).as_deref(), Some(odd));
        }
    }

    #[test]
    fn numbers_have_points_and_exponents() {
        for (text, value) in [("2", 2.0), (".5", 0.5), ("1e-3", 1e-3), ("2.5E2", 250.0)] {
            assert_eq!(
                split_tokens(text).unwrap()[0].kind,
                TokenKind::Number(value)
            );
        }
    }
}
