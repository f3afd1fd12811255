//! Fits without a named method, and fits compared with Markov chains.

use crate::fixture::{Scratch, csv};

#[test]
fn a_fit_without_a_method_says_which_it_tried_and_keeps_the_one_that_made_it() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(400, 3));
    let fit = ["fit", "y ~ x1 + x2", "train.csv", "-o", "fit.lehr"];
    let json = scratch.json(0, &fit);
    let attempts = json["attempts"].as_array().unwrap();
    assert_eq!(json["method"], attempts.last().unwrap()["method"]);
    assert_eq!(attempts.last().unwrap()["verdict"], "reliable");
    assert!(
        json["choices"]["condensed"]
            .as_str()
            .unwrap()
            .starts_with("400 rows to ")
    );
    let said = scratch
        .expect(0, &["fit", "y ~ x1 + x2", "train.csv"])
        .stderr;
    assert!(said.contains("auto: full-rank, "), "{said}");
    scratch.expect(0, &["draws", "fit.lehr", "-o", "draws.csv"]);
}

#[test]
fn a_check_against_chains_bounds_the_evidence_from_both_sides() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(300, 5));
    let fit = [
        "fit",
        "y ~ x1",
        "train.csv",
        "-o",
        "fit.lehr",
        "--method",
        "full-rank",
    ];
    scratch.expect(0, &fit);
    let check = ["check", "fit.lehr", "train.csv", "--against", "hmc"];
    let against = &scratch.json(0, &check)["against"];
    let number = |key: &str, part: &str| against[key][part].as_f64().unwrap();
    assert!(number("upper", "mean") > number("lower", "mean") - 4.0 * number("width", "se"));
    assert!(number("width", "mean") < 0.1, "{against}");
    assert_eq!(against["differences"].as_array().unwrap().len(), 3);
    let text = scratch.expect(0, &check).stdout;
    assert!(text.contains("≤ log evidence ≤"), "{text}");
    // With weighted draws the upper bound is only an estimate.
    let weighed = [
        "check",
        "fit.lehr",
        "train.csv",
        "--against",
        "surrogate-hmc",
    ];
    let text = scratch.expect(0, &weighed).stdout;
    assert!(text.contains("≤ log evidence ≲"), "{text}");
    let error = scratch
        .expect(2, &["check", "fit.lehr", "--against", "hmc"])
        .stderr;
    assert!(error.contains("TABLE"), "{error}");
}
