//! How files start, how long they are, where `unsafe` may occur, and how many lines there are.

use std::collections::BTreeMap;

use crate::none;
use crate::source::{Source, sources};

/// The largest number of lines of a file.
const MOST_LINES: usize = 500;

/// Longer files, each with its reason.
const LONG: &[&str] = &[
    "crates/infer/src/train/mod.rs",
    "crates/infer/tests/truth/identity.rs",
];

#[test]
fn every_file_opens_with_a_sentence() {
    let silent = sources("rs").filter(|file| !file.text.starts_with("//! "));
    let silent: Vec<String> = silent.map(|file| file.path.clone()).collect();
    none("files that do not open with //!", &silent);
}

#[test]
fn no_file_is_long() {
    let long = |file: &Source| {
        let lines = file.text.lines().count();
        let is_long = lines > MOST_LINES && !LONG.contains(&file.path.as_str());
        is_long.then(|| format!("{}: {lines} lines", file.path))
    };
    let long: Vec<String> = sources("rs").filter_map(long).collect();
    none("files that are too long", &long);
}

#[test]
fn unsafe_code_lives_in_the_kernels_alone() {
    let inside = |file: &Source| file.path.starts_with("crates/graph/src/kernel");
    let mut found = Vec::new();
    for file in sources("rs").filter(|file| file.is_shipped() && !inside(file)) {
        // The workspace denies unsafe code, so a file needs this word to allow it.
        if file.text.contains("unsafe_code") {
            found.push(file.path.clone());
        }
    }
    none("unsafe outside of the kernels", &found);
}

/// Prints the source lines of every crate: lines that are neither blank nor only a comment, in
/// files that are shipped, without items under `#[cfg(test)]`. To see them: `cargo test --test
/// shape -- --nocapture lines`.
#[test]
fn lines() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in sources("rs").filter(|file| file.is_shipped()) {
        let parts: Vec<&str> = file.path.split('/').collect();
        let room = if parts[0] == "crates" {
            parts[1]
        } else {
            "lehr"
        };
        let text = file.without_tests();
        let code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        *counts.entry(room.into()).or_default() += text.lines().filter(code).count();
    }
    for (room, count) in &counts {
        println!("{count:>7} {room}");
    }
    println!("{:>7} in all", counts.values().sum::<usize>());
}
