//! The training step of an annealed chain as a graph program: gradient in every learned quantity.

use std::time::Instant;

use lehr_graph::{Expr, Graph, Plan, Workspace};

use crate::clock::{Time, noise, pool, time};

/// The rows that drive the chain and the rows that are scored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Weighted surrogate rows drive the chain, and a batch is scored.
    Surrogate,
    /// All rows do both.
    All,
}

/// Sizes of the step.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    rows: Rows,
    pub(crate) steps: usize,
    pub(crate) dim: usize,
    /// Rows that drive the chain.
    pub(crate) driving: usize,
    /// Rows that are scored.
    batch: usize,
    pub(crate) lanes: usize,
}

/// Rows of the whole table.
const N_ROWS: usize = 50_000;
/// Rows of the surrogate, and of a batch.
const FEW_ROWS: usize = 256;

impl Size {
    /// A step of SL-DAIS.
    pub(crate) fn surrogate(steps: usize, dim: usize, lanes: usize) -> Size {
        Size {
            rows: Rows::Surrogate,
            steps,
            dim,
            driving: FEW_ROWS,
            batch: FEW_ROWS,
            lanes,
        }
    }

    /// A step of DAIS.
    pub(crate) fn full(steps: usize, dim: usize, lanes: usize) -> Size {
        Size {
            rows: Rows::All,
            driving: N_ROWS,
            batch: N_ROWS,
            ..Size::surrogate(steps, dim, lanes)
        }
    }

    /// The time of a step.
    pub(crate) fn time(self, threads: usize) -> Time {
        let (plan, mut workspace) = plan(self);
        pool(threads).install(|| time(|| plan.run(&mut workspace)))
    }
}

/// ln N(v; 0, diag M)
fn log_normal<'g>(v: Expr<'g>, log_variance: Expr<'g>, precision: Expr<'g>) -> Expr<'g> {
    -0.5 * ((v.square() * precision).sum() + log_variance.sum())
}

/// Σ wₙ (yₙ sₙ − softplus sₙ) with s = X z
fn logistic<'g>(x: Expr<'g>, y: Expr<'g>, weight: Expr<'g>, z: Expr<'g>) -> Expr<'g> {
    let logit = x.dot(z);
    (weight * (y * logit - logit.softplus())).sum()
}

/// The objective and everything learned.
#[expect(
    clippy::too_many_lines,
    reason = "the whole program, in the order of the paper"
)]
fn program<'g>(g: &'g Graph, size: Size) -> (Expr<'g>, Vec<Expr<'g>>) {
    let Size {
        rows,
        steps,
        dim,
        driving,
        batch,
        ..
    } = size;
    let mean = g.input("mean", [dim]);
    let log_scale = g.input("log_scale", [dim]);
    let log_variance = g.input("log_variance", [dim]);
    let increments = g.input("increments", [steps]);
    let step = g.input("step", ());
    let kappa = g.input("kappa", ());
    let refresh = g.input("refresh", ());
    let log_weight = g.input("log_weight", [driving]);
    let (xs, ys) = (g.input("xs", [driving, dim]), g.input("ys", [driving]));
    let weight = match rows {
        Rows::Surrogate => log_weight.exp(),
        Rows::All => g.scalar(1.0),
    };
    let (xb, yb) = match rows {
        Rows::Surrogate => (g.input("xb", [batch, dim]), g.input("yb", [batch])),
        Rows::All => (xs, ys),
    };

    let scale = log_scale.exp();
    let variance = log_variance.exp();
    let (precision, deviation) = (variance.recip(), variance.sqrt());
    let cumulative = increments.exp().cumulative_sum();
    let beta = cumulative / cumulative.entry(steps - 1);
    let gamma = refresh.sigmoid();
    let kept = (1.0 - gamma.square()).sqrt();

    let base = |z: Expr<'g>| {
        let e = (z - mean) / scale;
        -0.5 * e.square().sum() - log_scale.sum()
    };
    let prior = |z: Expr<'g>| -0.5 * z.square().sum();
    let mut z = mean + scale * g.laned_input("e0", [dim]);
    let mut v = deviation * g.laned_input("v0", [dim]);
    let mut bound = -base(z);
    for k in 0..steps {
        let beta = beta.entry(k);
        let eta = (0.25 * step.sigmoid() + kappa * beta).clip(0.0, 0.25);
        let half = z + 0.5 * eta * (precision * v);
        let slope = |log_density| g.grad(log_density, &[half])[0];
        let target = slope(prior(half) + logistic(xs, ys, weight, half));
        let kicked = v + eta * (beta * target + (1.0 - beta) * slope(base(half)));
        z = half + 0.5 * eta * (precision * kicked);
        bound = bound + log_normal(kicked, log_variance, precision)
            - log_normal(v, log_variance, precision);
        if k + 1 < steps {
            let noise = g.laned_input(&format!("v{}", k + 1), [dim]);
            v = gamma * kicked + kept * (deviation * noise);
        }
    }
    let scaled = g.scalar(N_ROWS as f64 / batch as f64);
    bound = bound + prior(z) + logistic(xb, yb, scaled, z);
    let mut learned = vec![
        mean,
        log_scale,
        log_variance,
        increments,
        step,
        kappa,
        refresh,
    ];
    if rows == Rows::Surrogate {
        learned.push(log_weight);
    }
    (bound.mean_lanes(), learned)
}

/// The plan of value and gradients, and a workspace with inputs in it.
fn plan(size: Size) -> (Plan, Workspace) {
    let g = Graph::new();
    let (bound, learned) = program(&g, size);
    let mut outputs = vec![bound];
    outputs.extend(g.grad(bound, &learned));
    let plan = Plan::new(&outputs, size.lanes);
    let mut workspace = plan.workspace();
    let noisy = |workspace: &mut Workspace, name: &str, scale: f64, shift: f64| {
        if let Some(slot) = plan.input_named(name) {
            for (i, v) in workspace.numbers_mut(slot).iter_mut().enumerate() {
                *v = shift + scale * noise(i + 1000 * name.len());
            }
        }
    };
    for name in ["mean", "xs", "xb", "log_weight"] {
        noisy(&mut workspace, name, 1.0, 0.0);
    }
    for k in 0..size.steps {
        noisy(&mut workspace, &format!("v{k}"), 1.7, 0.0);
    }
    noisy(&mut workspace, "e0", 1.7, 0.0);
    noisy(&mut workspace, "log_scale", 0.0, -2.3);
    noisy(&mut workspace, "step", 0.0, -3.0);
    noisy(&mut workspace, "refresh", 0.0, 2.2);
    for name in ["ys", "yb"] {
        let Some(slot) = plan.input_named(name) else {
            continue;
        };
        for (i, v) in workspace.numbers_mut(slot).iter_mut().enumerate() {
            *v = f64::from(noise(i) > 0.0);
        }
    }
    (plan, workspace)
}

/// Trace, differentiate and plan, in milliseconds: the least of five.
fn compile(size: Size) -> f64 {
    let once = |_| {
        let start = Instant::now();
        drop(plan(size));
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..5).map(once).fold(f64::INFINITY, f64::min)
}

/// Prints the step of SL-DAIS, by length of the chain, lanes and threads.
pub(crate) fn surrogate_table() {
    println!("SL-DAIS step: 28 latents, 256 surrogate rows, batch 256, all gradients");
    println!("(bars: K = 8 60 µs with 1 lane, 400 with 16; K = 16 compiles in 100 ms)");
    println!("   K lanes threads      step    median  compile ms  kernels");
    let short = [1, 2, 4, 8, 16, 32, 64].map(|steps| (steps, 1, 1));
    let cases = short.into_iter().chain([(8, 16, 1), (8, 16, 2)]);
    for (steps, lanes, threads) in cases {
        let size = Size::surrogate(steps, 28, lanes);
        let compile = compile(size);
        let kernels = plan(size).0.report().n_kernels();
        let step = size.time(threads).micros();
        println!("{steps:4} {lanes:5} {threads:7} {step} {compile:11.2} {kernels:8}");
    }
    println!();
}

/// Prints the step of DAIS on all rows, by lanes and threads.
pub(crate) fn full_data_table() {
    println!("DAIS step on all rows: N = {N_ROWS}, 28 latents, K = 2, all gradients");
    println!("(bar: 1.6 times as fast with the second core)");
    println!("lanes threads      step    median  ns per row and lane  speed-up");
    for lanes in [1, 16] {
        let mut alone = None;
        for threads in [1, 2] {
            let run = Size::full(2, 28, lanes).time(threads);
            let alone = *alone.get_or_insert(run.least);
            let per_row = run.least * 1e9 / (N_ROWS * lanes) as f64;
            let faster = alone / run.least;
            let step = run.micros();
            println!("{lanes:5} {threads:7} {step} {per_row:20.2} {faster:9.2}");
        }
    }
    println!();
}
