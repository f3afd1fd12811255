//! Difficult tables: each is fitted or refused with a message, and none causes a panic.

use std::fmt::Write;

use crate::fixture::{Ended, Noise, QUICK, Scratch, csv};

fn fit(formula: &str, text: &str, more: &[&str]) -> Ended {
    let scratch = Scratch::new();
    scratch.write("data.csv", text);
    let arguments = ["fit", formula, "data.csv"];
    let all: Vec<&str> = arguments
        .iter()
        .chain(&QUICK)
        .chain(more)
        .copied()
        .collect();
    scratch.run(&all)
}

fn refused(formula: &str, text: &str, more: &[&str], expected: &str) {
    let ended = fit(formula, text, more);
    assert_eq!(ended.code, Some(2), "{}\n{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}

fn fitted(formula: &str, text: &str, more: &[&str]) -> String {
    let ended = fit(formula, text, more);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    ended.stdout
}

/// A table of y and some columns, each a function of the row and noise.
fn table(head: &str, rows: usize, mut row: impl FnMut(usize, &mut Noise) -> String) -> String {
    let mut noise = Noise(11);
    let mut text = format!("{head}\n");
    for k in 0..rows {
        let line = row(k, &mut noise);
        let _ = writeln!(text, "{line}");
    }
    text
}

#[test]
fn no_rows_and_one_row() {
    refused("y ~ x", "y,x\n", &[], "found none");
    refused("y ~ x", "y,x\n1,2\n", &[], "expected a column that varies");
    refused(
        "y ~ 1",
        "y,x\n1.5,2\n",
        &[],
        "no noise to learn from a constant",
    );
}

#[test]
fn a_constant_column_is_told() {
    let text = table("y,x,c", 50, |_, noise| {
        format!("{},{},3", noise.normal(), noise.normal())
    });
    let ended = fit("y ~ x + c", &text, &[]);
    let told = format!("{}{}", ended.stdout, ended.stderr);
    assert!(
        told.contains("c: left out, it is the same in every row"),
        "{told}"
    );
    let alone = "expected a column that varies, found the same value in every row of c";
    refused("y ~ c", &text, &[], alone);
}

#[test]
fn duplicate_columns_do_not_break_the_fit() {
    let text = table("y,x,z", 80, |_, noise| {
        let x = noise.normal();
        format!("{},{x},{x}", x + noise.normal())
    });
    let out = fitted("y ~ x + z", &text, &[]);
    let told = "x and z are equal: only the sum of their coefficients is known";
    assert!(out.contains(told), "{out}");
    refused(
        "y ~ x",
        "y,x,x\n1,2,3\n",
        &[],
        "columns 2 and 3 are both called \"x\"",
    );
}

#[test]
fn columns_of_a_thousand_million_are_scaled_and_scaled_back() {
    let text = table("y,x", 200, |_, noise| {
        let x = noise.normal();
        format!("{},{}", 1e9 * (x + 0.1 * noise.normal()), 1e9 * x)
    });
    let out = fitted("y ~ x", &text, &[]);
    let line = out.lines().find(|line| line.starts_with("x ")).unwrap();
    let mean: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!((mean - 1.0).abs() < 0.1, "{out}");
}

#[test]
fn one_class_only_is_refused_or_told() {
    let text = table("y,x", 50, |_, noise| format!("1,{}", noise.normal()));
    let out = fitted("y ~ x", &text, &["--family", "bernoulli"]);
    assert!(out.contains("1 in every row, so priors decide"), "{out}");
    let words = table("y,x", 50, |_, noise| format!("yes,{}", noise.normal()));
    let told = "for family bernoulli, found only \"yes\"";
    refused("y ~ x", &words, &["--family", "bernoulli"], told);
    refused("y ~ x", &words, &[], told);
    let told =
        "column \"y\": expected values that differ for family gaussian, found 1 in every row";
    refused("y ~ x", &text, &["--family", "gaussian"], told);
}

#[test]
fn missing_values_are_counted_and_can_be_dropped() {
    let text = table("y,x", 60, |k, noise| match k % 6 {
        0 => format!("{},NA", noise.normal()),
        _ => format!("{},{}", noise.normal(), noise.normal()),
    });
    refused(
        "y ~ x",
        &text,
        &[],
        "missing values among 60 rows: \"x\" 10",
    );
    let out = fitted("y ~ x", &text, &["--missing", "drop"]);
    assert!(out.contains("10 with missing values left out"), "{out}");
    let marked = text.replace("NA", "n/a");
    refused("y ~ x", &marked, &[], "--missing-text n/a");
    fitted(
        "y ~ x",
        &marked,
        &["--missing", "drop", "--missing-text", "n/a"],
    );
}

#[test]
fn an_all_missing_column_is_refused_only_where_it_is_read() {
    let text = table("y,x,m", 40, |_, noise| {
        format!("{},{},", noise.normal(), noise.normal())
    });
    let told = "column \"m\" has no value at all: leave it out of the formula";
    refused("y ~ x + m", &text, &[], "among 40 rows: \"m\" 40");
    refused("y ~ x + m", &text, &[], told);
    refused("y ~ .", &text, &[], told);
    let none = "found none: all 40 have a missing value";
    refused("y ~ x + m", &text, &["--missing", "drop"], none);
    fitted("y ~ x", &text, &[]);
}

#[test]
fn infinities_are_refused() {
    let text = table("y,x", 40, |k, noise| match k {
        7 => format!("{},inf", noise.normal()),
        _ => format!("{},{}", noise.normal(), noise.normal()),
    });
    let told = "column \"x\": expected finite numbers, found 1 infinite, the first in row 8";
    refused("y ~ x", &text, &[], told);
    let text = table("y,x", 40, |k, noise| match k {
        7 => format!("-inf,{}", noise.normal()),
        _ => format!("{},{}", noise.normal(), noise.normal()),
    });
    let told = "column \"y\": expected finite numbers, found 1 infinite, the first in row 8";
    refused("y ~ x", &text, &[], told);
    let text = table("y,x", 40, |k, noise| {
        format!("{},{}", noise.normal(), k as f64 - 7.0)
    });
    let told = "log(x): expects finite numbers, found NaN in row 1";
    refused("y ~ log(x)", &text, &[], told);
}

#[test]
fn unicode_names_need_no_quoting() {
    let text = table("größe,температура,名前", 60, |k, noise| {
        format!(
            "{},{},{}",
            noise.normal(),
            noise.normal(),
            ["東", "西"][k % 2]
        )
    });
    let out = fitted("größe ~ температура + 名前", &text, &[]);
    assert!(
        out.contains("температура") && out.contains("名前["),
        "{out}"
    );
}

#[test]
fn an_unknown_name_of_another_script_is_told_the_nearest() {
    let text = "größe,температура\n1,2\n2,3\n4,1\n";
    refused(
        "größe ~ темпратура",
        text,
        &[],
        "^^^^^^^^^^  did you mean \"температура\"?",
    );
}

#[test]
fn shards_that_disagree_are_named() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("shards")).unwrap();
    scratch.write("shards/1.csv", "y,x\n1,2\n2,3\n");
    for (second, expected) in [
        (
            "y,z\n1,2\n",
            "shards/2.csv: column \"z\" (a number), but shards/1.csv has column \"x\"",
        ),
        (
            "x,y\n1,2\n",
            "shards/2.csv: column \"x\" (a number), but shards/1.csv has column \"y\"",
        ),
        (
            "y\n1\n",
            "shards/2.csv: no column \"x\", but shards/1.csv has column \"x\"",
        ),
        (
            "y,x\n1,two\n",
            "shards/2.csv:2:2: column \"x\" expects a number, found \"two\"",
        ),
        ("y,x\n1\n", "shards/2.csv:2: expected 2 fields, found 1"),
    ] {
        scratch.write("shards/2.csv", second);
        for tables in ["shards", "shards/*.csv"] {
            let error = scratch.expect(2, &["fit", "y ~ x", tables]).stderr;
            assert!(error.contains(expected), "{error}");
        }
    }
}

#[test]
fn ragged_and_mistyped_cells_are_told_with_their_line() {
    refused("y ~ x", "y,x\n1,2\n3\n", &[], "data.csv:3");
    refused("y ~ x", "y,x\n1,2\n3,4\n5,six\n7,8\n", &[], "data.csv:4:2");
}

#[test]
fn a_level_per_row_is_a_group_effect() {
    let many = table("y,g", 100_000, |k, _| format!("{},g{k}", k % 7));
    refused(
        "y ~ g",
        &many,
        &["--family", "gaussian"],
        "write (1 | g) for an effect that varies by group",
    );
    let text = table("y,g", 40, |k, noise| format!("{},g{k}", noise.normal()));
    let alone = "group g: expected fewer groups than rows for family gaussian, \
                 found 40 groups in 40 rows";
    refused("y ~ 1 + (1 | g)", &text, &[], alone);
    refused("y ~ 1 + (1 | g)", &text, &["--memory", "0"], alone);
    let scratch = Scratch::new();
    scratch.write("data.csv", &text);
    let prior = ["--prior", "sigma ~ gamma(25, 50)", "--method", "collapse"];
    let all = [&["fit", "y ~ 1 + (1 | g)", "data.csv"][..], &prior].concat();
    let out = scratch.run(&all).stdout;
    let told = "every row is a group of its own, so only priors tell sd(g) from the noise";
    assert!(out.contains(told), "{out}");
    let counts = table("y,g", 30, |k, noise| {
        format!("{},g{k}", (4.0 * noise.uniform()) as u32)
    });
    fitted("y ~ 1 + (1 | g)", &counts, &["--family", "poisson"]);
}

#[test]
fn other_delimiters_and_headless_files_are_read() {
    let text = csv(60, 12).replace(',', ";");
    fitted("y ~ x1", &text, &[]);
    fitted("y ~ x1", &text, &["--delimiter", ";"]);
    let (_, body) = text.split_once('\n').unwrap();
    fitted("column_1 ~ column_3", body, &["--no-header"]);
}
