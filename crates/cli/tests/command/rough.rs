//! Details that new users had difficulties with: hints, names in errors, columns of dashes.

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
