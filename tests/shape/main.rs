//! The structure of the repository: arrows between crates and between modules, cycles, lengths and
//! widths of files, tuple parameters, `unsafe`, and the number of lines.

mod arrow;
mod cycle;
mod file;
mod import;
mod layer;
mod manifest;
mod module;
mod path;
mod signature;
mod source;
mod token;
mod width;

/// Fails with all findings, one per line.
fn none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

/// The lines of a list of this folder, without comments and blank lines.
fn entries(text: &str) -> impl Iterator<Item = &str> {
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default());
    lines.map(str::trim_end).filter(|line| !line.is_empty())
}
