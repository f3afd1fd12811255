//! Commands on a saved fit: effects, comparisons, and their error messages.

use crate::fixture::{QUICK, Scratch, csv, fitted};

#[test]
fn effects_are_averaged_over_rows_or_told_at_the_reference() {
    let scratch = fitted();
    let asked = |more: &[&str]| {
        let arguments = [&["effects", "fit.lehr"], more, &["--accept-warnings"]].concat();
        scratch.json(0, &arguments)
    };
    let slope = asked(&["x1", "train.csv"]);
    assert_eq!(
        (&slope["n_rows"], &slope["level"]),
        (&400.into(), &"groups".into())
    );
    assert_eq!(slope["effects"][0]["kind"], "slope");
    let mean = slope["effects"][0]["mean"].as_f64().unwrap();
    assert!(
        (0.1..0.3).contains(&mean),
        "a logit of slope 1 rises by about 0.2: {mean}"
    );
    let odds = asked(&[
        "color",
        "--scale",
        "odds",
        "--contrast",
        "color: red - blue",
        "--at",
        "x1=0",
    ]);
    assert_eq!(
        (&odds["n_rows"], &odds["level"]),
        (&0.into(), &"population".into())
    );
    assert_eq!(odds["effects"][2]["name"], "red / blue");
    let apart = asked(&["color", "test.csv", "--by", "site"]);
    assert_eq!(apart["effects"].as_array().unwrap().len(), 5 * 5);
    let error = scratch.expect(2, &["effects", "fit.lehr", "colour"]).stderr;
    assert!(error.contains("did you mean \"color\"?"), "{error}");
    let text = scratch
        .expect(0, &["effects", "fit.lehr", "x1", "--accept-warnings"])
        .stdout;
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    let expected =
        "effect of x1 on the probability of hit = 1, at the reference, effects of groups at 0, ";
    assert!(
        head.starts_with(expected) && head.ends_with(" draws"),
        "{head}"
    );
    let reference = lines.next().unwrap();
    assert!(reference.starts_with("reference: color = "), "{reference}");
    assert!(reference.contains(", x1 = "), "{reference}");
}

#[test]
fn rows_are_left_out_by_weights_by_folds_and_by_sample() {
    let scratch = fitted();
    let asked = |more: &[&str]| {
        let arguments = [
            &["loo", "fit.lehr", "train.csv"],
            more,
            &["--accept-warnings"],
        ]
        .concat();
        scratch.json(0, &arguments)
    };
    let all = asked(&[]);
    assert_eq!(
        (&all["n_rows"], &all["n_left_out"]),
        (&400.into(), &400.into())
    );
    let elpd = |json: &serde_json::Value, key: &str| json[key]["estimate"].as_f64().unwrap();
    let whole = elpd(&all, "elpd_loo");
    assert!((-300.0..-200.0).contains(&whole), "{whole}");
    let sampled = asked(&["--subsample", "50"]);
    let error = sampled["elpd_loo"]["sampling_se"].as_f64().unwrap();
    assert_eq!(sampled["n_left_out"], 50);
    assert!(
        (elpd(&sampled, "elpd_loo") - whole).abs() < 4.0 * error,
        "{error}"
    );
    let rows = scratch.path("rows.csv");
    asked(&["-o", rows.to_str().unwrap()]);
    let text = std::fs::read_to_string(&rows).unwrap();
    assert!(text.starts_with("row,elpd,k\n1,") && text.lines().count() == 401);
    let error = scratch
        .expect(2, &["loo", "fit.lehr", "train.csv", "--folds", "1"])
        .stderr;
    assert!(
        error.contains("expected from 2 to 400 folds, found 1"),
        "{error}"
    );
}

#[test]
fn models_are_compared_on_the_rows_of_one_table() {
    let scratch = Scratch::new();
    scratch.write("train.csv", &csv(300, 4));
    for (name, formula) in [("a.lehr", "y ~ x1 + x2"), ("b.lehr", "y ~ x2")] {
        let arguments = [&["fit", formula, "train.csv", "-o", name], &QUICK[..]].concat();
        assert!(scratch.run(&arguments).code.unwrap() < 2);
    }
    let arguments = ["compare", "b.lehr", "a.lehr", "train.csv", "--json"];
    let ended = scratch.run(&arguments);
    assert!(ended.code.unwrap() < 2, "{}", ended.stderr);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(json["models"][0]["name"], "a.lehr");
    let difference = &json["models"][1]["difference"];
    let of = |key: &str| difference[key].as_f64().unwrap();
    assert!(of("estimate") < -4.0 * of("se"), "{difference}");
    let error = scratch.expect(2, &["compare", "a.lehr", "b.lehr"]).stderr;
    assert!(error.contains("expected the table"), "{error}");
}

#[test]
fn predictions_have_the_quantiles_draws_and_parameters_that_are_asked_for() {
    let scratch = fitted();
    let mut text = String::from("x1,color\n0.5,red\n-1,violet\n");
    let place = Scratch::new();
    place.write("new.csv", &text);
    let fit = scratch.path("fit.lehr");
    let fit = fit.to_str().unwrap();
    let arguments = [
        "predict",
        fit,
        "new.csv",
        "-o",
        "out.csv",
        "--level",
        "population",
    ];
    let error = place.expect(2, &arguments).stderr;
    assert!(
        error.contains("the level \"violet\" was not in the table"),
        "{error}"
    );
    let more = [
        "--new-levels",
        "reference",
        "--quantiles",
        "2.5,50",
        "--responses",
        "2",
    ];
    let asked = [
        &arguments[..],
        &more,
        &["--parameter", "predictor", "--accept-warnings"],
    ]
    .concat();
    let json = place.json(0, &asked);
    let columns: Vec<&str> = (json["columns"].as_array().unwrap().iter())
        .map(|name| name.as_str().unwrap())
        .collect();
    let expected = "x1 color hit_mean hit_mean_sd hit_mean_q2.5 hit_mean_q50 hit_sd hit_class \
                    hit[0] hit[1] hit_draw1 hit_draw2 hit_predictor hit_predictor_sd \
                    hit_predictor_q2.5 hit_predictor_q50";
    assert_eq!(columns.join(" "), expected);
    text = text.replace("violet", "blue");
    place.write("new.csv", &text);
    let before = std::fs::read_to_string(place.path("out.csv")).unwrap();
    place.json(0, &asked);
    let after = std::fs::read_to_string(place.path("out.csv")).unwrap();
    assert_eq!(
        before.replace("violet", "blue"),
        after,
        "blue is the first level"
    );
    let wrong = [
        &arguments[..],
        &["--new-levels", "reference", "--parameter", "sigma"],
    ]
    .concat();
    let error = place.expect(2, &wrong).stderr;
    assert!(error.contains("the model names predictor"), "{error}");
}
