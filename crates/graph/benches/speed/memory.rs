//! The speed at which rows are read from each level of memory, which limits repeated reads.

use lehr_graph::{Graph, Plan};

use crate::clock::{noise, pool, time};

/// Rows of 28 numbers: in the first-level cache, in the second-level cache (the rows of a
/// surrogate), at the limit of that cache, and beyond it (the table of the comparison with JAX).
const ROWS: [usize; 4] = [96, 256, 1_792, 50_000];

/// Products per run, so that the start of a run does not count. For many rows only one, since
/// several would share a pass.
fn products(rows: usize) -> usize {
    if rows < 512 { 16 } else { 1 }
}

/// Prints the time to read rows once, on one thread.
pub(crate) fn table() {
    println!("X z with rows of 28 numbers, one thread: how fast memory delivers them");
    println!("  rows        KB      step    median     GB/s  ns per row");
    for rows in ROWS {
        let graph = Graph::new();
        let x = graph.input("x", [rows, 28]);
        let products = products(rows);
        let product = |k| x.dot(graph.input(&format!("z{k}"), [28]));
        let outputs: Vec<_> = (0..products).map(product).collect();
        let plan = Plan::new(&outputs, 1);
        let mut workspace = plan.workspace();
        let slot = plan.input(x).expect("it is read");
        for (i, value) in workspace.numbers_mut(slot).iter_mut().enumerate() {
            *value = noise(i);
        }
        let run = pool(1).install(|| time(|| plan.run(&mut workspace)));
        let bytes = (rows * 28 * 8) as f64;
        let each = run.least / products as f64;
        let (kilobytes, speed) = (bytes / 1e3, bytes / each / 1e9);
        let per_row = each * 1e9 / rows as f64;
        let step = run.micros();
        println!("{rows:6} {kilobytes:9.1} {step} {speed:8.1} {per_row:11.2}");
    }
    println!();
}
