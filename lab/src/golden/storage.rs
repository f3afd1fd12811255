//! The same models with rows in memory, shuffled on disk, and read in place from Parquet files.

use super::{Case, fitted};

/// The feature that a model tests, and its formula with its options; the table replaces the braces.
const MODELS: &[(&str, &str)] = &[
    ("linear", "'y ~ x1 + x2 + color' {} --method full-rank"),
    (
        "condensed chains",
        "'y ~ x1 + x2' {} --method nuts --chains 2 --warm-up 100 --draws 200",
    ),
    (
        "events",
        "'hit ~ x1 + x2 + color' {} --family bernoulli --method full-rank --iterations 60 --draws 400",
    ),
    (
        "counts",
        "'count ~ x1 + offset(log(dose))' {} --family poisson --method sl-dais --iterations 40 --draws 400",
    ),
    (
        "few distinct rows",
        "'hit ~ C(step) + color' {} --family bernoulli --method full-rank --iterations 60 --draws 200",
    ),
    (
        "surrogate",
        "'hit ~ x1 + color' {} --family bernoulli --method surrogate-hmc --draws 200",
    ),
    (
        "groups",
        "'y ~ x1 + (1 + x1 | site) + (1 | teacher)' {} --method collapse --draws 200",
    ),
    (
        "groups of events",
        "'hit ~ x1 + (1 | site)' {} --family bernoulli --method collapse --draws 100",
    ),
    (
        "chosen by itself",
        "'y ~ x1 + (1 | site)' {} --budget 100000000",
    ),
];

/// The storage of rows.
struct Place {
    name: &'static str,
    table: &'static str,
    options: &'static str,
}

const PLACES: &[Place] = &[
    Place {
        name: "in memory",
        table: "long.csv",
        options: "",
    },
    Place {
        name: "on disk",
        table: "long.csv",
        options: "--memory 0",
    },
    Place {
        name: "in files",
        table: "long-parts",
        options: "--memory 0",
    },
];

/// Models of tables that only they use.
const OTHERS: &[(&str, &str)] = &[
    (
        "groups of many rows",
        "'y ~ x1 + (1 | site) + (1 | teacher)' vast.parquet --method collapse --draws 200 --seed 6",
    ),
    (
        "sample of rows in files",
        "'count ~ x1 + offset(log(dose))' vast-parts --memory 0 --family poisson --method sl-dais --iterations 40 \
         --draws 200 --seed 6",
    ),
    (
        "latents of rows on disk",
        "'count ~ x1' long.csv --memory 0 --family poisson_lognormal --method full-rank --iterations 1 --draws 40 \
         --seed 6",
    ),
];

/// Each model in each place, and the models of many rows.
pub(super) fn cases() -> Vec<Case> {
    let places = |(model, fit): &'static (&str, &str)| {
        let case = move |place: &Place| {
            let name = format!("storage/{model} {}", place.name);
            Case::lines(name, lines(fit, place))
        };
        PLACES.iter().map(case)
    };
    let others = OTHERS
        .iter()
        .map(|(name, fit)| Case::lines(format!("storage/{name}"), fitted(fit)));
    MODELS.iter().flat_map(places).chain(others).collect()
}

/// A fit, and commands that read its rows again.
fn lines(fit: &str, place: &Place) -> Vec<String> {
    let Place { table, options, .. } = place;
    let mut lines = fitted(&format!("{} {options} --seed 6", fit.replace("{}", table)));
    lines.push(format!("evaluate fit.lehr {table} --draws 20"));
    lines.push(format!("loo fit.lehr {table} --subsample 40"));
    lines
}
