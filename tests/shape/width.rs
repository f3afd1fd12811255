//! No line is too wide, except for those that `wide.txt` counts, which can only become fewer.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::sources;
use crate::{entries, none};

/// The largest number of characters of a line of Rust or Markdown.
const MOST_CHARACTERS: usize = 120;

/// The folder of dated measurements. Their tables and output are as programs printed them, because
/// a record is not edited afterwards; its prose keeps to the width.
const RECORDS: &str = "lab/results/";

/// The numbers of the lines that are too wide, and their characters.
fn wide(path: &str, text: &str) -> Vec<(usize, usize)> {
    let printed = if path.starts_with(RECORDS) {
        printed_lines(text)
    } else {
        BTreeSet::new()
    };
    let widths = text.lines().map(|line| line.chars().count());
    let numbered = (1..).zip(widths);
    numbered
        .filter(|(line, width)| *width > MOST_CHARACTERS && !printed.contains(line))
        .collect()
}

/// The numbers of the lines of a page that are rows of tables or stand between code fences.
fn printed_lines(text: &str) -> BTreeSet<usize> {
    let mut is_code = false;
    let mut printed = BTreeSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        is_code ^= line.starts_with("```");
        if is_code || line.starts_with('|') {
            printed.insert(number);
        }
    }
    printed
}

/// The change that is needed for the wide lines of a file, of which some are allowed.
fn faults(path: &str, text: &str, allowed: usize) -> Vec<String> {
    let found = wide(path, text);
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
    assert_eq!(wide("a", &text), [(2, 121)]);
    assert_eq!(faults("a", &text, 1), [""; 0]);
    assert!(faults("a", &text, 0)[0].starts_with("a:2: 121 characters"));
    assert!(faults("a", &text, 2)[0].starts_with("a: 1  (write"));
    assert!(faults("a", "", 2)[0].starts_with("a: remove"));
}

#[test]
fn tables_and_output_are_wide_in_records_alone() {
    let long = "x".repeat(121);
    let text = format!("{long}\n| {long} |\n```text\n{long}\n```\n{long}\n");
    let lines = |path| wide(path, &text).into_iter().map(|(line, _)| line);
    assert_eq!(
        lines("lab/results/2026-11-16.md").collect::<Vec<_>>(),
        [1, 6]
    );
    assert_eq!(lines("docs/speed.md").collect::<Vec<_>>(), [1, 2, 4, 6]);
}
