//! The bits of small fits: two runs are equal, and a changed bit and a lost line are found.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A case of the command and one of Rust, both quick.
const QUICK: [&str; 4] = ["--only", "formula/splines", "--only", "checkpoint/chains"];

fn golden(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lehr-lab"))
        .arg("golden")
        .args(arguments)
        .args(QUICK)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// A folder with the lines of a run.
fn recorded() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = golden(folder.path(), &["-o", "older.txt"]);
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(folder.path().join("older.txt")).unwrap();
    (folder, text)
}

/// The output of a run that is compared with these older lines.
fn against(folder: &TempDir, older: &str) -> (Option<i32>, String, String) {
    fs::write(folder.path().join("changed.txt"), older).unwrap();
    let output = golden(folder.path(), &["--against", "changed.txt"]);
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|one| String::from_utf8(one).unwrap());
    (output.status.code(), stdout, stderr)
}

#[test]
fn a_second_run_has_the_same_bits_and_what_is_planted_is_found() {
    let (folder, text) = recorded();
    assert!(text.lines().count() > 60, "{text}");
    let line = |quantity: &str| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.starts_with(quantity));
        line.unwrap_or_else(|| panic!("no {quantity} in {text}"))
            .to_owned()
    };
    let (draws, sentence) = (
        line("formula/splines/draws.draws.csv.sigma  "),
        line("checkpoint/chains/summary.verdict_sentence  "),
    );
    assert_eq!(against(&folder, &text).0, Some(0));
    let (hash, rest) = draws.split_once('#').unwrap();
    let flipped = if rest.starts_with('0') { "1" } else { "0" };
    let other = format!("{hash}#{flipped}{}", &rest[1..]);
    let changed = text
        .replace(&draws, &other)
        .replace(&format!("{sentence}\n"), "");
    let (code, stdout, stderr) = against(&folder, &changed);
    assert_eq!(code, Some(1), "{stderr}");
    let found: Vec<&str> = stdout
        .lines()
        .filter(|line| !line.starts_with(' '))
        .collect();
    assert_eq!(
        found,
        [
            "formula/splines/draws.draws.csv.sigma: numbers that are not shown differ",
            "checkpoint/chains/summary.verdict_sentence: only now",
        ]
    );
}

#[test]
fn numbers_of_other_vector_instructions_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let head = "# lehr-lab golden, form 1, vector instructions abacus\n";
    let (code, _, stderr) = against(&folder, head);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("found abacus"), "{stderr}");
    let (code, _, stderr) = against(&folder, "x,y\n1,2\n");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("expected a transcript"), "{stderr}");
}

#[test]
fn cases_are_listed_and_unknown_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = golden(folder.path(), &["--list"]);
    let listed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(listed, "formula/splines\ncheckpoint/chains\n");
    let output = Command::new(env!("CARGO_BIN_EXE_lehr-lab"))
        .args(["golden", "--only", "no such case"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}
