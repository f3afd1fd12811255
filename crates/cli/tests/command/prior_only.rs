//! Fits without data: draws from the prior, and every command says so.

use std::fmt::Write;

use crate::fixture::{Noise, Scratch};

const SAYS: &str = "draws of the prior";

fn data(shift: f64) -> String {
    let mut noise = Noise(8);
    let mut text = String::from("y,x,g\n");
    for row in 0..200 {
        let x = noise.normal();
        let y = shift + 3.0 * x + noise.normal();
        let _ = writeln!(text, "{y},{x},{}", row % 5);
    }
    text
}

fn fitted(scratch: &Scratch, more: &[&str]) -> serde_json::Value {
    let all = [
        "fit",
        "y ~ x + (1 | g)",
        "data.csv",
        "--prior-only",
        "-o",
        "prior.lehr",
        "--prior",
        "x ~ normal(-1, 0.5)",
        "--prior",
        "Intercept ~ normal(0, 2)",
        "--prior",
        "sigma ~ exponential(1)",
        "--prior",
        "sd(g) ~ half_normal(1)",
    ];
    scratch.json(0, &[&all[..], more].concat())
}

#[test]
fn draws_are_those_of_the_prior_whatever_the_response_says() {
    let scratch = Scratch::new();
    scratch.write("data.csv", &data(1.0));
    let json = fitted(&scratch, &["--draws", "4000"]);
    assert_eq!(json["prior_only"], true);
    assert_eq!(json["method"], "prior");
    assert!(json["verdict_sentence"].as_str().unwrap().contains(SAYS));
    let all = json["coefficients"].as_array().unwrap();
    let of = |name: &str, key: &str| {
        let one = all.iter().find(|one| one["name"] == name).unwrap();
        one[key].as_f64().unwrap()
    };
    // 4000 draws: the mean to sd/63, the sd to 1.1 % (of an exponential to 2.2 %).
    for (name, mean, sd) in [
        ("x", -1.0, 0.5),
        ("Intercept", 0.0, 2.0),
        ("sigma", 1.0, 1.0),
        ("sd(g)", 0.797_9, 0.602_8),
    ] {
        let (found, spread) = (of(name, "mean"), of(name, "sd"));
        assert!((found - mean).abs() < 4.0 * sd / 63.0, "{name}: {found}");
        assert!((spread / sd - 1.0).abs() < 0.1, "{name}: {spread}");
    }
    // With every prior given, another response leaves the same draws.
    scratch.write("data.csv", &data(50.0));
    let other = fitted(&scratch, &["--draws", "4000", "--force"]);
    let near = |name: &str| {
        let again = other["coefficients"].as_array().unwrap();
        let one = again.iter().find(|one| one["name"] == name).unwrap();
        (one["mean"].as_f64().unwrap() - of(name, "mean")).abs() < 1e-9
    };
    assert!(near("x") && near("sigma") && near("sd(g)"));
}

#[test]
fn every_later_command_says_that_nothing_was_fitted_or_refuses() {
    let scratch = Scratch::new();
    scratch.write("data.csv", &data(1.0));
    fitted(&scratch, &[]);
    let said = |arguments: &[&str]| {
        let ended = scratch.expect(0, arguments);
        let all = ended.stdout + &ended.stderr;
        assert!(all.contains(SAYS), "{arguments:?}: {all}");
    };
    said(&["summary", "prior.lehr"]);
    said(&["check", "prior.lehr"]);
    said(&["predict", "prior.lehr", "data.csv", "-o", "scored.csv"]);
    said(&["evaluate", "prior.lehr", "data.csv"]);
    said(&["effects", "prior.lehr", "x"]);
    said(&["draws", "prior.lehr", "-o", "draws.csv"]);
    said(&["report", "prior.lehr", "-o", "prior.html"]);
    let page = std::fs::read_to_string(scratch.path("prior.html")).unwrap();
    assert!(page.contains("Prior predictive check") && page.contains(SAYS));
    assert!(!page.contains("Posterior predictive check"));
    for arguments in [
        &["loo", "prior.lehr", "data.csv"][..],
        &["loo", "prior.lehr", "data.csv", "--folds", "3"],
        &["check", "prior.lehr", "data.csv", "--against", "nuts"],
        &["check", "prior.lehr", "--simulate", "data.csv"],
    ] {
        let error = scratch.expect(2, arguments).stderr;
        assert!(
            error.contains("without --prior-only"),
            "{arguments:?}: {error}"
        );
    }
}

#[test]
fn what_has_no_draws_or_no_meaning_is_refused() {
    let scratch = Scratch::new();
    scratch.write("data.csv", &data(1.0));
    let refused = |more: &[&str]| {
        let all = ["fit", "y ~ x", "data.csv", "--prior-only"];
        scratch.expect(2, &[&all[..], more].concat()).stderr
    };
    let flat = refused(&["--prior", "x ~ flat"]);
    assert!(flat.contains("\"x\"") && flat.contains("flat"), "{flat}");
    let setting = refused(&["--iterations", "100"]);
    assert!(setting.contains("fits nothing"), "{setting}");
    refused(&["--method", "nuts"]);
    assert!(refused(&["--draws", "3"]).contains("at least 20 draws"));
}
