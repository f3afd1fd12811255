//! The modelling language: its meaning, its error messages, its predictions.

mod binding;
mod language;
mod linear;
mod prediction;
mod program;

use lehr_density::{Density, Point, RowColumn, RowSet, RowSource, Rows};
use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};
use lehr_model::distribution::{Bernoulli, Distribution, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_table::Table;

/// The multilevel logistic model of the guide, with two weights.
fn multilevel() -> Model {
    Model::new(|m| {
        let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
        let scale = m.sample("group_scale", HalfNormal::new(1.0));
        let groups = m.levels("group");
        let effect = m.sample("group_effect", Normal::new(0.0, scale).expand([groups]));
        m.rows(|row| {
            let logit = row.matrix("x").dot(weight) + effect.at(row.index("group"));
            row.observe("y", Bernoulli::with_logit(logit));
        });
    })
}

const X: [f64; 8] = [0.5, -1.0, 1.5, 0.2, -0.3, 0.8, 2.0, -0.7];
const GROUP: [u32; 4] = [0, 2, 1, 2];
const Y: [f64; 4] = [0.0, 1.0, 1.0, 0.0];

fn table() -> Table {
    Table::new()
        .with_number("y", Y.to_vec())
        .and_then(|t| t.with_matrix("x", 4, 2, X.to_vec()))
        .and_then(|t| t.with_category("group", GROUP.to_vec(), levels()))
        .unwrap()
}

fn levels() -> Vec<String> {
    ["north", "east", "south"].map(String::from).to_vec()
}

/// The values of all inputs that the rows of a source provide.
fn row_values(density: &dyn Density, rows: &Rows<'_>, set: &RowSet<'_>) -> InputValues {
    let source: &dyn RowSource = density.source();
    let columns = density.columns().iter().zip(rows.columns()).enumerate();
    columns.fold(
        InputValues::new(),
        |values, (place, (column, (_, input)))| match input {
            RowColumn::Numbers(expr) => {
                let mut numbers = vec![0.0; set.len() * column.kind.width()];
                source.copy_numbers(place, set, &mut numbers);
                values.with(expr, &numbers)
            }
            RowColumn::Index(indices) => {
                let mut numbers = vec![0; set.len()];
                source.copy_indices(place, set, &mut numbers);
                values.with_indices(indices.expr(), &numbers)
            }
        },
    )
}

/// The log prior and the rows' log likelihoods at a point.
fn densities(density: &dyn Density, z: &[f64], theta: &[f64]) -> (f64, Vec<f64>) {
    let graph = Graph::new();
    let point = Point::new(
        graph.input("z", [z.len()]),
        graph.input("theta", [theta.len()]),
    );
    let set = RowSet::Range(0..density.n_rows());
    let rows = Rows::inputs(&graph, density.columns(), set.len(), "row.");
    let outputs = [
        density.log_prior(&point),
        density.log_likelihood(&point, &rows),
    ];
    assert!(outputs[0].shape().is_scalar());
    assert_eq!(outputs[1].shape(), [set.len()].into());
    let values = row_values(density, &rows, &set)
        .with(point.latents, z)
        .with(point.params, theta);
    let mut found = evaluate(&outputs, &values, 1);
    let likelihood = found.pop().unwrap();
    (found[0][0], likelihood)
}

fn near(found: f64, expected: f64) {
    let slack = 1e-12 * expected.abs().max(1.0);
    assert!(
        (found - expected).abs() <= slack,
        "{found} is not {expected}"
    );
}

fn bind(model: &Model, table: &Table) -> Bound {
    model.bind(table).unwrap_or_else(|error| panic!("{error}"))
}

/// ln N(x; loc, scale²) written out.
fn normal(x: f64, loc: f64, scale: f64) -> f64 {
    let z = (x - loc) / scale;
    -0.5 * z * z - scale.ln() - 0.5 * std::f64::consts::TAU.ln()
}

/// The values of expressions at a point, without rows.
fn at_point(outputs: &[Expr<'_>], point: &Point<'_>, z: &[f64], theta: &[f64]) -> Vec<Vec<f64>> {
    let values = InputValues::new()
        .with(point.latents, z)
        .with(point.params, theta);
    evaluate(outputs, &values, 1)
}
