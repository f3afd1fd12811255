//! Thin products compared with faer's: a data block times one or a few lanes.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use lehr_graph::{Expr, Graph, Plan, Workspace};

use crate::clock::{Time, noise, pool, time};

const ROWS: usize = 256;
const WIDTH: usize = 28;
/// Products per run, as in a chain, which share the data that a plan prepares once.
const REPEATS: usize = 16;

/// The product with the data block X.
#[derive(Clone, Copy)]
enum Side {
    /// X z
    Plain,
    /// Xᵀ r
    Transposed,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Plain => "X z",
            Side::Transposed => "Xᵀ r",
        }
    }

    /// Lengths of operand and result.
    fn lengths(self) -> (usize, usize) {
        match self {
            Side::Plain => (WIDTH, ROWS),
            Side::Transposed => (ROWS, WIDTH),
        }
    }
}

fn planned(side: Side, lanes: usize) -> (Plan, Workspace) {
    let g = Graph::new();
    let x = g.input("x", [ROWS, WIDTH]);
    let matrix = match side {
        Side::Plain => x,
        Side::Transposed => x.transpose(),
    };
    let length = side.lengths().0;
    let columns: Vec<Expr<'_>> = (0..REPEATS)
        .map(|k| g.laned_input(&format!("z{k}"), [length]))
        .collect();
    let products: Vec<Expr<'_>> = columns.iter().map(|z| matrix.dot(*z)).collect();
    let plan = Plan::new(&products, lanes);
    let mut workspace = plan.workspace();
    for input in columns.into_iter().chain([x]) {
        let slot = plan.input(input).expect("used");
        for (i, v) in workspace.numbers_mut(slot).iter_mut().enumerate() {
            *v = noise(i);
        }
    }
    (plan, workspace)
}

/// X row by row and lanes one after another, as the plan has them.
fn by_faer(side: Side, lanes: usize) -> Time {
    let x: Vec<f64> = (0..ROWS * WIDTH).map(noise).collect();
    let (length, size) = side.lengths();
    let z: Vec<f64> = (0..length * lanes).map(noise).collect();
    let mut c = vec![0.0; size * lanes];
    let x = MatRef::from_row_major_slice(&x, ROWS, WIDTH);
    let x = match side {
        Side::Plain => x,
        Side::Transposed => x.transpose(),
    };
    let z = MatRef::from_column_major_slice(&z, length, lanes);
    time(|| {
        let c = MatMut::from_column_major_slice_mut(&mut c, size, lanes);
        matmul(c, Accum::Replace, x, z, 1.0, Par::Seq);
    })
}

/// Prints our times and faer's side by side.
pub(crate) fn table() {
    println!("Thin products, X of {ROWS}×{WIDTH}, {REPEATS} to a run");
    println!("       lanes      plan    median      faer    median  ratio");
    for side in [Side::Plain, Side::Transposed] {
        for lanes in [1, 4, 8, 16] {
            let (plan, mut workspace) = planned(side, lanes);
            let run = pool(1).install(|| time(|| plan.run(&mut workspace)));
            let ours = Time {
                least: run.least / REPEATS as f64,
                median: run.median / REPEATS as f64,
            };
            let theirs = by_faer(side, lanes);
            let ratio = ours.least / theirs.least;
            let (ours, theirs) = (ours.micros(), theirs.micros());
            println!("{:>6} {lanes:5} {ours} {theirs} {ratio:6.2}", side.name());
        }
    }
    println!();
}
