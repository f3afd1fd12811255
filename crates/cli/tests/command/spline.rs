//! Splines and monotonic effects from the command line: the chosen method, predictions and effects.

use std::fmt::Write;

use crate::fixture::{Noise, Scratch};

fn data() -> String {
    let mut noise = Noise(5);
    let mut text = String::from("y,x,month,size\n");
    for row in 0..400 {
        let (x, month, size) = (f64::from(row * 37 % 400) / 40.0, row % 12 + 1, row % 4 + 1);
        let season = (std::f64::consts::TAU * f64::from(month) / 12.0).cos();
        let y = x.sin() + season + 0.3 * f64::from(size) + 0.3 * noise.normal();
        let _ = writeln!(text, "{y},{x},{month},{size}");
    }
    text
}

#[test]
fn a_smooth_is_collapsed_drawn_predicted_and_counted_beyond_its_range() {
    let scratch = Scratch::new();
    scratch.write("data.csv", &data());
    let formula = "y ~ s(x) + s(month, bs = \"cc\", period = 12) + size";
    let json = scratch.json(0, &["fit", formula, "data.csv", "-o", "fit.lehr"]);
    assert_eq!(json["method"], "collapse");
    let names: Vec<&str> = (json["coefficients"].as_array().unwrap().iter())
        .filter_map(|one| one["name"].as_str())
        .collect();
    let expected = [
        "Intercept",
        "size",
        "x",
        "sd(s(x))",
        "sd(s(month))",
        "sigma",
    ];
    assert_eq!(names, expected);
    scratch.write("new.csv", "x,month,size\n5,13,1\n5,1,1\n12,1,1\n");
    let predict = ["predict", "fit.lehr", "new.csv", "-o", "scored.csv"];
    let said = scratch.expect(0, &predict).stderr;
    assert!(said.contains("s(x)") && said.contains(": 1 rows"), "{said}");
    let scored = std::fs::read_to_string(scratch.path("scored.csv")).unwrap();
    let rows: Vec<Vec<&str>> = scored.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[1][3], rows[2][3], "month 13 is month 1");
    let effects = scratch.expect(0, &["effects", "fit.lehr", "x"]).stdout;
    assert!(effects.contains("effect of x"), "{effects}");
    scratch.expect(0, &["report", "fit.lehr", "-o", "fit.html"]);
    let page = std::fs::read_to_string(scratch.path("fit.html")).unwrap();
    assert!(page.contains("s(month)"));
}

#[test]
fn a_monotonic_effect_has_levels_in_order() {
    let scratch = Scratch::new();
    scratch.write("data.csv", &data());
    let json = scratch.json(
        0,
        &[
            "fit",
            "y ~ mo(size) + ns(x, df = 6)",
            "data.csv",
            "-o",
            "fit.lehr",
        ],
    );
    let all = json["coefficients"].as_array().unwrap();
    let slope = all.iter().find(|one| one["name"] == "mo(size)").unwrap();
    let (mean, sd) = (
        slope["mean"].as_f64().unwrap(),
        slope["sd"].as_f64().unwrap(),
    );
    assert!((mean - 0.3).abs() < 4.0 * sd && sd < 0.1, "{slope}");
    let effects = scratch.expect(0, &["effects", "fit.lehr", "size"]).stdout;
    let places = ["size = 1", "size = 2", "size = 3", "size = 4"].map(|level| effects.find(level));
    assert!(places.is_sorted() && places[0].is_some(), "{effects}");
}
