//! Several responses in one fit, from the command line.

use std::fmt::Write;

use serde_json::Value;

use crate::fixture::{Noise, Scratch};

/// Two responses whose group effects have a correlation of 0.8, and a count that depends on the
/// first of them.
fn tables(scratch: &Scratch) {
    let mut noise = Noise(21);
    let mut wide = String::from("one,two,count,x,g\n");
    for group in 0..80 {
        let (first, other) = (noise.normal(), noise.normal());
        let second = 0.8 * first + 0.6 * other;
        for _ in 0..6 {
            let x = noise.normal();
            let one = 1.0 + 0.5 * x + first + 0.5 * noise.normal();
            let two = -1.0 - 0.3 * x + 1.5 * second + noise.normal();
            let count = (0.5 + 0.4 * first + 0.3 * noise.normal()).exp().round();
            let _ = writeln!(wide, "{one},{two},{count},{x},{group}");
        }
    }
    scratch.write("wide.csv", &wide);
}

fn read(scratch: &Scratch, name: &str) -> String {
    std::fs::read_to_string(scratch.path(name)).unwrap()
}

/// The mean and the standard deviation of a coefficient.
fn moments(json: &Value, name: &str) -> (f64, f64) {
    let all = json["coefficients"].as_array().unwrap();
    let one = all.iter().find(|one| one["name"] == name);
    let one = one.unwrap_or_else(|| panic!("{name} in {json}"));
    (one["mean"].as_f64().unwrap(), one["sd"].as_f64().unwrap())
}

/// Collapsed fits compared with the truth, and with chains over all latents of the same model.
#[test]
fn tied_effects_are_those_that_rows_were_drawn_with_and_that_chains_find() {
    let scratch = Scratch::new();
    tables(&scratch);
    let json = scratch.judged(&[
        "fit",
        "mvbind(one, two) ~ x + (1 |p| g)",
        "wide.csv",
        "-o",
        "fit.lehr",
    ]);
    assert_eq!(json["method"], "collapse");
    assert_eq!(json["n_rows"], 480);
    for (name, truth) in [
        ("one.x", 0.5),
        ("two.x", -0.3),
        ("sd(one.g)", 1.0),
        ("sd(two.g)", 1.5),
        ("one.sigma", 0.5),
        ("two.sigma", 1.0),
        ("cor(g, one.Intercept, two.Intercept)", 0.8),
    ] {
        let (mean, sd) = moments(&json, name);
        assert!(
            sd < 0.2 && (mean - truth).abs() < 4.0 * sd,
            "{name}: {mean} ± {sd}"
        );
    }
    let formula = "mvbind(one, two) ~ x + (1 |p| g)";
    let how = ["--method", "nuts", "--draws", "4000"];
    let chains = scratch.judged(&[&["fit", formula, "wide.csv"], &how[..]].concat());
    for one in json["coefficients"].as_array().unwrap() {
        let name = one["name"].as_str().unwrap();
        let ((mean, sd), (expected, spread)) = (moments(&json, name), moments(&chains, name));
        assert!(
            (mean - expected).abs() < 0.15 * sd,
            "{name}: {mean} and {expected}, sd {sd}"
        );
        assert!(
            (sd / spread - 1.0).abs() < 0.12,
            "{name}: {sd} and {spread}"
        );
    }
}

/// Without shared effects the evidence is the product of two, and the coefficients are those of two
/// fits.
#[test]
fn responses_that_share_nothing_are_those_of_two_fits() {
    let scratch = Scratch::new();
    tables(&scratch);
    let both = scratch.judged(&["fit", "mvbind(one, two) ~ x + (1 | g)", "wide.csv"]);
    let evidence = |json: &Value| json["evidence"]["mean"].as_f64().unwrap();
    let mut sum = 0.0;
    for response in ["one", "two"] {
        let alone = scratch.judged(&["fit", &format!("{response} ~ x + (1 | g)"), "wide.csv"]);
        sum += evidence(&alone);
        for (name, same) in [
            ("x", format!("{response}.x")),
            ("sd(g)", format!("sd({response}.g)")),
        ] {
            let ((mean, sd), (expected, _)) = (moments(&both, &same), moments(&alone, name));
            assert!(
                (mean - expected).abs() < 0.15 * sd,
                "{same}: {mean} and {expected}"
            );
        }
    }
    assert!(
        (evidence(&both) - sum).abs() < 0.1,
        "{} and {sum}",
        evidence(&both)
    );
}

/// A fit of a number and a count with correlated group effects.
fn mixed() -> Scratch {
    let scratch = Scratch::new();
    tables(&scratch);
    let formula = "mvbind(one, count) ~ x + (1 |p| g)";
    let model = ["fit", formula, "wide.csv", "--family", "gaussian,poisson"];
    let how = ["--method", "collapse", "-o", "fit.lehr"];
    scratch.judged(&[&model[..], &how[..]].concat());
    scratch
}

/// The stdout of a command, whatever the verdict.
fn said(scratch: &Scratch, command: &str) -> String {
    let words: Vec<&str> = command.split(' ').collect();
    scratch
        .run(&[&words[..], &["--accept-warnings"]].concat())
        .stdout
}

#[test]
fn every_response_is_predicted_and_one_can_be_asked_for() {
    let scratch = mixed();
    said(&scratch, "predict fit.lehr wide.csv -o all.csv --only");
    let text = read(&scratch, "all.csv");
    let head = text.lines().next().unwrap();
    assert!(
        head.starts_with("one_mean,one_mean_sd") && head.contains(",count_mean,"),
        "{head}"
    );
    said(
        &scratch,
        "predict fit.lehr wide.csv -o one.csv --only --response count",
    );
    assert!(read(&scratch, "one.csv").starts_with("count_mean,"));
    let effects = said(&scratch, "effects fit.lehr x wide.csv --response count");
    assert!(effects.contains("the mean of count"), "{effects}");
    for (arguments, expected) in [
        (&["effects", "fit.lehr", "x"][..], "--response one"),
        (
            &["effects", "fit.lehr", "x", "--response", "three"],
            "the responses are one, count",
        ),
    ] {
        let error = scratch.expect(2, arguments).stderr;
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn all_responses_of_a_row_are_scored_together() {
    let scratch = mixed();
    let both = said(&scratch, "evaluate fit.lehr wide.csv");
    assert!(
        both.contains("log likelihood per row") && !both.contains("rmse"),
        "{both}"
    );
    let one = said(&scratch, "evaluate fit.lehr wide.csv --response one");
    assert!(one.contains("rmse"), "{one}");
    let mut loo = scratch.command(&["loo", "fit.lehr", "wide.csv", "--json"]);
    let loo = loo.output().unwrap();
    let loo: Value = serde_json::from_slice(&loo.stdout).unwrap();
    assert_eq!(loo["n_rows"], 480);
    scratch.run(&["report", "fit.lehr", "-o", "all.html"]);
    assert!(read(&scratch, "all.html").contains("cor(g, one.Intercept, count.Intercept)"));
    scratch.run(&["report", "fit.lehr", "-o", "one.html", "--response", "one"]);
    assert!(!read(&scratch, "one.html").contains("count.Intercept"));
}
