//! No line of Rust or Markdown is too wide, except tables and output in records.

use std::collections::BTreeSet;

use crate::none;
use crate::source::sources;

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

#[test]
fn no_line_is_wide() {
    let files = sources("rs").chain(sources("md"));
    let found = files.flat_map(|file| {
        let lines = wide(&file.path, &file.text).into_iter();
        lines.map(|(line, width)| format!("{}:{line}: {width} characters", file.path))
    });
    let found: Vec<String> = found.collect();
    none("lines of more than 120 characters", &found);
}

#[test]
fn characters_are_counted_and_not_bytes() {
    let text = format!("{}\n{}\n", "λ".repeat(120), "λ".repeat(121));
    assert_eq!(wide("a", &text), [(2, 121)]);
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
