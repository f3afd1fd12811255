//! Regressions: what they mean on the original scale, what they print, what they refuse.

mod block;
mod by;
mod cluster;
mod coded;
mod covariate;
mod density;
mod distinct;
mod effect;
mod explained;
mod fit;
mod group;
mod induced;
mod limited;
mod loo;
mod mistake;
mod monotonic;
mod new_level;
mod parameter;
mod prediction;
mod prior;
mod process;
mod program;
mod recognition;
mod row_effect;
mod saved;
mod several;
mod shrinkage;
mod smooth;
mod spared;
mod spline;
mod streamed;
mod table;
mod varied;

use std::collections::HashMap;

use lehr_density::{Density, Point, RowColumn, RowSet, Rows};
use lehr_graph::Graph;
use lehr_graph::reference::{Values, evaluate};
use lehr_regression::{Family, Groups, Regression};
use lehr_table::Table;

/// The regression without priors of the user's.
fn regression(formula: &str, family: Family, table: &Table) -> Regression {
    Regression::new(formula, family, &[], table).unwrap_or_else(|error| panic!("{error}"))
}

/// The message with which a regression is refused.
fn refusal(formula: &str, family: Family, table: &Table) -> String {
    let made = Regression::new(formula, family, &[], table);
    made.expect_err("a refusal").to_string()
}

/// A latent vector without symmetries.
fn point(size: usize) -> Vec<f64> {
    (0..size)
        .map(|k| 0.6 * (1.7 * k as f64 + 0.3).sin())
        .collect()
}

/// The coefficients at one flat latent vector, by name.
fn coefficients(regression: &Regression, density: &dyn Density, z: &[f64]) -> HashMap<String, f64> {
    let sites = density.latents().constrain_values(z);
    let draws = regression.coefficients(&sites, Groups::Include);
    let one = |draws: lehr_regression::NamedDraws| {
        assert_eq!(draws.values.len(), 1, "{}", draws.name);
        (draws.name.to_string(), draws.values[0])
    };
    draws.into_iter().map(one).collect()
}

/// The names of the coefficients in order.
fn names(regression: &Regression, table: &Table, groups: Groups) -> Vec<String> {
    let bound = regression.bind(table).unwrap();
    let sites = (bound.latents()).constrain_values(&point(bound.latents().size()));
    let draws = regression.coefficients(&sites, groups);
    draws.iter().map(|draws| draws.name.to_string()).collect()
}

/// The log prior and the rows' log likelihoods.
fn densities(density: &dyn Density, z: &[f64]) -> (f64, Vec<f64>) {
    let graph = Graph::new();
    let at = Point::new(graph.input("z", [z.len()]), graph.input("theta", [0]));
    let set = RowSet::Range(0..density.n_rows());
    let rows = Rows::inputs(&graph, density.columns(), set.len(), "row.");
    let outputs = [density.log_prior(&at), density.log_likelihood(&at, &rows)];
    let values = row_values(density, &rows, &set)
        .with(at.latents, z)
        .with(at.params, &[]);
    let mut found = evaluate(&outputs, &values, 1);
    let likelihood = found.pop().unwrap();
    (found[0][0], likelihood)
}

/// The rows' log likelihoods with given latents of their own, one for each.
fn joint(density: &dyn Density, z: &[f64], own: &[f64]) -> Vec<f64> {
    let graph = Graph::new();
    let at = Point::new(graph.input("z", [z.len()]), graph.input("theta", [0]));
    let set = RowSet::Range(0..density.n_rows());
    let locals = graph.input("own", [set.len(), 1]);
    let rows = Rows::inputs(&graph, density.columns(), set.len(), "row.");
    let values = row_values(density, &rows, &set).with(at.latents, z);
    let values = values.with(at.params, &[]).with(locals, own);
    let told = density.locals().expect("latents of rows");
    let output = told.log_joint(&at, &rows.with_locals(locals));
    evaluate(&[output], &values, 1).remove(0)
}

fn row_values(density: &dyn Density, rows: &Rows<'_>, set: &RowSet<'_>) -> Values {
    let columns = density.columns().iter().zip(rows.columns()).enumerate();
    columns.fold(
        Values::new(),
        |values, (place, (column, (_, input)))| match input {
            RowColumn::Numbers(expr) => {
                let mut numbers = vec![0.0; set.len() * column.kind.width()];
                density.source().copy_numbers(place, set, &mut numbers);
                values.with(expr, &numbers)
            }
            RowColumn::Index(indices) => {
                let mut numbers = vec![0; set.len()];
                density.source().copy_indices(place, set, &mut numbers);
                values.with_indices(indices.expr(), &numbers)
            }
        },
    )
}

fn near(found: f64, expected: f64) {
    let error = (found - expected).abs() / expected.abs().max(1.0);
    assert!(error < 1e-9, "found {found}, expected {expected}");
}

/// Pieces of hand computations.
fn normal(y: f64, mean: f64, scale: f64) -> f64 {
    let z = (y - mean) / scale;
    -0.5 * z * z - scale.ln() - 0.5 * std::f64::consts::TAU.ln()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn number(table: Table, name: &str, values: &[f64]) -> Table {
    table.with_number(name, values.to_vec()).unwrap()
}

fn category(table: Table, name: &str, cells: &[&str]) -> Table {
    let mut levels: Vec<String> = cells.iter().map(ToString::to_string).collect();
    levels.sort();
    levels.dedup();
    let code = |cell: &&str| levels.iter().position(|level| level == cell).unwrap() as u32;
    let codes = cells.iter().map(code).collect();
    table.with_category(name, codes, levels).unwrap()
}
