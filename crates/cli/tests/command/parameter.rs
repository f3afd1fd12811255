//! Formulas of parameters and lists of priors, from the command.

use std::fmt::Write;

use crate::fixture::{Noise, Scratch};

/// The posterior of one coefficient.
fn posterior(json: &serde_json::Value, name: &str) -> (f64, f64) {
    let all = json["coefficients"].as_array().unwrap();
    let one = all.iter().find(|one| one["name"] == name);
    let one = one.unwrap_or_else(|| panic!("{name} is not in {json}"));
    (one["mean"].as_f64().unwrap(), one["sd"].as_f64().unwrap())
}

fn recovered(json: &serde_json::Value, name: &str, truth: f64) {
    let (mean, sd) = posterior(json, name);
    assert!(
        sd < 0.2 && (mean - truth).abs() < 4.0 * sd,
        "{name}: {mean} ± {sd}, made with {truth}"
    );
}

const QUICK: [&str; 6] = [
    "--method",
    "full-rank",
    "--iterations",
    "1500",
    "--batch",
    "800",
];

#[test]
fn noise_that_grows_with_a_column_is_recovered_and_predicted() {
    let mut noise = Noise(17);
    let mut text = String::from("y,x\n");
    for _ in 0..800 {
        let x = noise.normal();
        let y = 1.0 + 0.5 * x + (0.3 + 0.6 * x).exp() * noise.normal();
        let _ = writeln!(text, "{y},{x}");
    }
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let fit = [
        "fit",
        "y ~ x",
        "data.csv",
        "--formula",
        "sigma ~ x",
        "-o",
        "fit.lehr",
    ];
    let json = scratch.judged(&[&fit[..], &QUICK].concat());
    assert_eq!(json["formula"], "y ~ x; sigma ~ x");
    recovered(&json, "x", 0.5);
    recovered(&json, "sigma.Intercept", 0.3);
    recovered(&json, "sigma.x", 0.6);
    scratch.write("new.csv", "x\n-1\n1\n");
    let predict = [
        "predict",
        "fit.lehr",
        "new.csv",
        "-o",
        "-",
        "--parameter",
        "sigma",
    ];
    let table = scratch.expect(0, &predict).stdout;
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = header.iter().position(|name| *name == "y_sigma");
    let place = place.unwrap_or_else(|| panic!("no sigma in {header:?}"));
    let rows: Vec<f64> = lines
        .map(|line| line.split(',').nth(place).unwrap().parse().unwrap())
        .collect();
    for (found, truth) in rows.iter().zip([(-0.3_f64).exp(), 0.9_f64.exp()]) {
        assert!((found / truth - 1.0).abs() < 0.2, "{found} {truth}");
    }
}

#[test]
fn surplus_zeros_that_depend_on_a_column_are_recovered() {
    let mut noise = Noise(23);
    let mut text = String::from("y,x,site\n");
    for row in 0..1200 {
        let x = noise.normal();
        let gate = 1.0 / (1.0 + (0.5 - 1.2 * x).exp());
        let mean = (1.0 + 0.4 * (row % 2) as f64).exp();
        let (mut count, mut product) = (0, noise.uniform());
        while product > (-mean).exp() {
            product *= noise.uniform();
            count += 1;
        }
        let y = if noise.uniform() < gate { 0 } else { count };
        let _ = writeln!(text, "{y},{x},{}", ["a", "b"][row % 2]);
    }
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let fit = [
        "fit",
        "y ~ site",
        "data.csv",
        "--family",
        "zero_inflated_poisson",
        "--formula",
        "gate ~ x",
    ];
    let json = scratch.judged(&[&fit[..], &QUICK].concat());
    recovered(&json, "site[b]", 0.4);
    recovered(&json, "gate.Intercept", -0.5);
    recovered(&json, "gate.x", 1.2);
}

#[test]
fn priors_are_listed_with_who_set_them() {
    let scratch = Scratch::new();
    scratch.write("data.csv", "y,x,g\n1.5,1,a\n2.5,2,b\n3.1,4,a\n4.2,3,b\n");
    let arguments = [
        "priors",
        "y ~ x + (1 | g)",
        "data.csv",
        "--prior",
        "weight ~ normal(0, 1)",
        "--prior",
        "sd(g) ~ exponential(2)",
    ];
    let json = scratch.json(0, &arguments);
    let origin = |name: &str| {
        let all = json["priors"].as_array().unwrap();
        let one = all.iter().find(|one| one["name"] == name).unwrap();
        (one["prior"].clone(), one["origin"].clone())
    };
    assert_eq!(json["family"], "gaussian");
    assert_eq!(
        origin("x"),
        ("normal(0, 1)".into(), "given for weight".into())
    );
    assert_eq!(origin("sigma").1, "default");
    assert_eq!(origin("sd(g)").0, "exponential(2)");
    assert!(json["predictive"].is_null());
    let drawn = scratch.json(0, &[&arguments[..], &["--predictive"]].concat());
    assert_eq!(drawn["predictive"]["draws"], 500);
    assert_eq!(drawn["predictive"]["response"][0]["name"], "mean");
    let text = scratch
        .expect(0, &[&arguments[..], &["--predictive"]].concat())
        .stdout;
    assert!(
        text.contains("the response in 4 rows, by the prior"),
        "{text}"
    );
    let text = scratch.expect(0, &arguments).stdout;
    assert!(text.contains("x          normal(0, 1)"), "{text}");
}

#[test]
fn parameters_and_families_are_known_by_the_names_that_other_programs_have() {
    let scratch = Scratch::new();
    scratch.write(
        "data.csv",
        "y,x,p,g\n0,0.1,0.2,a\n2,0.4,0.5,b\n0,-0.3,0.7,a\n1,1.2,0.4,b\n3,0.9,0.3,a\n",
    );
    let listed = |arguments: &[&str]| {
        let all = [&["priors"], arguments].concat();
        scratch.expect(0, &all).stdout
    };
    for (formula, family, parameter, own) in [
        ("y ~ x", "zero_inflated_poisson()", "zi ~ x", "gate.x"),
        ("y ~ x", "hurdle_poisson", "hu ~ x", "gate.x"),
        ("p ~ x", "Beta(link = \"logit\")", "phi ~ x", "precision.x"),
    ] {
        let text = listed(&[
            formula,
            "data.csv",
            "--family",
            family,
            "--formula",
            parameter,
        ]);
        assert!(text.contains(own), "{text}");
    }
    let refused = |arguments: &[&str]| {
        let all = [&["priors", "y ~ x + (1 | g)", "data.csv"], arguments].concat();
        scratch.expect(2, &all).stderr
    };
    for (arguments, told) in [
        (
            ["--family", "gaussian(log)"],
            "the link of gaussian is identity",
        ),
        (["--family", "sratio"], "write --family ordinal"),
        (
            ["--prior", "b ~ normal(0, 2)"],
            "write weight ~ normal(0, 2)",
        ),
        (
            ["--prior", "sd ~ half_normal(1)"],
            "write sd(g) ~ half_normal(1)",
        ),
        (
            ["--formula", "mu ~ x"],
            "the formula of the mean is the first",
        ),
    ] {
        let mut all = arguments.to_vec();
        if arguments[0] != "--family" {
            all.extend(["--family", "gaussian"]);
        }
        let error = refused(&all);
        assert!(error.contains(told), "{error}");
    }
}
