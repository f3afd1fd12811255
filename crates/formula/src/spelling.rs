//! The name a misspelt one was probably meant to be.

use crate::syntax::quoted;

/// The candidate nearest to `name`, if one is near enough to be worth naming.
///
/// Distance is Damerau–Levenshtein (insert, delete, replace, swap neighbours), upper and
/// lower case count as equal, and a third of the letters may differ. The first of equals wins.
pub fn nearest<'a, S: AsRef<str>>(name: &str, candidates: &'a [S]) -> Option<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().collect();
    let allowed = (wanted.len() / 3).max(1);
    candidates
        .iter()
        .filter_map(|candidate| {
            let letters: Vec<char> = candidate.as_ref().to_lowercase().chars().collect();
            if letters.len().abs_diff(wanted.len()) > allowed {
                return None;
            }
            let away = distance(&wanted, &letters);
            // One letter for another is a different name, not a misspelling.
            let alike = away <= allowed && away < wanted.len().max(letters.len());
            alike.then_some((away, candidate.as_ref()))
        })
        .min_by_key(|&(away, _)| away)
        .map(|(_, candidate)| candidate)
}

/// A hint that names the nearest candidate or, if none is near, says what there is.
pub(crate) fn suggestion<S: AsRef<str>>(name: &str, owner: &str, candidates: &[S]) -> String {
    if let Some(near) = nearest(name, candidates) {
        return format!("did you mean \"{near}\"?");
    }
    let shown: Vec<String> = candidates
        .iter()
        .take(5)
        .map(|candidate| quoted(candidate.as_ref()).into_owned())
        .collect();
    match candidates.len() - shown.len() {
        _ if shown.is_empty() => format!("{owner} has none"),
        0 => format!("{owner} has {}", shown.join(", ")),
        more => format!("{owner} has {} and {more} more", shown.join(", ")),
    }
}

/// Edits between two words; a swap of neighbours counts once (optimal string alignment).
fn distance(left: &[char], right: &[char]) -> usize {
    let width = right.len() + 1;
    let mut before_last = vec![0; width];
    let mut last: Vec<usize> = (0..width).collect();
    for (i, &a) in left.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, &b) in right.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a == right[j - 1] && left[i - 1] == b {
                row[j + 1] = row[j + 1].min(before_last[j - 1] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[width - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(left: &str, right: &str) -> usize {
        let letters = |word: &str| word.chars().collect::<Vec<_>>();
        distance(&letters(left), &letters(right))
    }

    #[test]
    fn a_swap_costs_one_edit() {
        assert_eq!(between("hieght", "height"), 1);
        assert_eq!(between("kitten", "sitting"), 3);
        assert_eq!(between("", "abc"), 3);
        assert_eq!(between("same", "same"), 0);
    }

    #[test]
    fn case_is_forgiven_and_strangers_are_not_offered() {
        assert_eq!(nearest("HEIGHT", &["weight", "height"]), Some("height"));
        assert_eq!(nearest("z", &["x", "y"]), None);
        assert_eq!(nearest("altitude", &["x", "y"]), None);
        assert_eq!(nearest("x10", &["x1", "y"]), Some("x1"));
    }
}
