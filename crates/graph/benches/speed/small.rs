//! The cost of arithmetic on few numbers: a chain in few dimensions runs hundreds of such kernels
//! per step.

use lehr_graph::{Graph, Plan};

use crate::clock::{noise, pool, time};

/// The number of consecutive operations, each on the result of the previous one.
const OPERATIONS: usize = 600;

/// Prints nanoseconds per kernel by the number of its elements.
pub(crate) fn table() {
    println!("Arithmetic on a few numbers, one kernel waiting for the other, one thread");
    println!("numbers   kernels      step    median  ns per kernel");
    for n in [1, 18, 28, 54] {
        let graph = Graph::new();
        let (a, b) = (graph.input("a", [n]), graph.input("b", [n]));
        let c = graph.input("c", ());
        let mut x = a;
        for i in 0..OPERATIONS {
            // In an order that the branch predictor cannot learn from the last few steps.
            x = match (1e6 * (noise(i) + 1.0)) as usize % 5 {
                0 => x * a,
                1 => x + b,
                2 => b - x,
                3 => x * c,
                _ => x.square(),
            };
        }
        let plan = Plan::new(&[x], 1);
        let mut workspace = plan.workspace();
        for (name, value) in [("a", 0.9), ("b", 0.1), ("c", 1.1)] {
            let slot = plan.input_named(name).expect("it is read");
            workspace.numbers_mut(slot).fill(value);
        }
        let run = pool(1).install(|| time(|| plan.run(&mut workspace)));
        let kernels = plan.report().n_kernels();
        let each = run.least * 1e9 / kernels as f64;
        let step = run.micros();
        println!("{n:7} {kernels:9} {step} {each:14.1}");
    }
    println!();
}
