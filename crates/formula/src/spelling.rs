//! Hints with the probable meaning of a misspelt name.

use lehr_spelling::nearest;

use crate::error::{FormulaError, Span};
use crate::syntax::quote_name;

/// The error for an argument that a call does not have, with the nearest one it has.
pub(crate) fn unknown_option(call: &str, name: &str, span: Span, known: &[&str]) -> FormulaError {
    let message = format!("{call}(...) has no argument \"{name}\"");
    FormulaError::new(span, message).with_hint(suggestion(name, call, known))
}

/// A hint that names the nearest candidate or, if none is near, lists the candidates.
pub(crate) fn suggestion<S: AsRef<str>>(name: &str, owner: &str, candidates: &[S]) -> String {
    if let Some(near) = nearest(name, candidates) {
        return format!("did you mean \"{near}\"?");
    }
    let shown = candidates.iter().take(5);
    let shown: Vec<_> = shown
        .map(|candidate| quote_name(candidate.as_ref()))
        .collect();
    match candidates.len() - shown.len() {
        _ if shown.is_empty() => format!("{owner} has none"),
        0 => format!("{owner} has {}", shown.join(", ")),
        more => format!("{owner} has {} and {more} more", shown.join(", ")),
    }
}
