//! The command: its help, a measured step, and its error messages.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_lehr-lab"))
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap()
}

fn answered(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn every_command_has_help_with_examples() {
    for command in [&["bench"][..], &["bench", "step"], &["paper"]] {
        let help = answered(&[command, &["--help"]].concat());
        assert!(help.contains("Examples:"), "{command:?}: {help}");
        assert!(help.contains("--json"), "{command:?}: {help}");
    }
}

#[test]
fn bench_step_measures_what_was_asked() {
    let asked = [
        ("chain_steps", 4),
        ("dim", 6),
        ("rows", 1000),
        ("batch", 64),
        ("surrogate_rows", 32),
        ("lanes", 1),
        ("threads", 1),
    ];
    let mut arguments = vec!["bench".to_owned(), "step".into(), "--json".into()];
    for (name, value) in asked {
        arguments.push(format!("--{}={value}", name.replace('_', "-")));
    }
    arguments.push("--steps=50".into());
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let json: serde_json::Value = serde_json::from_str(&answered(&arguments)).unwrap();
    assert!(json["microseconds_per_step"].as_f64().unwrap() > 0.0);
    assert!(json["compile_milliseconds"].as_f64().unwrap() > 0.0);
    for (name, value) in asked {
        assert_eq!(json[name], value, "{name}");
    }
}

#[test]
fn a_table_of_the_paper_without_its_data_says_where_to_put_which_file() {
    for (table, file) in [
        ("surrogates", "higgs.parquet"),
        ("imbalance", "susy.parquet"),
    ] {
        let error = refused(&["paper", table, "--data", "nowhere"]);
        for part in [file, "nowhere", "--data", "--quick"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

#[test]
fn tables_and_lengths_that_make_no_sense_are_refused() {
    let error = refused(&["paper", "figures"]);
    assert!(error.contains("convergence"), "{error}");
    let error = refused(&["paper", "timing", "--quick", "--iterations", "3"]);
    assert!(
        error.contains("--iterations: expected at least 100"),
        "{error}"
    );
    let error = refused(&["bench", "step", "--rows", "0"]);
    assert!(error.contains("--rows: expected at least 1"), "{error}");
}
