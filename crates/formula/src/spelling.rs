//! Hints with the probable meaning of a misspelt name.

use lehr_spelling::nearest;

use crate::syntax::quote_name;

/// A hint that names the nearest candidate or, if none is near, lists the candidates.
pub(crate) fn suggestion<S: AsRef<str>>(name: &str, owner: &str, candidates: &[S]) -> String {
    if let Some(near) = nearest(name, candidates) {
        return format!("did you mean \"{near}\"?");
    }
    let shown: Vec<String> = candidates
        .iter()
        .take(5)
        .map(|candidate| quote_name(candidate.as_ref()).into_owned())
        .collect();
    match candidates.len() - shown.len() {
        _ if shown.is_empty() => format!("{owner} has none"),
        0 => format!("{owner} has {}", shown.join(", ")),
        more => format!("{owner} has {} and {more} more", shown.join(", ")),
    }
}
