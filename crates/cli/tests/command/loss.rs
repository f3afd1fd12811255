//! Outputs that would overwrite something else are refused before any work, by their content and
//! not by their name.

use std::path::Path;
use std::process::Stdio;

use crate::fixture::{Ended, QUICK, Scratch, csv, files, fitted};

/// A folder with a table, a fit to it, and the report of the fit.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("d.csv", &csv(60, 31));
    std::fs::copy(fitted().path("fit.lehr"), scratch.path("g.lehr")).unwrap();
    scratch
}

fn all_bytes(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let names = files(&scratch.path("")).into_iter();
    names
        .map(|name| {
            let bytes = std::fs::read(scratch.path(&name)).unwrap();
            (name, bytes)
        })
        .collect()
}

/// The message of a command that refused to overwrite a file.
fn refused(scratch: &Scratch, arguments: &[&str]) -> String {
    let before = all_bytes(scratch);
    let ended = scratch.expect(2, arguments);
    assert_eq!(ended.stdout, "", "{arguments:?}");
    assert!(all_bytes(scratch) == before, "{arguments:?} changed a file");
    ended.stderr
}

/// Runs a command that must complete, whatever its verdict on the fit.
fn done(scratch: &Scratch, arguments: &[&str]) {
    let ended = scratch.run(arguments);
    let code = ended.code;
    assert!(
        matches!(code, Some(0 | 1)),
        "{arguments:?}: {}",
        ended.stderr
    );
}

fn fit<'a>(table: &'a str, output: &'a str) -> Vec<&'a str> {
    let mut arguments = vec!["fit", "y ~ x1", table, "-o", output];
    arguments.extend(QUICK);
    arguments
}

#[test]
fn an_output_that_is_an_input_is_refused_even_by_force() {
    let scratch = scratch();
    let commands: [Vec<&str>; 5] = [
        fit("d.csv", "d.csv"),
        vec!["predict", "g.lehr", "d.csv", "-o", "d.csv"],
        vec!["report", "g.lehr", "-o", "g.lehr"],
        vec!["compare", "y ~ x1", "d.csv", "--report", "d.csv"],
        vec![
            "compare", "y ~ x1", "d.csv", "--test", "d.csv", "--report", "./d.csv",
        ],
    ];
    for mut arguments in commands {
        for _ in 0..2 {
            let error = refused(&scratch, &arguments);
            assert!(error.contains("the output is one of the inputs"), "{error}");
            arguments.push("--force");
        }
    }
}

#[cfg(unix)]
#[test]
fn an_input_is_known_by_any_path_and_link() {
    let scratch = scratch();
    std::fs::hard_link(scratch.path("d.csv"), scratch.path("hard.csv")).unwrap();
    std::os::unix::fs::symlink("d.csv", scratch.path("soft.csv")).unwrap();
    std::fs::hard_link(scratch.path("g.lehr"), scratch.path("h.html")).unwrap();
    let whole = scratch.path("d.csv");
    for output in ["hard.csv", "soft.csv", "./d.csv", whole.to_str().unwrap()] {
        let predict = ["predict", "g.lehr", "d.csv", "-o", output, "--force"];
        let error = refused(&scratch, &predict);
        assert!(error.contains("one of the inputs"), "{error}");
        let error = refused(&scratch, &fit("*.csv", output));
        assert!(error.contains("one of the inputs"), "{error}");
    }
    let error = refused(&scratch, &["report", "g.lehr", "-o", "h.html"]);
    assert!(error.contains("the same file as g.lehr"), "{error}");
    let error = refused(&scratch, &["draws", "h.html", "-o", "g.lehr", "--force"]);
    assert!(error.contains("extension"), "{error}");
}

#[test]
fn a_file_of_somebody_else_is_refused() {
    let scratch = scratch();
    let names = ["n.lehr", "n.html", "n.csv", "n.parquet", "n.arrow", "n.nc"];
    for name in names {
        scratch.write(name, "dear diary");
        let mut arguments = match Path::new(name).extension().unwrap().to_str().unwrap() {
            "lehr" => fit("d.csv", name),
            "html" => vec!["report", "g.lehr", "-o", name],
            _ => vec!["draws", "g.lehr", "-o", name],
        };
        for _ in 0..2 {
            let error = refused(&scratch, &arguments);
            assert!(error.contains("found another kind of file"), "{error}");
            arguments.push("--force");
        }
    }
    let error = refused(&scratch, &["demo", "-o", "n.html"]);
    assert!(error.contains("found another kind of file"), "{error}");
    scratch.write("f.lehr.checkpoint", "dear diary");
    let error = refused(&scratch, &fit("d.csv", "f.lehr"));
    assert!(
        error.contains("f.lehr.checkpoint: expected no file"),
        "{error}"
    );
    scratch.write("r.lehr.rows", "dear diary");
    let mut on_disk = fit("d.csv", "r.lehr");
    on_disk.extend(["--memory", "0"]);
    let error = refused(&scratch, &on_disk);
    assert!(error.contains("r.lehr.rows: expected no file"), "{error}");
}

#[test]
fn a_file_of_the_same_kind_or_another_of_ours_is_replaced_by_force_only() {
    let scratch = scratch();
    scratch.write("page.html", "<!doctype html><title>mine</title>");
    scratch.write("table.csv", "a,b\n1,2\n");
    std::fs::copy(scratch.path("g.lehr"), scratch.path("old.html")).unwrap();
    for (arguments, found) in [
        (
            ["report", "g.lehr", "-o", "page.html"],
            "found a page that lehr did not write",
        ),
        (["report", "g.lehr", "-o", "old.html"], "found a saved fit"),
        (
            ["draws", "g.lehr", "-o", "table.csv"],
            "found a table in text that lehr did not write",
        ),
    ] {
        let error = refused(&scratch, &arguments);
        assert!(error.contains(found), "{error}");
        assert!(error.contains("--force replaces it"), "{error}");
        let forced: Vec<&str> = arguments.iter().copied().chain(["--force"]).collect();
        done(&scratch, &forced);
        // From now on the file is one that lehr wrote.
        done(&scratch, &arguments);
    }
}

#[test]
fn what_we_wrote_is_known_by_its_content_and_replaced() {
    let scratch = scratch();
    for _ in 0..2 {
        for output in ["a.csv", "a.tsv", "a.parquet", "a.arrow", "a.nc"] {
            done(&scratch, &["draws", "g.lehr", "-o", output]);
        }
        for output in ["p.csv", "p.parquet", "p.arrow"] {
            done(&scratch, &["predict", "g.lehr", "d.csv", "-o", output]);
        }
        done(&scratch, &["report", "g.lehr", "-o", "page.html"]);
        scratch.run(&fit("d.csv", "f.lehr"));
    }
    scratch.write("empty.csv", "");
    done(&scratch, &["draws", "g.lehr", "-o", "empty.csv"]);
}

/// Runs a command with this on stdin.
fn piped(scratch: &Scratch, arguments: &[&str], input: &[u8]) -> (Ended, Vec<u8>) {
    use std::io::Write;
    let mut command = scratch.command(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    (Ended::new(&output), output.stdout)
}

#[test]
fn a_dash_is_stdin_and_stdout() {
    let scratch = scratch();
    let table = std::fs::read(scratch.path("d.csv")).unwrap();
    let (ended, bytes) = piped(&scratch, &fit("-", "-"), &table);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("x1"),
        "the summary is on stderr: {}",
        ended.stderr
    );
    let (ended, _) = piped(&scratch, &["summary", "-"], &bytes);
    assert!(ended.stdout.contains("x1"), "{}", ended.stderr);
    let (ended, scored) = piped(
        &scratch,
        &[
            "predict",
            "g.lehr",
            "-",
            "-o",
            "-",
            "-q",
            "--accept-warnings",
        ],
        &table,
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr, "");
    let head = String::from_utf8(scored).unwrap();
    assert!(
        head.starts_with("y,hit,x1,x2,color,site,hit_mean,"),
        "{head}"
    );
    assert_eq!(head.lines().count(), 61);
    for arguments in [["evaluate", "g.lehr", "-"], ["check", "-", "--quiet"]] {
        let input = if arguments[1] == "-" { &bytes } else { &table };
        let (ended, _) = piped(&scratch, &arguments, input);
        assert!(
            matches!(ended.code, Some(0 | 1)),
            "{arguments:?}: {}",
            ended.stderr
        );
        assert!(!ended.stdout.is_empty());
    }
    let (ended, _) = piped(&scratch, &["report", "-", "-o", "-"], &bytes);
    assert!(ended.stdout.starts_with("<!"), "{}", ended.stderr);
    let (ended, _) = piped(&scratch, &["draws", "-", "-o", "-"], &bytes);
    assert!(ended.stdout.starts_with("Intercept,x1"), "{}", ended.stderr);
    assert_eq!(files(&scratch.path("")), ["d.csv", "g.lehr"]);
}

#[test]
fn stdin_is_told_by_its_content_and_named_in_errors() {
    let scratch = scratch();
    let (ended, _) = piped(
        &scratch,
        &fit("-", "f.lehr"),
        b"y,x1\n1,2\n3,four\n5,6\n7,8\n",
    );
    assert_eq!(ended.code, Some(2));
    let told = "stdin:3:2: column \"x1\" expects a number, found \"four\"";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    let (ended, _) = piped(&scratch, &["predict", "-", "-", "-o", "p.csv"], b"");
    assert!(
        ended.stderr.contains("stdin was named twice"),
        "{}",
        ended.stderr
    );
    done(&scratch, &["draws", "g.lehr", "-o", "a.parquet"]);
    let parquet = std::fs::read(scratch.path("a.parquet")).unwrap();
    let mut arguments = vec!["fit", "x1 ~ Intercept", "-"];
    arguments.extend(QUICK);
    let (ended, _) = piped(&scratch, &arguments, &parquet);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
}
