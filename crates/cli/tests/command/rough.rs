//! What new users stumbled over: hints, names in errors, columns of dashes, several responses.

use std::fmt::Write;

use crate::fixture::{Noise, Scratch};

#[test]
fn a_flat_prior_that_leaves_a_coefficient_open_is_named_by_its_column() {
    let mut text = String::from("y,a,total\n");
    let mut noise = Noise(3);
    for _ in 0..60 {
        let a = noise.normal();
        let _ = writeln!(text, "{},{a},{}", a + noise.normal(), 2.0 * a + 1.0);
    }
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let fit = ["fit", "y ~ a + total", "data.csv"];
    let flat = ["--prior", "weight ~ flat", "--method", "full-rank"];
    let error = scratch.expect(2, &[&fit[..], &flat].concat()).stderr;
    let named = error.contains("flat prior on a:") || error.contains("flat prior on total:");
    assert!(named && !error.contains("weight["), "{error}");
}

#[test]
fn what_was_found_without_training_has_no_rise_of_its_bound() {
    let scratch = Scratch::new();
    let mut text = String::from("y,x\n");
    let mut noise = Noise(4);
    for _ in 0..100 {
        let x = noise.normal();
        let _ = writeln!(
            text,
            "{},{x}",
            u8::from(noise.uniform() < 0.3 + 0.2 * x.tanh())
        );
    }
    scratch.write("data.csv", &text);
    let fit = [
        "fit",
        "y ~ x",
        "data.csv",
        "--family",
        "bernoulli",
        "--method",
        "full-rank",
        "-o",
        "fit.lehr",
    ];
    scratch.run(&fit);
    let checked = scratch.run(&["check", "fit.lehr"]).stdout;
    assert!(!checked.contains("rose by"), "{checked}");
    assert!(
        checked.contains("none: the fit was found by a search"),
        "{checked}"
    );
    assert!(!checked.contains("look-again"), "{checked}");
    let json = scratch.run(&["check", "fit.lehr", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["late_rise"], 0.0);
    let effects = scratch
        .run(&["effects", "fit.lehr", "x", "--accept-warnings"])
        .stdout;
    assert!(
        effects.contains("95%") && !effects.contains("mcse"),
        "{effects}"
    );
}

/// Two responses whose effects of groups are correlated by 0.8, below each other: what the error of
/// mvbind says to write.
#[test]
fn several_responses_as_one_column_have_correlated_effects_of_groups() {
    let mut noise = Noise(21);
    let mut text = String::from("y,which,x,g\n");
    for group in 0..120 {
        let (first, other) = (noise.normal(), noise.normal());
        let second = 0.8 * first + 0.6 * other;
        for _ in 0..8 {
            let x = noise.normal();
            let one = 1.0 + 0.5 * x + first + 0.5 * noise.normal();
            let two = -1.0 - 0.3 * x + 1.5 * second + noise.normal();
            let _ = writeln!(text, "{one},one,{x},{group}\n{two},two,{x},{group}");
        }
    }
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let error = scratch
        .expect(2, &["fit", "mvbind(one, two) ~ x + (1 | g)", "data.csv"])
        .stderr;
    assert!(
        error.contains("y ~ 0 + which + which:x + (0 + which | g)"),
        "{error}"
    );
    let json = scratch.judged(&[
        "fit",
        "y ~ 0 + which + which:x + (0 + which | g)",
        "data.csv",
        "--formula",
        "sigma ~ which",
        "--method",
        "nuts",
        "--draws",
        "400",
    ]);
    let all = json["coefficients"].as_array().unwrap();
    for (name, truth) in [
        ("which[one]:x", 0.5),
        ("which[two]:x", -0.3),
        ("sd(g, which[one])", 1.0),
        ("sd(g, which[two])", 1.5),
        ("cor(g, which[one], which[two])", 0.8),
        ("sigma.Intercept", 0.5_f64.ln()),
        ("sigma.which[two]", 2.0_f64.ln()),
    ] {
        let one = all.iter().find(|one| one["name"] == name);
        let one = one.unwrap_or_else(|| panic!("{name} in {json}"));
        let (mean, sd) = (one["mean"].as_f64().unwrap(), one["sd"].as_f64().unwrap());
        assert!(
            sd < 0.2 && (mean - truth).abs() < 4.0 * sd,
            "{name}: {mean} ± {sd}"
        );
    }
}
