//! No line is wider than the house allows, but for those that `wide.txt` counts, which can only become fewer.

use std::collections::BTreeMap;

use crate::source::sources;
use crate::{entries, none};

/// No line of Rust or Markdown has more characters.
const MOST_CHARACTERS: usize = 120;

/// The numbers of the lines that are too wide, and their characters.
fn wide(text: &str) -> Vec<(usize, usize)> {
    let widths = text.lines().map(|line| line.chars().count());
    let numbered = (1..).zip(widths);
    numbered
        .filter(|(_, width)| *width > MOST_CHARACTERS)
        .collect()
}

/// What is to be done about the wide lines of a file, of which some are allowed.
fn faults(path: &str, text: &str, allowed: usize) -> Vec<String> {
    let found = wide(text);
    if found.len() > allowed {
        let lines = found.iter();
        return lines
            .map(|(line, width)| {
                format!("{path}:{line}: {width} characters, {allowed} such lines are allowed")
            })
            .collect();
    }
    match found.len() {
        count if count == allowed => Vec::new(),
        0 => vec![format!(
            "{path}: remove this line of wide.txt, no line is wide"
        )],
        count => vec![format!(
            "{path}: {count}  (write so in wide.txt, where it says {allowed})"
        )],
    }
}

#[test]
fn no_line_is_wide() {
    let list = entries(include_str!("wide.txt")).map(|line| line.rsplit_once(": ").unwrap());
    let mut allowed: BTreeMap<&str, usize> = list
        .map(|(path, count)| (path, count.parse().unwrap()))
        .collect();
    let mut found = Vec::new();
    for file in sources("rs").chain(sources("md")) {
        let allowed = allowed.remove(file.path.as_str()).unwrap_or_default();
        found.extend(faults(&file.path, &file.text, allowed));
    }
    found.extend(
        allowed
            .keys()
            .map(|path| format!("{path}: remove it from wide.txt, it is no file")),
    );
    none(
        "lines of more than 120 characters, and what wide.txt says of them",
        &found,
    );
}

#[test]
fn characters_are_counted_and_not_bytes() {
    let text = format!("{}\n{}\n", "λ".repeat(120), "λ".repeat(121));
    assert_eq!(wide(&text), [(2, 121)]);
    assert_eq!(faults("a", &text, 1), [""; 0]);
    assert!(faults("a", &text, 0)[0].starts_with("a:2: 121 characters"));
    assert!(faults("a", &text, 2)[0].starts_with("a: 1  (write"));
    assert!(faults("a", "", 2)[0].starts_with("a: remove"));
}
