//! A fit with too many groups and draws for the draws of the groups to be kept, in every command.

use std::fmt::Write;

use crate::fixture::{Noise, Scratch};

const GROUPS: usize = 1700;

/// Two rows of each group; the groups differ by 2 on average.
fn data() -> String {
    let mut noise = Noise(7);
    let mut text = String::from("y,x,g\n");
    let effects: Vec<f64> = (0..GROUPS).map(|_| 2.0 * noise.normal()).collect();
    for row in 0..2 * GROUPS {
        let (x, group) = (noise.normal(), row % GROUPS);
        let y = 10.0 + 0.5 * x + effects[group] + 0.5 * noise.normal();
        let _ = writeln!(text, "{y},{x},u{group}");
    }
    text
}

#[test]
fn a_fit_of_very_many_groups_is_summarised_predicted_reported_and_told_of() {
    let scratch = Scratch::new();
    let text = data();
    scratch.write("data.csv", &text);
    let fit = ["fit", "y ~ x + (1 | g)", "data.csv", "-o", "fit.lehr"];
    let json = scratch.json(0, &[&fit[..], &["--draws", "20000"]].concat());
    assert_eq!(json["method"], "collapse");
    assert_eq!(json["n_latents"], GROUPS + 4);
    let summary = scratch.json(0, &["summary", "fit.lehr", "--groups"]);
    let all = summary["coefficients"].as_array().unwrap();
    assert_eq!(all.len(), GROUPS + 4);
    let said = scratch.expect(0, &["draws", "fit.lehr", "--groups", "-o", "draws.csv"]);
    let told = "the draws of standard(g) are not kept, 1700 numbers in each of 20000 draws";
    assert!(said.stderr.contains(told), "{}", said.stderr);
    assert!(said.stderr.contains("lehr fit --draws"), "{}", said.stderr);
    let drawn = std::fs::read_to_string(scratch.path("draws.csv")).unwrap();
    assert_eq!(drawn.lines().next(), Some("Intercept,x,sd(g),sigma"));
    scratch.expect(0, &["predict", "fit.lehr", "data.csv", "-o", "scored.csv"]);
    let scored = std::fs::read_to_string(scratch.path("scored.csv")).unwrap();
    let mut lines = scored.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|one| *one == name).unwrap();
    let at = |line: &str, name: &str| -> f64 {
        let fields: Vec<&str> = line.split(',').collect();
        fields[place(name)].parse().unwrap()
    };
    // The two rows of a group determine its mean to 0.5/√2, and the means have a standard deviation
    // of 2: predictions follow the groups.
    let errors = lines.map(|line| (at(line, "y") - at(line, "y_mean")).powi(2));
    let error = (errors.sum::<f64>() / (2 * GROUPS) as f64).sqrt();
    assert!((0.3..0.45).contains(&error), "{error}");
    scratch.expect(0, &["report", "fit.lehr", "-o", "fit.html"]);
    let page = std::fs::read_to_string(scratch.path("fit.html")).unwrap();
    assert!(page.contains("lowest of 1700 levels"));
}
