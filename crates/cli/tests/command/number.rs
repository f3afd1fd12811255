//! No wrong numbers: the type of a column, the order of levels, and exports of a fit that is not
//! trusted.

use std::fmt::Write;

use crate::fixture::{Noise, QUICK, Scratch, csv};

/// Fits with few steps and returns the output, whatever the verdict.
fn fitted(scratch: &Scratch, arguments: &[&str]) -> serde_json::Value {
    let mut all = vec!["fit"];
    all.extend(arguments);
    all.extend(QUICK);
    scratch.judged(&all)
}

fn notes(json: &serde_json::Value) -> String {
    let notes = json["notes"].as_array().unwrap().iter();
    notes
        .map(|note| note.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n")
}

fn mean(json: &serde_json::Value, name: &str) -> f64 {
    let mut all = json["coefficients"].as_array().unwrap().iter();
    all.find(|one| one["name"] == name).unwrap()["mean"]
        .as_f64()
        .unwrap()
}

#[test]
fn cbind_counts_successes_and_failures_as_in_r() {
    let mut noise = Noise(3);
    let mut text = String::from("hits,misses,shots\n");
    for _ in 0..200 {
        let shots = 6 + (10.0 * noise.uniform()) as u32;
        let hits = (0..shots).filter(|_| noise.uniform() < 0.25).count() as u32;
        let _ = writeln!(text, "{hits},{},{shots}", shots - hits);
    }
    let scratch = Scratch::new();
    scratch.write("shots.csv", &text);
    let of = |formula: &str| fitted(&scratch, &[formula, "shots.csv"]);
    let expected = (0.25_f64 / 0.75).ln();
    for formula in [
        "cbind(hits, misses) ~ 1",
        "cbind(hits, shots - hits) ~ 1",
        "hits | trials(shots) ~ 1",
    ] {
        let found = mean(&of(formula), "Intercept");
        assert!((found - expected).abs() < 0.2, "{formula}: {found}");
    }
    assert_eq!(
        notes(&of("hits | trials(shots) ~ 1")),
        "hits | trials(shots): hits counts successes, shots the trials"
    );
    let said = notes(&of("cbind(hits, shots) ~ 1"));
    assert!(
        said.ends_with("if shots counts the trials, write hits | trials(shots)"),
        "{said}"
    );
}

/// Grades that rise with x, in an order that is not alphabetical.
fn grades(rows: usize) -> String {
    let mut noise = Noise(8);
    let mut text = String::from("quality,x\n");
    for _ in 0..rows {
        let x = noise.normal();
        let u = noise.uniform();
        let at = 1.5 * x + (u / (1.0 - u)).ln();
        let grade = ["poor", "fair", "good"][usize::from(at > -1.0) + usize::from(at > 1.0)];
        let _ = writeln!(text, "{grade},{x}");
    }
    text
}

#[test]
fn levels_have_the_order_that_is_given() {
    let scratch = Scratch::new();
    scratch.write("grades.csv", &grades(400));
    let order = [
        "--levels",
        "quality: poor < fair < good",
        "--family",
        "ordinal",
    ];
    let mut arguments = vec!["quality ~ x", "grades.csv", "-o", "fit.lehr"];
    arguments.extend(order);
    let json = fitted(&scratch, &arguments);
    assert!(
        notes(&json).contains("quality: the order is poor < fair < good"),
        "{json}"
    );
    assert!((mean(&json, "x") - 1.5).abs() < 0.4, "{json}");
    scratch.write("new.csv", "x\n3\n-3\n");
    let predict = [
        "predict",
        "fit.lehr",
        "new.csv",
        "-o",
        "new.scored.csv",
        "--accept-warnings",
    ];
    scratch.expect(0, &predict);
    let scored = std::fs::read_to_string(scratch.path("new.scored.csv")).unwrap();
    let lines: Vec<&str> = scored.lines().collect();
    assert_eq!(
        lines[0],
        "x,quality_class,quality[poor],quality[fair],quality[good]"
    );
    assert!(
        lines[1].starts_with("3,good,") && lines[2].starts_with("-3,poor,"),
        "{scored}"
    );
    for (levels, said) in [
        (
            "quality: poor < fair",
            "expected one of poor, fair, found \"good\"",
        ),
        ("qualty: poor < fair", "did you mean \"quality\"?"),
        ("quality", "found no colon"),
        ("quality: poor < poor", "found \"poor\" twice"),
    ] {
        let refused = ["fit", "quality ~ x", "grades.csv", "--levels", levels];
        let error = scratch.expect(2, &refused).stderr;
        assert!(error.contains(said), "{error}");
    }
}

/// Two nearly identical columns: a mean field cannot represent the ridge of their posterior.
fn ridge() -> String {
    let mut noise = Noise(4);
    let mut text = String::from("y,a,b\n");
    for _ in 0..120 {
        let a = noise.normal();
        let b = a + 0.01 * noise.normal();
        let _ = writeln!(text, "{},{a},{b}", a + b + 0.3 * noise.normal());
    }
    text
}

#[test]
fn exports_of_a_fit_that_is_not_trusted_repeat_the_verdict() {
    let scratch = Scratch::new();
    scratch.write("ridge.csv", &ridge());
    let fit = [
        "fit",
        "y ~ a + b",
        "ridge.csv",
        "-o",
        "fit.lehr",
        "--method",
        "nuts",
        "--chains",
        "2",
        "--draws",
        "40",
    ];
    let fitted = scratch.expect(1, &fit);
    let verdict = fitted.stdout.lines().next().unwrap();
    for export in [
        &["draws", "fit.lehr", "-o", "draws.csv"][..],
        &["predict", "fit.lehr", "ridge.csv", "-o", "scored.csv"],
        &["evaluate", "fit.lehr", "ridge.csv"],
    ] {
        let ended = scratch.expect(1, export);
        assert!(
            ended.stderr.contains(verdict),
            "{export:?}: {}",
            ended.stderr
        );
        let accepted = [export, &["--accept-warnings"]].concat();
        let ended = scratch.expect(0, &accepted);
        assert!(
            ended.stderr.contains(verdict),
            "{export:?}: {}",
            ended.stderr
        );
    }
    assert!(scratch.path("draws.csv").is_file() && scratch.path("scored.csv").is_file());
}

/// Rows of two correlated columns, too many for chains: the standard deviations of a mean field are
/// too small by an eighth, which importance weights correct.
fn overlapping() -> String {
    let mut noise = Noise(4);
    let mut text = String::from("y,x,z\n");
    for _ in 0..50_000 {
        let x = noise.normal();
        let z = 0.45 * x + noise.normal();
        let p = 1.0 / (1.0 + (1.0 - 0.4 * x + 0.3 * z).exp());
        let _ = writeln!(text, "{},{x:.4},{z:.4}", u8::from(noise.uniform() < p));
    }
    text
}

/// A fit to these rows as `f.lehr`, and the output of the command.
fn overlapping_by(method: &str) -> (Scratch, serde_json::Value) {
    let scratch = Scratch::new();
    scratch.write("t.csv", &overlapping());
    let fit = ["fit", "y ~ x + z", "t.csv", "-o", "f.lehr", "--method"];
    let fitted = scratch.json(0, &[&fit[..], &[method]].concat());
    (scratch, fitted)
}

/// The standard deviation of a column of a written table.
fn spread(csv: &str, column: &str) -> f64 {
    let mut lines = csv.lines();
    let place = lines.next().unwrap().split(',').position(|n| n == column);
    let value = |line: &str| -> f64 {
        line.split(',')
            .nth(place.unwrap())
            .unwrap()
            .parse()
            .unwrap()
    };
    let values: Vec<f64> = lines.map(value).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / values.len() as f64).sqrt()
}

/// The raw draws are too narrow by an eighth, so a tolerance of 5 % distinguishes them from the
/// corrected ones.
#[test]
fn a_corrected_fit_is_corrected_in_every_export() {
    let (scratch, fitted) = overlapping_by("mean-field");
    assert_eq!(fitted["verdict"], "corrected", "{fitted}");
    let own = &fitted["coefficients"][1];
    assert_eq!(own["name"], "x");
    let sd = own["sd"].as_f64().unwrap();
    let near = |found: f64, what: &str| {
        assert!((found / sd - 1.0).abs() < 0.05, "{what}: {found}, not {sd}");
    };

    scratch.expect(0, &["draws", "f.lehr", "-o", "draws.csv"]);
    let draws = std::fs::read_to_string(scratch.path("draws.csv")).unwrap();
    near(spread(&draws, "x"), "draws");
    scratch.write("far.csv", "x,z\n1000,0\n");
    let effects = scratch.json(0, &["effects", "f.lehr", "x", "far.csv", "--scale", "link"]);
    let slope = &effects["effects"][0];
    near(slope["sd"].as_f64().unwrap(), "effects");

    // This far away all uncertainty comes from the slope.
    let predict = [
        "predict", "f.lehr", "far.csv", "-o", "p.csv", "--draws", "4000",
    ];
    scratch.expect(0, &[&predict[..], &["--parameter", "predictor"]].concat());
    let predicted = std::fs::read_to_string(scratch.path("p.csv")).unwrap();
    let (names, values) = predicted.trim().split_once('\n').unwrap();
    let place = names.split(',').position(|name| name == "y_predictor_sd");
    let found: f64 = values
        .split(',')
        .nth(place.unwrap())
        .unwrap()
        .parse()
        .unwrap();
    near(found / 1000.0, "predictions");

    scratch.expect(0, &["report", "f.lehr", "-o", "page.html"]);
    let page = std::fs::read_to_string(scratch.path("page.html")).unwrap();
    let row = page.split("<th scope=\"row\">x</th>").last().unwrap();
    let cells: Vec<&str> = row.split("<td>").take(3).collect();
    assert_eq!(cells[2], format!("{sd:.3}</td>"), "report");
}

/// The number of draws is the default. Chains are judged by their effective sample sizes.
#[test]
fn the_error_of_every_printed_mean_is_small() {
    let scratch = Scratch::new();
    scratch.write("t.csv", &csv(300, 7));
    for method in ["auto", "mean-field", "full-rank", "nuts", "hmc"] {
        let fit = [
            "fit",
            "hit ~ x1 + color",
            "t.csv",
            "-o",
            "f.lehr",
            "--force",
        ];
        let fitted = scratch.json(0, &[&fit[..], &["--method", method]].concat());
        for one in fitted["coefficients"].as_array().unwrap() {
            let (mcse, sd) = (one["mcse"].as_f64().unwrap(), one["sd"].as_f64().unwrap());
            assert!(mcse > 0.0 && mcse < 0.03 * sd, "{method}: {one}");
        }
    }
}

/// A tail index of nearly equal weights would only confuse the user.
#[test]
fn no_shape_is_told_of_weights_that_are_all_but_equal() {
    let (scratch, fitted) = overlapping_by("full-rank");
    assert!(fitted["pareto_k"].is_null(), "{fitted}");
    let check = scratch.expect(0, &["check", "f.lehr"]).stdout;
    assert!(
        check.contains("draws effective, weights all but equal"),
        "{check}"
    );
    assert!(!check.contains("k = "), "{check}");
    scratch.expect(0, &["report", "f.lehr", "-o", "page.html"]);
    let page = std::fs::read_to_string(scratch.path("page.html")).unwrap();
    assert!(!page.contains("Pareto k"));
}
