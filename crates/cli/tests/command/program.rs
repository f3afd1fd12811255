//! Fits of models that were written in Rust, used without the program that defined them.

use lehr::prelude::*;
use lehr::table::Table;

use crate::fixture::{Noise, Scratch};

fn table(rows: usize, seed: u64) -> Table {
    let mut noise = Noise(seed);
    let x: Vec<f64> = (0..rows).map(|_| noise.normal()).collect();
    let site: Vec<u32> = (0..rows as u32).map(|row| row % 3).collect();
    let hit = (x.iter().zip(&site))
        .map(|(x, site)| 2.0 * x + f64::from(*site) - 1.0)
        .map(|logit| f64::from(noise.uniform() < 1.0 / (1.0 + (-logit).exp())));
    let hit = hit.collect();
    let levels = ["north", "south, inner", "west"].map(String::from).to_vec();
    Table::new()
        .with_number("x", x)
        .and_then(|table| table.with_category("site", site, levels))
        .and_then(|table| table.with_number("hit", hit))
        .unwrap()
}

/// A folder with `fit.lehr` of a model that is not a formula, and `test.csv` with other rows.
fn fitted() -> Scratch {
    let scratch = Scratch::new();
    let model = Model::new(|m| {
        let slope = m.sample("slope", Normal::new(0.0, 2.0));
        let level = m.sample("level", Normal::new(0.0, 2.0).expand([m.levels("site")]));
        m.deterministic("odds", slope.exp());
        m.rows(|row| {
            let logit = row.number("x") * slope + level.at(row.index("site"));
            row.observe("hit", Bernoulli::with_logit(logit));
        });
    });
    let density = model.bind(&table(400, 1)).unwrap();
    let fit = Fit::new(FullRank::default()).seed(5);
    let posterior = fit.run(&density).unwrap();
    posterior.save(&scratch.path("fit.lehr")).unwrap();
    table(100, 2).write(scratch.path("test.csv")).unwrap();
    scratch
}

#[test]
fn a_saved_model_is_used_without_what_wrote_it() {
    let scratch = fitted();
    let json = scratch.judged(&["summary", "fit.lehr"]);
    let names = |json: &serde_json::Value| -> Vec<String> {
        let all = json["coefficients"].as_array().unwrap().iter();
        all.map(|one| one["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(&json),
        ["slope", "level[0]", "level[1]", "level[2]", "odds"]
    );
    let slope = json["coefficients"][0]["mean"].as_f64().unwrap();
    assert!((slope - 2.0).abs() < 0.6, "{json}");
    let json = scratch.json(
        0,
        &["evaluate", "fit.lehr", "test.csv", "--accept-warnings"],
    );
    assert!(json["accuracy"].as_f64().unwrap() > 0.7, "{json}");
    let text = scratch.run(&["check", "fit.lehr"]).stdout;
    assert!(text.contains("importance weights"), "{text}");
    let draws = scratch.json(
        0,
        &["draws", "fit.lehr", "-o", "draws.csv", "--accept-warnings"],
    );
    assert_eq!(draws["names"].as_array().unwrap().len(), 5);
    scratch.expect(0, &["report", "fit.lehr", "-o", "report.html"]);
    let page = std::fs::read_to_string(scratch.path("report.html")).unwrap();
    assert!(page.contains("a model of hit"), "the heading is missing");
}

#[test]
fn a_saved_model_predicts_rows_that_lack_the_response() {
    let scratch = fitted();
    scratch.write("new.csv", "x,site\n3,west\n-3,north\n0,\"south, inner\"\n");
    let arguments = [
        "predict",
        "fit.lehr",
        "new.csv",
        "-o",
        "scored.csv",
        "--accept-warnings",
    ];
    let json = scratch.json(0, &arguments);
    assert_eq!(json["n_rows"], 3);
    let scored = Table::read(scratch.path("scored.csv")).unwrap();
    let means = scored.number("hit_mean").unwrap();
    assert!(means[0] > 0.9 && means[1] < 0.1, "{means:?}");
    assert!(means[2] > 0.2 && means[2] < 0.8, "{means:?}");
    scratch.write("odd.csv", "x,site\n3,east\n");
    let error = scratch.expect(2, &["predict", "fit.lehr", "odd.csv", "-o", "odd.parquet"]);
    assert!(error.stderr.contains("east"), "{}", error.stderr);
}
