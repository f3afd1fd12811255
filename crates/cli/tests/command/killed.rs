//! Fits that are killed at random moments: no file is lost, no result is wrong, and no temporary
//! file remains.

use std::process::Stdio;
use std::time::{Duration, Instant};

use lehr::numeric::stream::Stream;
use lehr::table::Table;
use serde_json::Value;

use crate::fixture::{Scratch, csv, files};

/// The fits: in memory, shuffled on disk, from Parquet files in passes, and by chains.
const FITS: [(&str, &str, &[&str]); 4] = [
    (
        "hit ~ x1 + x2",
        "train.csv",
        &["--method", "mf", "--iterations", "6000"],
    ),
    (
        "hit ~ x1 + x2",
        "train.csv",
        &["--method", "mf", "--iterations", "6000", "--memory", "0"],
    ),
    (
        "hit ~ x1 + x2",
        "train.parquet",
        &["--method", "full-rank", "--memory", "0"],
    ),
    (
        "hit ~ x1",
        "train.csv",
        &["--method", "nuts", "--draws", "400"],
    ),
];

/// The number of fits to kill, which `LEHR_KILLS` can change.
fn kills() -> usize {
    let asked = std::env::var("LEHR_KILLS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(50)
}

fn prepared() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(3000, 41));
    let table = Table::read(scratch.path("train.csv")).unwrap();
    table.write(scratch.path("train.parquet")).unwrap();
    scratch
}

fn command<'a>((formula, table, more): (&'a str, &'a str, &'a [&'a str])) -> Vec<&'a str> {
    let mut arguments = vec!["fit", formula, table, "-o", "fit.lehr", "--seed", "3"];
    arguments.extend(["--checkpoint-every", "0.02"]);
    arguments.extend(more);
    arguments
}

/// The numbers of a completed fit, whatever its verdict is.
fn answer(scratch: &Scratch, arguments: &[&str]) -> (Value, Value) {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    let ended = scratch.run(&arguments);
    let done = matches!(ended.code, Some(0 | 1));
    assert!(done, "{arguments:?}: {}", ended.stderr);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    (json["coefficients"].clone(), json["verdict"].clone())
}

/// The same command as a user would repeat it after a crash.
fn again<'a>(scratch: &Scratch, arguments: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = arguments.to_vec();
    if scratch.path("fit.lehr.checkpoint").exists() {
        arguments.push("--resume");
    }
    arguments
}

/// Starts a fit and kills it after this time, if it is still running.
fn killed(scratch: &Scratch, arguments: &[&str], after: Duration) {
    let mut command = scratch.command(arguments);
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    if scratch.path("fit.lehr").exists() {
        let ended = scratch.run(&["summary", "fit.lehr"]);
        assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    }
}

#[test]
#[ignore = "minutes: make slow, or LEHR_KILLS=5"]
fn a_fit_that_is_killed_at_any_moment_ends_as_if_nothing_had_happened() {
    let mut stream = Stream::new(22, "kills", 0);
    for (place, fit) in FITS.into_iter().enumerate() {
        let arguments = command(fit);
        let quiet = prepared();
        let clock = Instant::now();
        let expected = answer(&quiet, &arguments);
        let whole = clock.elapsed();
        let mut left = (kills() + FITS.len() - 1 - place) / FITS.len();
        while left > 0 {
            let scratch = prepared();
            for _ in 0..left.min(3) {
                let after = whole.mul_f64(1.1 * stream.uniform());
                killed(&scratch, &again(&scratch, &arguments), after);
                left -= 1;
            }
            let found = answer(&scratch, &again(&scratch, &arguments));
            assert_eq!(found, expected, "{arguments:?}");
            let kept = ["fit.lehr", "train.csv", "train.parquet"];
            assert_eq!(files(&scratch.path("")), kept, "{arguments:?}");
        }
    }
}
