//! Tables beyond the memory that a fit may use, and disks that are full.

use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::{Noise, QUICK, Scratch, csv, files};

const FORMULA: &str = "y ~ x1 + color + (1 | site)";

fn coefficients(json: &serde_json::Value) -> Vec<(String, f64, f64)> {
    let all = json["coefficients"].as_array().unwrap().iter();
    all.map(|one| {
        let name = one["name"].as_str().unwrap().to_owned();
        (
            name,
            one["mean"].as_f64().unwrap(),
            one["sd"].as_f64().unwrap(),
        )
    })
    .collect()
}

#[test]
fn rows_on_disk_give_the_fit_of_rows_in_memory() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(600, 21));
    let fit = |memory: &str| {
        let mut arguments = vec!["fit", FORMULA, "train.csv", "-o", "fit.lehr"];
        arguments.extend(QUICK);
        arguments.extend(["--memory", memory, "--draws", "1000"]);
        scratch.judged(&arguments)
    };
    let (near, far) = (fit("1GiB"), fit("0"));
    assert_eq!(far["choices"]["rows"], "on disk, shuffled");
    assert!(near["choices"].get("rows").is_none());
    assert_eq!(far["n_rows"], 600);
    assert_eq!(far["priors"], near["priors"]);
    for (one, other) in coefficients(&near).iter().zip(coefficients(&far)) {
        assert_eq!(one.0, other.0);
        assert!((one.1 - other.1).abs() < 0.3 * one.2, "{one:?} {other:?}");
    }
    assert_eq!(files(&scratch.path("")), ["fit.lehr", "train.csv"]);
}

#[test]
fn latents_of_rows_on_disk_are_integrated_part_by_part_as_those_in_memory() {
    let mut noise = Noise(31);
    let mut text = String::from("y,x\n");
    // More rows than a part has.
    for _ in 0..9000 {
        let x = noise.normal();
        let rate = (0.5 + 0.8 * x + 0.6 * noise.normal()).exp();
        let (mut count, mut product) = (0, noise.uniform());
        while product > (-rate).exp() {
            product *= noise.uniform();
            count += 1;
        }
        let _ = writeln!(text, "{count},{x}");
    }
    let scratch = Scratch::new();
    scratch.write("train.csv", &text);
    let fit = |memory: &str| {
        let family = ["--family", "poisson_lognormal", "--method", "full-rank"];
        let arguments = ["fit", "y ~ x", "train.csv", "--memory", memory];
        scratch.judged(&[&arguments[..], &family].concat())
    };
    let (near, far) = (fit("1GiB"), fit("0"));
    assert_eq!(far["choices"]["rows"], "on disk, shuffled");
    assert_eq!(far["choices"]["start"], "quadrature");
    for (one, other) in coefficients(&near).iter().zip(coefficients(&far)) {
        assert_eq!(one.0, other.0);
        assert!((one.1 - other.1).abs() < 1e-6 * one.2, "{one:?} {other:?}");
    }
}

#[test]
fn mistakes_in_rows_on_disk_are_told_as_those_in_memory() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(60, 22).replace("\ns", "\n"));
    let text = csv(60, 22);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[30] = "1,1,inf,2,red,s1";
    scratch.write("infinite.csv", &lines.join("\n"));
    let error = |table: &str, more: &[&str]| {
        let all = ["fit", "y ~ x1", table, "--memory", "0"];
        let all: Vec<&str> = all.iter().chain(more).copied().collect();
        scratch.expect(2, &all).stderr
    };
    assert!(error("infinite.csv", &[]).contains("the first in row 30"));
    assert!(
        error("train.csv", &["--method", "dais", "--family", "student"])
            .contains("expected rows in memory")
    );
    assert!(error("train.csv", &["--memory", "much"]).contains("such as 512MB"));
    assert_eq!(files(&scratch.path("")), ["infinite.csv", "train.csv"]);
}

#[test]
fn a_killed_fit_finds_its_rows_again() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(2000, 23));
    let arguments = [
        "fit",
        "hit ~ x1",
        "train.csv",
        "-o",
        "fit.lehr",
        "--memory",
        "0",
        "--method",
        "mf",
        "--checkpoint-every",
        "0.05",
        "--iterations",
        "20000",
    ];
    let mut command = scratch.command(&arguments);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let clock = Instant::now();
    while !scratch.path("fit.lehr.checkpoint").exists() {
        assert!(clock.elapsed() < Duration::from_secs(60), "no checkpoint");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let rows = std::fs::read(scratch.path("fit.lehr.rows")).unwrap();
    let resumed: Vec<&str> = arguments.iter().copied().chain(["--resume"]).collect();
    let json = scratch.judged(&resumed);
    assert_eq!(json["iterations"], 20000);
    assert_eq!(files(&scratch.path("")), ["fit.lehr", "train.csv"]);
    // The fit can also be restarted without them.
    std::fs::write(scratch.path("fit.lehr.rows"), rows).unwrap();
    let mut anew = vec!["fit", "hit ~ x1", "train.csv", "-o", "fit.lehr"];
    anew.extend(QUICK);
    scratch.judged(&anew);
    assert_eq!(files(&scratch.path("")), ["fit.lehr", "train.csv"]);
    scratch.write("fit.lehr.rows", "somebody's notes");
    scratch.judged(&anew);
    assert!(scratch.path("fit.lehr.rows").exists());
}

/// The first scratch folder of a conversion in this folder that has an owner.
fn scattered(scratch: &Scratch) -> Option<String> {
    let names = files(&scratch.path("")).into_iter();
    names
        .filter(|name| name.starts_with(".lehr-scatter-"))
        .find(|name| scratch.path(name).join("owner").exists())
}

#[test]
fn what_a_killed_conversion_left_goes_with_the_next_fit_beside_it() {
    let scratch = Scratch::new();
    scratch.write("large.csv", &csv(150_000, 25));
    scratch.write("small.csv", &csv(100, 26));
    let fit = |table: &'static str, memory: &'static str| {
        let mut arguments = vec!["fit", "y ~ x1 + x2", table, "-o", "fit.lehr"];
        arguments.extend(QUICK);
        arguments.extend(["--memory", memory]);
        arguments
    };
    for (table, memory) in [("small.csv", "0"), ("small.csv", "1GiB")] {
        let mut command = scratch.command(&fit("large.csv", "0"));
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let clock = Instant::now();
        while scattered(&scratch).is_none() {
            assert!(clock.elapsed() < Duration::from_secs(60), "no conversion");
            std::thread::sleep(Duration::from_millis(1));
        }
        // Another fit leaves the folder of a running process alone.
        scratch.run(&["fit", "y ~ x1", "none.csv", "-o", "other.lehr"]);
        assert!(
            scattered(&scratch).is_some(),
            "it was taken from the living"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            scattered(&scratch).is_some(),
            "it was done before it was killed"
        );
        scratch.run(&fit(table, memory));
        let expected = ["fit.lehr", "large.csv", "small.csv"];
        assert_eq!(files(&scratch.path("")), expected);
    }
}

/// A shell in which no file can grow beyond some kilobytes, as on a full disk.
#[cfg(target_os = "linux")]
fn on_a_full_disk(scratch: &Scratch, arguments: &[&str]) -> crate::fixture::Ended {
    let script = "trap '' XFSZ; ulimit -f 4; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_lehr")])
        .args(arguments)
        .current_dir(scratch.path(""))
        .output()
        .unwrap();
    crate::fixture::Ended::new(&output)
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_clear_line_and_leaves_old_files_as_they_were() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(300, 24));
    let mut fit = vec!["fit", "y ~ x1", "train.csv", "-o", "fit.lehr"];
    fit.extend(QUICK);
    scratch.run(&fit);
    let report = ["report", "fit.lehr", "-o", "page.html"];
    let draws = ["draws", "fit.lehr", "-o", "draws.csv", "--accept-warnings"];
    let predict = [
        "predict",
        "fit.lehr",
        "train.csv",
        "-o",
        "scored.csv",
        "--accept-warnings",
    ];
    // A fit that could not be saved can be resumed, except if a restart is requested.
    fit.push("--restart");
    let mut stored = fit.clone();
    stored.extend(["--memory", "0"]);
    for arguments in [&report[..], &draws, &predict] {
        scratch.run(arguments);
    }
    let written = ["fit.lehr", "page.html", "draws.csv", "scored.csv"];
    let contents = || written.map(|name| std::fs::read(scratch.path(name)).unwrap());
    let before = contents();
    let names = files(&scratch.path(""));
    for arguments in [&fit[..], &stored, &report, &draws, &predict] {
        let ended = on_a_full_disk(&scratch, arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        let lines = ended.stderr.trim_end().lines();
        let told: Vec<&str> = lines.filter(|line| !line.contains("hint:")).collect();
        assert_eq!(told.len(), 1, "{arguments:?}: {}", ended.stderr);
        assert!(
            !ended.stderr.contains("should not have"),
            "{}",
            ended.stderr
        );
    }
    assert!(contents() == before, "an old file was changed");
    std::fs::remove_file(scratch.path("fit.lehr.checkpoint")).unwrap();
    assert_eq!(files(&scratch.path("")), names);
}
