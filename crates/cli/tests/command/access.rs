//! Files and folders that cannot be read or written: one clear line, code 2, old files unchanged.

use crate::fixture::{Scratch, csv, files, fitted};

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(60, 10));
    std::fs::copy(fitted().path("fit.lehr"), scratch.path("fit.lehr")).unwrap();
    scratch
}

/// One line that names the file first, perhaps a hint, nothing on stdout and no new file.
fn refused(scratch: &Scratch, arguments: &[&str], expected: &str) {
    let before = files(&scratch.path(""));
    let ended = scratch.expect(2, arguments);
    assert_eq!(ended.stdout, "", "{arguments:?}");
    assert_eq!(files(&scratch.path("")), before, "{arguments:?}");
    let mut lines = ended.stderr.lines();
    let first = lines.next().unwrap_or_default();
    assert!(first.starts_with(expected), "{arguments:?}: {first}");
    let rest: Vec<&str> = lines.collect();
    let is_hint = |line: &&str| line.starts_with("  hint: ");
    assert!(rest.len() <= 1 && rest.iter().all(is_hint), "{rest:?}");
    assert!(!ended.stderr.contains(".partial"), "{}", ended.stderr);
}

#[test]
fn a_failed_fit_leaves_the_old_file_as_it_was() {
    let scratch = scratch();
    let old = std::fs::read(fitted().path("fit.lehr")).unwrap();
    std::fs::write(scratch.path("fit.lehr"), &old).unwrap();
    let ended = scratch.expect(2, &["fit", "y ~ nope", "train.csv", "-o", "fit.lehr"]);
    assert!(ended.stderr.contains("no column \"nope\""));
    let kept = std::fs::read(scratch.path("fit.lehr")).unwrap();
    assert!(kept == old, "the old fit was changed");
}

#[test]
fn a_table_that_cannot_be_opened_is_named() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path("folder.csv")).unwrap();
    for (name, expected) in [
        ("none.csv", "none.csv: cannot open: "),
        ("gone/below.csv", "gone/below.csv: cannot open: "),
        ("train.csv/below.csv", "train.csv/below.csv: cannot open: "),
        ("folder.csv", "folder.csv: the folder has no table in it"),
        ("none-*.csv", "none-*.csv: "),
        (
            "fit.lehr",
            "fit.lehr: expected a table, found an unknown file extension",
        ),
    ] {
        refused(&scratch, &["fit", "y ~ x1", name], expected);
        refused(&scratch, &["evaluate", "fit.lehr", name], expected);
        let predict = ["predict", "fit.lehr", name, "-o", "scored.csv"];
        refused(&scratch, &predict, expected);
    }
}

#[test]
fn a_fit_that_cannot_be_opened_is_named() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path("folder.lehr")).unwrap();
    for (name, expected) in [
        ("none.lehr", "none.lehr: cannot open: "),
        ("train.csv/fit.lehr", "train.csv/fit.lehr: cannot open: "),
        ("folder.lehr", "folder.lehr: cannot "),
    ] {
        refused(&scratch, &["summary", name], expected);
        refused(&scratch, &["evaluate", name, "train.csv"], expected);
        refused(&scratch, &["report", name, "-o", "page.html"], expected);
    }
}

#[cfg(unix)]
#[test]
fn links_to_nothing_and_files_of_others_are_named() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let mut scratch = scratch();
    symlink("gone.csv", scratch.path("dangling.csv")).unwrap();
    symlink("gone.lehr", scratch.path("dangling.lehr")).unwrap();
    let fit = ["fit", "y ~ x1", "dangling.csv"];
    refused(&scratch, &fit, "dangling.csv: cannot open: ");
    let summary = ["summary", "dangling.lehr"];
    refused(&scratch, &summary, "dangling.lehr: cannot open: ");
    let name = "files that the user may not read";
    if !scratch.becomes_plain(name) {
        return;
    }
    let nothing = std::fs::Permissions::from_mode(0o000);
    for name in ["train.csv", "fit.lehr"] {
        std::fs::set_permissions(scratch.path(name), nothing.clone()).unwrap();
    }
    let fit = ["fit", "y ~ x1", "train.csv"];
    refused(&scratch, &fit, "train.csv: cannot open: Permission denied");
    let summary = ["summary", "fit.lehr"];
    refused(
        &scratch,
        &summary,
        "fit.lehr: cannot open: Permission denied",
    );
}

/// The commands that write, each to a file of this name.
fn writers(output: &str) -> [Vec<&str>; 6] {
    [
        vec!["fit", "y ~ x1", "train.csv", "-o", output],
        vec!["draws", "fit.lehr", "-o", output],
        vec!["predict", "fit.lehr", "train.csv", "-o", output],
        vec!["report", "fit.lehr", "-o", output],
        vec!["demo", "-o", output],
        vec!["compare", "y ~ x1", "train.csv", "--report", output],
    ]
}

#[test]
fn an_output_that_has_no_place_is_told_before_the_work() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path("folder.csv")).unwrap();
    for (output, expected) in [
        (
            "gone/out.csv",
            "gone/out.csv: cannot write: there is no folder gone",
        ),
        (
            "train.csv/out.csv",
            "train.csv/out.csv: cannot write: train.csv is no folder",
        ),
        (
            "folder.csv",
            "folder.csv: expected the name of a file, found a folder",
        ),
    ] {
        for arguments in writers(output) {
            refused(&scratch, &arguments, expected);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_allows_no_new_file_is_told_and_its_files_stay() {
    use std::os::unix::fs::PermissionsExt;
    let mut scratch = scratch();
    let folder = scratch.path("closed");
    std::fs::create_dir(&folder).unwrap();
    scratch.write("closed/out.csv", "old");
    if !scratch.becomes_plain("a folder that the user may not write to") {
        return;
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o500)).unwrap();
    for arguments in writers("closed/out.csv") {
        let expected = "closed/out.csv: cannot write: the folder closed does not allow it";
        refused(&scratch, &arguments, expected);
    }
    assert_eq!(std::fs::read(folder.join("out.csv")).unwrap(), b"old");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_not_replaced_and_a_full_one_is_told() {
    let scratch = scratch();
    for arguments in writers("/dev/full") {
        let expected = "/dev/full: expected the name of a file, found a device";
        refused(&scratch, &arguments, expected);
    }
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let mut command = scratch.command(&["summary", "fit.lehr"]);
    let output = command.stdout(full.unwrap()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.starts_with("the answer: cannot write: No space"),
        "{stderr}"
    );
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn a_file_of_another_form_is_told_what_names_are_known() {
    let scratch = scratch();
    let draws = ["draws", "fit.lehr", "-o", "draws.doc"];
    refused(
        &scratch,
        &draws,
        "draws.doc: cannot write a file of this extension",
    );
    let predict = ["predict", "fit.lehr", "train.csv", "-o", "scored.nc"];
    refused(
        &scratch,
        &predict,
        "scored.nc: cannot write a file of this extension",
    );
}

/// A shell in which a process has a limited address space.
#[cfg(target_os = "linux")]
#[test]
fn a_made_up_length_takes_no_memory() {
    let scratch = scratch();
    let mut bytes = std::fs::read(scratch.path("fit.lehr")).unwrap();
    for length in [u64::MAX, 1 << 40] {
        bytes[20..28].copy_from_slice(&length.to_le_bytes());
        std::fs::write(scratch.path("huge.lehr"), &bytes).unwrap();
        let script = "ulimit -v 2000000; exec \"$0\" --threads 1 summary huge.lehr";
        let output = std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_lehr")])
            .current_dir(scratch.path(""))
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("the rest is cut off"), "{stderr}");
    }
    let summary = ["summary", "/dev/zero"];
    refused(
        &scratch,
        &summary,
        "/dev/zero: expected a saved fit, found another kind of file",
    );
}
