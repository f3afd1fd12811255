//! Censored responses, effects of rows and latent covariates, from the command line.

use std::fmt::Write;

use crate::fixture::{Noise, Scratch};

const QUICK: [&str; 4] = ["--method", "full-rank", "--draws", "400"];

fn recovered(json: &serde_json::Value, name: &str, truth: f64) {
    let all = json["coefficients"].as_array().unwrap();
    let one = all.iter().find(|one| one["name"] == name);
    let one = one.unwrap_or_else(|| panic!("{name} is not in {json}"));
    let (mean, sd) = (one["mean"].as_f64().unwrap(), one["sd"].as_f64().unwrap());
    assert!(
        sd < 0.2 && (mean - truth).abs() < 4.0 * sd,
        "{name}: {mean} ± {sd}, made with {truth}"
    );
}

#[test]
fn a_censored_fit_is_predicted_scored_and_left_out_from_files() {
    let mut noise = Noise(51);
    let mut text = String::from("y,x,status\n");
    for _ in 0..400 {
        let x = noise.normal();
        let y = 1.0 + 0.8 * x + 0.7 * noise.normal();
        let status = u8::from(y > 1.5);
        let _ = writeln!(text, "{},{x},{status}", y.min(1.5));
    }
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let fit = ["fit", "y | cens(status) ~ x", "data.csv", "-o", "fit.lehr"];
    let json = scratch.judged(&[&fit[..], &QUICK].concat());
    recovered(&json, "x", 0.8);
    recovered(&json, "sigma", 0.7);
    scratch.write("new.csv", "x\n0\n2\n");
    let predict = ["predict", "fit.lehr", "new.csv", "-o", "out.csv"];
    assert_ne!(scratch.run(&predict).code, Some(2));
    let table = std::fs::read_to_string(scratch.path("out.csv")).unwrap();
    let last = table.lines().last().unwrap();
    let mean: f64 = last.split(',').nth(1).unwrap().parse().unwrap();
    assert!((mean - 2.6).abs() < 0.3, "{table}");
    let evaluate = ["evaluate", "fit.lehr", "data.csv", "--json"];
    let scored = scratch.run(&evaluate);
    assert!(
        scored.stdout.contains("log_likelihood_per_row"),
        "{}",
        scored.stdout
    );
    assert!(!scored.stdout.contains("rmse"), "{}", scored.stdout);
    assert_ne!(scratch.run(&["loo", "fit.lehr", "data.csv"]).code, Some(2));
    scratch.write("bare.csv", "x,y\n0,1\n");
    let told = scratch.expect(2, &["evaluate", "fit.lehr", "bare.csv"]);
    assert!(
        told.stderr.contains("no column \"status\""),
        "{}",
        told.stderr
    );
    scratch.write(
        "wrong.csv",
        "y,x,status\n1.5,0,0\n2.5,1,maybe\n0.5,2,none\n",
    );
    let wrong = ["fit", "y | cens(status) ~ x", "wrong.csv"];
    let told = scratch.expect(2, &wrong);
    let expected = "cens(status), row 2: expected none, left, right or interval";
    assert!(told.stderr.contains(expected), "{}", told.stderr);
}

#[test]
fn effects_of_rows_are_drawn_by_name() {
    let mut noise = Noise(52);
    let mut text = String::from("hits,n,x\n12,12,0\n0,12,0\n");
    for _ in 0..120 {
        let x = noise.normal();
        let logit = 0.5 * x + 0.9 * noise.normal();
        let share = 1.0 / (1.0 + (-logit).exp());
        let hits = (0..12).filter(|_| noise.uniform() < share).count();
        let _ = writeln!(text, "{hits},12,{x}");
    }
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let formula = "hits | trials(n) ~ x + (1 | row())";
    let fit = ["fit", formula, "data.csv", "-o", "fit.lehr"];
    // Chains that confirm the fit may run out of time on a busy machine. Its numbers are valid
    // anyway.
    let ended = scratch.run(&[&fit[..], &QUICK, &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["family"], "binomial");
    recovered(&json, "x", 0.5);
    recovered(&json, "sd(row())", 0.9);
    let draws = [
        "draws",
        "fit.lehr",
        "data.csv",
        "-o",
        "draws.csv",
        "--locals",
        "1,2",
    ];
    assert_ne!(scratch.run(&draws).code, Some(2));
    let table = std::fs::read_to_string(scratch.path("draws.csv")).unwrap();
    let names = table.lines().next().unwrap();
    assert!(
        names.contains("row_effect[1]") && names.contains("row_effect[2]"),
        "{names}"
    );
}

#[test]
fn gaps_of_one_covariate_are_kept_and_those_of_others_are_not() {
    let mut noise = Noise(53);
    let mut text = String::from("y,x,w\n1,1,\n");
    for row in 0..400 {
        let (x, w) = (noise.normal(), noise.normal());
        let y = 1.0 + 0.8 * x + 0.5 * w + 0.5 * noise.normal();
        let seen = if row % 4 == 0 {
            String::new()
        } else {
            x.to_string()
        };
        let _ = writeln!(text, "{y},{seen},{w}");
    }
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let fit = ["fit", "y ~ w + mi(x)", "data.csv", "-o", "fit.lehr"];
    let told = scratch.expect(2, &fit);
    // Missing values of x are not counted among them.
    let expected = "missing values among 401 rows: \"w\" 1\n";
    assert!(told.stderr.contains(expected), "{}", told.stderr);
    let json = scratch.judged(&[&fit[..], &["--missing", "drop"], &QUICK].concat());
    assert_eq!(json["n_rows"], 400, "{json}");
    recovered(&json, "mi(x)", 0.8);
    recovered(&json, "w", 0.5);
    recovered(&json, "mi(x).sd", 1.0);
    scratch.write("new.csv", "x,w\n2,0\n,0\n");
    let predict = ["predict", "fit.lehr", "new.csv", "-o", "out.csv"];
    assert_ne!(scratch.run(&predict).code, Some(2));
    let table = std::fs::read_to_string(scratch.path("out.csv")).unwrap();
    assert_eq!(table.lines().count(), 3, "{table}");
    let evaluate = ["evaluate", "fit.lehr", "data.csv", "--missing", "drop"];
    let scored = scratch.run(&evaluate);
    assert!(scored.stdout.contains("400 rows"), "{}", scored.stdout);
}
