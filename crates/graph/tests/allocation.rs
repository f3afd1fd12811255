//! A plan that has run once allocates nothing when it runs again.
#![expect(unsafe_code, reason = "an allocator that counts is an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_graph::{Expr, Graph, Plan, Workspace};

/// The system's allocator, with a count of the allocations.
struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A grouped logistic regression with a Gaussian process prior: its value, gradient and
/// Hessian-vector product use every kind of kernel.
fn outputs(graph: &Graph, rows: usize, side: usize) -> Vec<Expr<'_>> {
    let table = graph.input("table", [rows, side]);
    let groups = graph.index_input("groups", rows);
    let slopes = graph.laned_input("slopes", [side]);
    let effects = graph.laned_input("effects", [9]);
    let spread = graph.input("spread", [side, side]);
    let margin = table.dot(slopes) + effects.at(groups);
    let likelihood = (margin * 0.3 - margin.softplus()).sum();
    let covariance = spread.dot(spread.transpose()) * (1.0 / side as f64)
        + graph.full([side], 1.0).diagonal_matrix();
    let factor = covariance.cholesky();
    let white = factor.solve_lower(slopes);
    let prior = white.square().sum() * -0.5 - factor.log_determinant_of_factor() * 0.5;
    let smooth = slopes.cumulative_sum().tanh().log_sum_exp(0);
    let of = likelihood + prior + smooth - effects.square().sum();
    let wrt = [slopes, effects, spread];
    let gradient = graph.grad(of, &wrt);
    let product = graph.jvp(&gradient[..1], &[slopes], &[slopes.tanh()]);
    [vec![of.mean_lanes()], gradient, product].concat()
}

fn filled(plan: &Plan, rows: usize, side: usize) -> Workspace {
    let mut workspace = plan.workspace();
    let wave = |n: usize| -> Vec<f64> { (0..n).map(|i| (i as f64 * 0.7).sin()).collect() };
    let sizes = [
        ("table", rows * side),
        ("slopes", side * plan.lanes()),
        ("effects", 9 * plan.lanes()),
        ("spread", side * side),
    ];
    for (name, size) in sizes {
        let slot = plan.input_named(name).expect("the program reads it");
        workspace.set(slot, &wave(size));
    }
    let groups: Vec<u32> = (0..rows as u32).map(|i| i % 9).collect();
    let slot = plan.input_named("groups").expect("the program reads it");
    workspace.set_indices(slot, &groups);
    workspace
}

/// The number of allocations in forty runs after the first.
fn allocations((rows, side, lanes): (usize, usize, usize)) -> usize {
    let graph = Graph::new();
    let plan = Plan::new(&outputs(&graph, rows, side), lanes);
    let mut workspace = filled(&plan, rows, side);
    plan.run(&mut workspace);
    assert!(workspace.output(0)[0].is_finite());
    let before = COUNT.load(Ordering::Relaxed);
    for _ in 0..40 {
        plan.run(&mut workspace);
    }
    COUNT.load(Ordering::Relaxed) - before
}

/// A single test, so that no other thread allocates during the count.
#[test]
fn a_second_run_allocates_nothing() {
    let pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().expect("a pool starts")
    };
    let one = pool(1);
    for size in [(50, 4, 1), (256, 28, 16), (3000, 4, 3), (3000, 60, 2)] {
        assert_eq!(one.install(|| allocations(size)), 0, "{size:?}, 1 thread");
    }
    // Threads allocate when they start and when they first steal work.
    let two = pool(2);
    two.broadcast(|_| ());
    two.install(|| allocations((5000, 28, 16)));
    for size in [(256, 28, 16), (20_000, 4, 16), (5000, 60, 2)] {
        assert_eq!(two.install(|| allocations(size)), 0, "{size:?}, 2 threads");
    }
}
