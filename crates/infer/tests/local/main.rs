//! Local latents: their integral compared with closed forms and simple sums, and fits that use it.

mod chain;
mod draw;
mod exact;
mod fit;
#[expect(
    dead_code,
    reason = "chains over latents of rows have no base among these"
)]
#[path = "../fixture/mod.rs"]
mod fixture;
mod integral;
mod learning;
mod points;
mod semi;
mod speed;

use lehr_density::{Density, Point, RowSet, Rows};
use lehr_graph::{Graph, Plan};
use lehr_infer::guide::LearnedBlocks;
use lehr_infer::train::{Task, TrainSettings};
use lehr_model::{Bound, Model};
use lehr_table::Table;

use fixture::{difference, value};

/// The log likelihood of each row at z, its gradient in z summed over rows, and the products of the
/// Hessian with each unit vector.
struct Found {
    rows: Vec<f64>,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
}

fn found(density: &dyn Density, z: &[f64]) -> Found {
    let graph = Graph::new();
    let latents = graph.input("z", [z.len()]);
    let at = Point::new(latents, graph.input("theta", [0]));
    let rows = Rows::inputs(&graph, density.columns(), density.n_rows(), "");
    let value = density.log_likelihood(&at, &rows);
    let gradient = graph.grad(value.sum(), &[latents])[0];
    let second = (0..z.len()).map(|k| graph.grad(gradient.entry(k), &[latents])[0]);
    let outputs: Vec<_> = [value, gradient].into_iter().chain(second).collect();
    let plan = Plan::new(&outputs, 1);
    let mut workspace = plan.workspace();
    workspace.set(plan.input(latents).unwrap(), z);
    let all = RowSet::Range(0..density.n_rows());
    for (place, (_, column)) in rows.columns().enumerate() {
        if let Some(slot) = plan.input(column.expr()) {
            let into = workspace.numbers_mut(slot);
            density.source().copy_numbers(place, &all, into);
        }
    }
    plan.run(&mut workspace);
    let hessian = (0..z.len()).flat_map(|k| workspace.output(2 + k).to_vec());
    Found {
        rows: workspace.output(0).to_vec(),
        gradient: workspace.output(1).to_vec(),
        hessian: hessian.collect(),
    }
}

/// Compares the gradient of a task's bound with differences in all learned quantities, each of
/// which has an effect.
fn assert_exact_slopes(task: &Task<'_>, mut learned: LearnedBlocks, most: f64) {
    let settings = TrainSettings {
        lanes: 2,
        ..TrainSettings::default()
    };
    let mut program = task.program(&learned, &settings).unwrap();
    program.fill(task.density.source(), 9);
    assert!(value(&mut program, &learned.values).is_finite());
    let count = learned.blocks().len();
    let slopes: Vec<Vec<f64>> = (1..=count).map(|k| program.output(k).to_vec()).collect();
    for (block, slopes) in slopes.iter().enumerate() {
        let name = learned.blocks()[block].name.clone();
        let largest = slopes.iter().fold(0.0, |most: f64, g| most.max(g.abs()));
        assert!(largest > 1e-9, "{name} does not matter");
        for (place, exact) in learned.range(block).zip(slopes) {
            let found = difference(&mut program, &mut learned.values, place);
            let error = (found - exact).abs() / largest;
            assert!(error < most, "{name}: {found} for {exact} ({error:e})");
        }
    }
}

/// The largest difference of two lists of numbers.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(
        0.0,
        |most: f64, one| if one.is_nan() { one } else { most.max(one) },
    )
}

fn bind(model: &Model, columns: &[(&str, &[f64])]) -> Bound {
    let table = columns.iter().fold(Table::new(), |table, (name, values)| {
        table.with_number(name, values.to_vec()).unwrap()
    });
    model.bind(&table).unwrap()
}

/// Standard normal numbers.
fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut numbers = vec![0.0; count];
    lehr_numeric::stream::Stream::new(seed, "local", 0).fill_normal(&mut numbers);
    numbers
}
