//! Fits that are interrupted, killed and resumed.

use std::fmt::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::{Ended, Scratch, csv};

const FIT: [&str; 12] = [
    "fit",
    "hit ~ x1 + x2",
    "train.csv",
    "-o",
    "fit.lehr",
    "--method",
    "mf",
    "--start",
    "zero",
    "--checkpoint-every",
    "0.05",
    "--iterations",
];

fn arguments<'a>(iterations: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let all = FIT.iter().copied().chain([iterations]);
    all.chain(more.iter().copied()).collect()
}

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(2000, 9));
    scratch
}

/// Starts a long fit and waits for its first checkpoint.
fn started(scratch: &Scratch, iterations: &str) -> Child {
    checkpointed(scratch, &arguments(iterations, &[]))
}

/// Starts a fit and waits for its first checkpoint.
fn checkpointed(scratch: &Scratch, arguments: &[&str]) -> Child {
    let mut command = scratch.command(arguments);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let clock = Instant::now();
    while !scratch.path("fit.lehr.checkpoint").exists() {
        assert!(
            clock.elapsed() < Duration::from_secs(60),
            "no checkpoint was written"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn coefficients(scratch: &Scratch) -> serde_json::Value {
    let ended = scratch.run(&["summary", "fit.lehr", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    json["coefficients"].clone()
}

#[test]
fn a_killed_fit_is_resumed_to_the_same_end() {
    const STEPS: &str = "20000";
    let killed = scratch();
    let mut child = started(&killed, STEPS);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        !killed.path("fit.lehr").exists(),
        "it was done before it was killed"
    );
    killed.run(&arguments(STEPS, &["--resume"]));
    assert!(!killed.path("fit.lehr.checkpoint").exists());
    let whole = scratch();
    whole.run(&arguments(STEPS, &[]));
    assert_eq!(coefficients(&killed), coefficients(&whole));
}

#[cfg(unix)]
#[test]
fn an_interrupted_fit_says_how_to_resume() {
    const STEPS: &str = "10000000";
    let scratch = scratch();
    let child = started(&scratch, STEPS);
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let ended = Ended::new(&child.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("--resume continues from there"),
        "{}",
        ended.stderr
    );
    assert!(scratch.path("fit.lehr.checkpoint").exists());
    let error = scratch.expect(2, &arguments("500", &["--resume"])).stderr;
    assert!(
        error.contains("expected a checkpoint of this fit"),
        "{error}"
    );
    let before = std::fs::read(scratch.path("fit.lehr.checkpoint")).unwrap();
    let asked = scratch.expect(2, &arguments("500", &[])).stderr;
    let words = "--resume continues it, --restart starts anew";
    assert!(asked.contains(words), "{asked}");
    let after = std::fs::read(scratch.path("fit.lehr.checkpoint")).unwrap();
    assert!(before == after, "the checkpoint was lost");
    let both = scratch.expect(2, &arguments("500", &["--resume", "--restart"]));
    assert!(
        both.stderr.contains("cannot be used with"),
        "{}",
        both.stderr
    );
    scratch.run(&arguments("500", &["--restart"]));
    assert!(scratch.path("fit.lehr").exists() && !scratch.path("fit.lehr.checkpoint").exists());
}

#[test]
fn a_restart_that_fails_leaves_the_old_checkpoint() {
    let scratch = scratch();
    let mut child = started(&scratch, "10000000");
    child.kill().unwrap();
    child.wait().unwrap();
    let before = std::fs::read(scratch.path("fit.lehr.checkpoint")).unwrap();
    let mut fails = arguments("500", &["--restart"]);
    fails.extend(["--batch", "100000"]);
    scratch.expect(2, &fails);
    let after = std::fs::read(scratch.path("fit.lehr.checkpoint")).unwrap();
    assert!(before == after, "the checkpoint was lost");
}

#[cfg(unix)]
#[test]
fn a_fit_that_is_interrupted_before_it_trains_can_be_resumed() {
    const CHAIN: [&str; 17] = [
        "fit",
        "hit ~ x1 + x2",
        "train.csv",
        "-o",
        "fit.lehr",
        "--method",
        "sl-dais",
        "--start",
        "laplace",
        "--chain-steps",
        "1",
        "--surrogate-rows",
        "32",
        "--draws",
        "64",
        "--checkpoint-every",
        "0",
    ];
    let scratch = scratch();
    // The first checkpoint is written at the start.
    let child = checkpointed(&scratch, &CHAIN);
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
    let ended = Ended::new(&child.wait_with_output().unwrap());
    // A phase that cannot be interrupted ends at once, as other commands do; the saved state is the
    // same.
    assert!(matches!(ended.code, Some(2 | 130)), "{}", ended.stderr);
    let words = "--resume continues from there";
    assert!(ended.stderr.contains(words), "{}", ended.stderr);
    assert!(scratch.path("fit.lehr.checkpoint").exists());
    let resumed: Vec<&str> = CHAIN.iter().copied().chain(["--resume"]).collect();
    scratch.run(&resumed);
    assert!(scratch.path("fit.lehr").exists());
    assert!(!scratch.path("fit.lehr.checkpoint").exists());
}

#[test]
fn there_must_be_something_to_resume() {
    let error = scratch().expect(2, &arguments("10", &["--resume"])).stderr;
    assert!(error.contains("there is no unfinished fit"), "{error}");
}

#[cfg(unix)]
#[test]
fn interrupted_chains_keep_their_draws_and_can_be_resumed() {
    let scratch = scratch();
    let chains = |draws: &'static str| {
        let method = ["--method", "hmc", "--checkpoint-every", "0.05", "--draws"];
        let fit = ["fit", "hit ~ x1 + x2", "train.csv", "-o", "fit.lehr"];
        fit.into_iter()
            .chain(method)
            .chain([draws])
            .collect::<Vec<&str>>()
    };
    let child = checkpointed(&scratch, &chains("4000000"));
    // A checkpoint of this size contains draws from after the warm-up.
    let size = || std::fs::metadata(scratch.path("fit.lehr.checkpoint")).map_or(0, |one| one.len());
    let clock = Instant::now();
    while size() < 100_000 {
        assert!(
            clock.elapsed() < Duration::from_secs(60),
            "no draws were saved"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(sent.success());
    let ended = Ended::new(&child.wait_with_output().unwrap());
    assert!(ended.code.is_some_and(|code| code < 2), "{}", ended.stderr);
    assert!(
        ended.stdout.contains("--resume draws the rest"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("stopped: after"), "{}", ended.stdout);
    assert!(scratch.path("fit.lehr").exists() && scratch.path("fit.lehr.checkpoint").exists());
    assert!(!coefficients(&scratch).as_array().unwrap().is_empty());
}

/// Rows of two responses, whose random effects are integrated out in steps of many seconds.
fn slow_rows() -> String {
    let mut text = String::from("y,count,x,site\n");
    for row in 0..3000_u32 {
        let (x, site) = (f64::from(row * 37 % 101) / 50.0 - 1.0, row * 13 % 300);
        let noise = f64::from(row * 7919 % 1009) / 500.0 - 1.0;
        let count = (row * 31 + site) % 7;
        writeln!(text, "{},{count},{x},s{site}", 2.0 * x + noise).unwrap();
    }
    text
}

#[cfg(unix)]
#[test]
fn a_fit_that_does_not_notice_the_signal_ends_all_the_same() {
    let scratch = Scratch::new();
    scratch.write("slow.csv", &slow_rows());
    let fit = ["fit", "mvbind(y, count) ~ x + (1 |p| site)", "slow.csv"];
    let method = ["--family", "gaussian,poisson", "--method", "collapse"];
    let mut command = scratch.command(&[&fit[..], &method].concat());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(4));
    assert!(child.try_wait().unwrap().is_none(), "the fit was not slow");
    let sent = Command::new("kill").arg(child.id().to_string()).status();
    assert!(sent.unwrap().success());
    let clock = Instant::now();
    while child.try_wait().unwrap().is_none() && clock.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let ended = child.try_wait().unwrap();
    child.kill().unwrap();
    assert_eq!(ended.and_then(|ended| ended.code()), Some(130));
}
