//! Names shortened to the available width such that different names stay different.

use std::collections::HashMap;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A name shortened to this many columns. The middle is left out, because the ends distinguish
/// names.
pub(crate) fn abbreviate_name(name: &str, columns: usize) -> String {
    let columns = columns.max(3);
    if name.width() <= columns {
        return name.into();
    }
    let tail = (columns - 1) / 3;
    let head = columns - 1 - tail;
    let end: Vec<char> = take_letters(name.chars().rev(), tail);
    let start: Vec<char> = take_letters(name.chars(), head);
    let end: String = end.into_iter().rev().collect();
    format!("{}…{end}", start.into_iter().collect::<String>())
}

/// Names shortened to this many columns. If that would make two of them equal, their common
/// beginning is left out.
pub(crate) fn abbreviate_names(names: &[&str], columns: usize) -> Vec<String> {
    let cut = |name: &&str| abbreviate_name(name, columns);
    let mut same: HashMap<String, Vec<&str>> = HashMap::new();
    for name in names {
        same.entry(cut(name)).or_default().push(name);
    }
    let label = |name: &&str| abbreviate_apart(name, &same[&cut(name)], columns);
    names.iter().map(label).collect()
}

/// The shortened name; if others look the same, without their common beginning.
fn abbreviate_apart(name: &str, others: &[&str], columns: usize) -> String {
    let others = others.iter().filter(|other| **other != name);
    let Some(shared) = others.clone().map(|other| common_prefix(name, other)).min() else {
        return abbreviate_name(name, columns);
    };
    let rest = |name: &str| {
        let rest: String = name.chars().skip(shared).collect();
        abbreviate_name(&format!("…{rest}"), columns)
    };
    let own = rest(name);
    // Names that still look the same share a longer beginning.
    let rivals: Vec<&str> = others.filter(|other| rest(other) == own).copied().collect();
    match rivals[..] {
        [] => own,
        _ => abbreviate_apart(name, &rivals, columns),
    }
}

/// The length of the common beginning of two names, in characters.
fn common_prefix(name: &str, other: &str) -> usize {
    let pairs = name.chars().zip(other.chars());
    pairs.take_while(|(a, b)| a == b).count()
}

/// Characters until the columns are full.
fn take_letters(letters: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut used = 0;
    letters
        .take_while(|letter| {
            used += letter.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_lose_their_middle() {
        assert_eq!(abbreviate_name("short", 16), "short");
        let cut = abbreviate_name("a_very_long_column_name[level_17]", 16);
        assert_eq!(cut, "a_very_lon…l_17]");
        assert!(abbreviate_name("名前名前名前名前名前", 9).width() <= 9);
    }

    #[test]
    fn names_that_differ_in_their_middle_stay_apart() {
        let names = [
            "number_of_children_in_household[yes]",
            "number_of_chickens_in_household[yes]",
            "number_of_chickens_in_hothouses[yes]",
            "number_of_chickens_on_household[yes]",
            "x",
        ];
        let labels = abbreviate_names(&names, 16);
        let mut distinct = labels.clone();
        distinct.sort();
        distinct.dedup();
        assert_eq!(distinct.len(), names.len(), "{labels:?}");
        assert!(labels.iter().all(|label| label.width() <= 16), "{labels:?}");
        assert!(labels[0].starts_with("…"), "{labels:?}");
        assert_eq!(abbreviate_names(&["same", "same"], 16), ["same", "same"]);
    }
}
