//! The output of each command, for people and for programs.

use crate::fixture::{QUICK, Scratch, csv, files, fitted};

const FIT_KEYS: [&str; 16] = [
    "method",
    "n_rows",
    "n_latents",
    "iterations",
    "converged",
    "elbo",
    "evidence",
    "pareto_k",
    "verdict",
    "seconds",
    "microseconds_per_iteration",
    "coefficients",
    "choices",
    "seed",
    "version",
    "priors",
];

fn names(json: &serde_json::Value) -> Vec<&str> {
    let coefficients = json["coefficients"].as_array().unwrap();
    coefficients
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect()
}

fn mean(json: &serde_json::Value, name: &str) -> f64 {
    let coefficients = json["coefficients"].as_array().unwrap();
    let found = coefficients.iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("no {name}"))["mean"]
        .as_f64()
        .unwrap()
}

#[test]
fn fit_finds_what_made_the_data_and_keeps_its_promised_keys() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(500, 3));
    let mut arguments = vec![
        "fit",
        "y ~ x1 + x2",
        "train.csv",
        "-o",
        "fit.lehr",
        "--seed",
        "7",
    ];
    arguments.extend(QUICK);
    let json = scratch.json(0, &arguments);
    for key in FIT_KEYS {
        assert!(json.get(key).is_some(), "{key} is missing");
    }
    for key in ["mean", "se", "samples"] {
        assert!(json["elbo"].get(key).is_some(), "elbo.{key} is missing");
    }
    for key in ["read", "start", "compile", "train", "evaluate"] {
        assert!(
            json["seconds"].get(key).is_some(),
            "seconds.{key} is missing"
        );
    }
    assert_eq!(names(&json), ["Intercept", "x1", "x2", "sigma"]);
    assert_eq!((&json["seed"], &json["n_rows"]), (&7.into(), &500.into()));
    assert!((mean(&json, "x1") - 1.0).abs() < 0.15, "{json}");
    assert!((mean(&json, "x2") + 0.05).abs() < 0.015, "{json}");
    assert!(
        json["choices"]["family"]
            .as_str()
            .unwrap()
            .contains("gaussian")
    );
    assert_eq!(files(&scratch.path("")), ["fit.lehr", "train.csv"]);
}

#[test]
fn the_verdict_comes_first_and_the_contents_are_told() {
    let text = fitted().run(&["summary", "fit.lehr"]).stdout;
    let first = text.lines().next().unwrap();
    let verdicts = ["✓ reliable: ", "≈ corrected: ", "✗ do not trust: "];
    assert!(
        verdicts.iter().any(|verdict| first.starts_with(verdict)),
        "{text}"
    );
    assert!(
        text.contains("the file holds") && text.contains("histograms"),
        "{text}"
    );
    assert!(
        text.contains("priors") && text.contains("sd(site) ~"),
        "{text}"
    );
}

#[test]
fn summary_names_levels_and_groups() {
    let json = fitted().judged(&["summary", "fit.lehr"]);
    assert_eq!(
        names(&json),
        ["Intercept", "x1", "color[green]", "color[red]", "sd(site)"]
    );
    let json = fitted().judged(&["summary", "fit.lehr", "--groups"]);
    assert!(names(&json).contains(&"site[s3]"), "{:?}", names(&json));
    let effect = (json["coefficients"].as_array().unwrap().iter())
        .find(|one| one["name"] == "site[s3]")
        .unwrap();
    assert_eq!(
        (&effect["group"], &effect["level"]),
        (&"site".into(), &"s3".into())
    );
    assert_eq!(effect["term"], "Intercept");
    assert_eq!(json["family"], "bernoulli");
}

#[test]
fn a_bad_approximation_ends_with_code_1() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(200, 4));
    let arguments = [
        "fit",
        "y ~ x1 + (1 | site)",
        "train.csv",
        "--method",
        "mf",
        "--start",
        "zero",
        "--iterations",
        "3",
    ];
    let json = scratch.json(1, &arguments);
    assert_eq!(json["verdict"], "do-not-trust");
}

#[test]
fn draws_are_written_in_every_form() {
    let scratch = Scratch::new();
    let fit = fitted().path("fit.lehr");
    let fit = fit.to_str().unwrap();
    for name in ["draws.csv", "draws.parquet", "draws.arrow", "draws.nc"] {
        let json = scratch.json(
            0,
            &["draws", fit, "-o", name, "--groups", "--accept-warnings"],
        );
        assert_eq!(json["n_draws"], 200);
        assert!(
            scratch.path(name).metadata().unwrap().len() > 1000,
            "{name}"
        );
    }
    scratch.expect(
        0,
        &["draws", fit, "-o", "raw.csv", "--raw", "--accept-warnings"],
    );
    let text = std::fs::read_to_string(scratch.path("raw.csv")).unwrap();
    assert_eq!(text.lines().count(), 201);
    assert!(
        text.lines().next().unwrap().ends_with("log_weight"),
        "{text}"
    );
    let error = scratch
        .expect(2, &["draws", fit, "-o", "draws.xlsx"])
        .stderr;
    assert!(error.contains("end its name in"), "{error}");
}

#[test]
fn predictions_are_the_rows_with_quantiles() {
    let scratch = Scratch::new();
    let fit = fitted().path("fit.lehr");
    let test = fitted().path("test.csv");
    let arguments = [
        "predict",
        fit.to_str().unwrap(),
        test.to_str().unwrap(),
        "-o",
        "scored.csv",
        "--accept-warnings",
    ];
    let json = scratch.json(0, &arguments);
    assert_eq!(json["n_rows"], 100);
    let text = std::fs::read_to_string(scratch.path("scored.csv")).unwrap();
    let head = text.lines().next().unwrap();
    assert_eq!(
        head,
        "y,hit,x1,x2,color,site,hit_mean,hit_mean_sd,hit_mean_q5,hit_mean_q95,hit_sd,hit_class,hit[0],hit[1]"
    );
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |place: usize| cells[place].parse::<f64>().unwrap();
        assert!(
            (0.0..=1.0).contains(&number(6)) && number(8) <= number(6),
            "{line}"
        );
        assert!(number(6) <= number(9), "{line}");
    }
}

#[test]
fn unseen_groups_are_refused_unless_sampled() {
    let scratch = Scratch::new();
    let fit = fitted().path("fit.lehr");
    let fit = fit.to_str().unwrap();
    scratch.write("new.csv", "x1,color,site\n0.1,red,s1\n0.2,blue,s9\n");
    let old = "x1,hit_mean,hit_mean_sd\n1,2,3\n";
    scratch.write("old.csv", old);
    let error = scratch
        .expect(2, &["predict", fit, "new.csv", "-o", "old.csv"])
        .stderr;
    assert!(error.contains("s9"), "{error}");
    let kept = std::fs::read_to_string(scratch.path("old.csv")).unwrap();
    assert_eq!(kept, old);
    assert_eq!(files(&scratch.path("")), ["new.csv", "old.csv"]);
    let arguments = [
        "predict",
        fit,
        "new.csv",
        "-o",
        "new.parquet",
        "--accept-warnings",
        "--new-levels",
        "sample",
        "--only",
    ];
    let json = scratch.json(0, &arguments);
    assert_eq!(json["columns"][0], "hit_mean");
}

#[test]
fn predictions_count_the_rows_they_leave_out() {
    let scratch = Scratch::new();
    let fit = fitted().path("fit.lehr");
    let fit = fit.to_str().unwrap();
    scratch.write("new.csv", "x1,color,site\n0.1,red,s1\n,red,s1\n,blue,s2\n");
    let arguments = [
        "predict",
        fit,
        "new.csv",
        "-o",
        "p.csv",
        "--missing",
        "drop",
        "--accept-warnings",
    ];
    let out = scratch.expect(0, &arguments).stdout;
    assert_eq!(
        out,
        "1 rows predicted in p.csv, 2 rows with missing values left out\n"
    );
}

#[test]
fn a_constant_that_was_left_out_is_not_asked_for() {
    let scratch = Scratch::new();
    let lines = csv(80, 61);
    let mut lines = lines.lines();
    let head = format!("{},intercept", lines.next().unwrap());
    let rows = lines.map(|line| format!("{line},1"));
    let text: Vec<String> = [head].into_iter().chain(rows).collect();
    scratch.write("train.csv", &text.join("\n"));
    scratch.write("new.csv", "x1,x2\n0.1,0.2\n");
    for formula in [
        "y ~ x1 + x2 + intercept",
        "y ~ . - intercept - hit - color - site",
    ] {
        let mut arguments = vec!["fit", formula, "train.csv", "-o", "fit.lehr"];
        arguments.extend(QUICK);
        let ended = scratch.run(&arguments);
        assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
        assert!(ended.stdout.contains("y ~ 1 + x1 + x2"), "{}", ended.stdout);
        scratch.expect(
            0,
            &[
                "predict",
                "fit.lehr",
                "new.csv",
                "-o",
                "p.csv",
                "--accept-warnings",
            ],
        );
    }
    scratch.write("plain.csv", &csv(80, 61));
    let mistake = scratch.expect(2, &["fit", "y ~ x1 - Intercept", "plain.csv"]);
    assert!(mistake.stderr.contains("write - 1"), "{}", mistake.stderr);
}

#[test]
fn evaluate_judges_classes_by_accuracy_and_numbers_by_rmse() {
    let json = fitted().json(
        0,
        &["evaluate", "fit.lehr", "test.csv", "--accept-warnings"],
    );
    assert!(json["accuracy"].as_f64().unwrap() > 0.55, "{json}");
    let log_likelihood = json["log_likelihood_per_row"].as_f64().unwrap();
    assert!((-0.75..-0.4).contains(&log_likelihood), "{json}");
    assert_eq!(json["n_rows"], 100);
    assert!(json["calibration"].as_array().unwrap().len() > 3);

    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(300, 5));
    let mut arguments = vec![
        "fit",
        "y ~ x1 + x2 + (1 | site)",
        "train.csv",
        "-o",
        "fit.lehr",
        "-q",
    ];
    arguments.extend(QUICK);
    scratch.run(&arguments);
    let json = scratch.json(
        0,
        &["evaluate", "fit.lehr", "train.csv", "--accept-warnings"],
    );
    let rmse = json["rmse"].as_f64().unwrap();
    assert!((0.4..0.6).contains(&rmse), "{json}");
}

#[test]
fn compare_lists_fits_with_test_scores_and_writes_a_page() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(300, 6));
    scratch.write("test.csv", &csv(100, 7));
    let arguments = [
        "compare",
        "hit ~ x1",
        "train.csv",
        "--test",
        "test.csv",
        "--methods",
        "mf,full-rank,sl-dais",
        "--iterations",
        "200",
        "--draws",
        "200",
        "--chain-steps",
        "2",
        "--report",
        "page.html",
    ];
    let ended = scratch.run(&arguments);
    assert!(ended.stdout.contains("sl-dais") && ended.stdout.contains("test log lik"));
    let page = std::fs::read_to_string(scratch.path("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("sl-dais"));
    let json = scratch.json(ended.code.unwrap(), &arguments);
    assert_eq!(json.as_array().unwrap().len(), 3);
    assert!(json[2]["test_log_likelihood"].as_f64().unwrap() < 0.0);
    assert_eq!(json[2]["method"], "sl-dais");
    // A base to compare with exists only for chains.
    assert!(json[0].get("gain_over_base").is_none());
    let gain = &json[2]["gain_over_base"];
    assert!(gain["se"].as_f64().unwrap() > 0.0, "{gain}");
}

#[test]
fn a_report_needs_no_table() {
    let scratch = Scratch::new();
    std::fs::copy(fitted().path("fit.lehr"), scratch.path("fit.lehr")).unwrap();
    scratch.expect(0, &["report", "fit.lehr", "-o", "report.html"]);
    let page = std::fs::read_to_string(scratch.path("report.html")).unwrap();
    assert!(
        page.contains("sd(site)") && page.contains("hit ~ x1 + color"),
        "{page}"
    );
}

#[test]
fn check_tells_the_diagnostics_and_simulates_on_request() {
    let json = fitted().judged(&["check", "fit.lehr"]);
    assert!(json["evidence_gap"].as_f64().unwrap() > -1.0, "{json}");
    let warned = json["verdict"] == "do-not-trust";
    assert_eq!(!json["warnings"].as_array().unwrap().is_empty(), warned);
    let arguments = [
        "check",
        "fit.lehr",
        "--simulate",
        "train.csv",
        "--simulations",
        "3",
        "--simulation-rows",
        "100",
        "--simulation-iterations",
        "50",
        "--json",
    ];
    let ended = fitted().run(&arguments);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(
        json["simulation"][0]["ranks"].as_array().unwrap().len(),
        3,
        "{json}"
    );
}

#[test]
fn the_demonstration_ends_with_a_report() {
    let scratch = Scratch::new();
    let ended = scratch.run(&["demo", "--rows", "400"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    let last = ended.stdout.trim_end().lines().last().unwrap().to_owned();
    assert!(
        last.starts_with("report: ") && last.ends_with("report.html"),
        "{last}"
    );
    assert!(scratch.path("report.html").exists());
}

#[test]
fn csv_and_parquet_give_the_same_fit() {
    let scratch = Scratch::new();
    scratch.write("new.csv", &csv(150, 8));
    let fit = fitted().path("fit.lehr");
    let fit = fit.to_str().unwrap();
    scratch.expect(
        0,
        &[
            "predict",
            fit,
            "new.csv",
            "-o",
            "new.parquet",
            "--accept-warnings",
        ],
    );
    let mut from_csv = vec!["fit", "y ~ x1 + site", "new.csv"];
    let mut from_parquet = vec!["fit", "y ~ x1 + site", "new.parquet"];
    from_csv.extend(QUICK);
    from_parquet.extend(QUICK);
    let (csv, parquet) = (scratch.json(0, &from_csv), scratch.json(0, &from_parquet));
    assert_eq!(csv["coefficients"], parquet["coefficients"]);
}

#[test]
fn dates_are_read_as_days_and_that_is_said() {
    let scratch = Scratch::new();
    let row = |k: usize| {
        let y = (k * 7) % 11 + k;
        format!("{y}.5,2024-{:02}-{:02}\n", 1 + k / 28, 1 + k % 28)
    };
    let rows: String = (0..60).map(row).collect();
    let table = format!("y,day\n{rows}");
    scratch.write("days.csv", &table);
    let json = scratch.json(
        0,
        &[
            "fit",
            "y ~ day",
            "days.csv",
            "-o",
            "days.lehr",
            "--method",
            "full-rank",
        ],
    );
    let notes = json["notes"].as_array().unwrap();
    assert_eq!(notes[0], "day: dates, read as days since 1970-01-01");
    assert!((mean(&json, "day") - 1.0).abs() < 0.2, "{json}");
}
