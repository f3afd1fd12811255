//! Chains with a batch of rows against one chain per row.

use lehr_graph::{Graph, Plan};

use super::*;

const ROWS: usize = 3;
const SIZE: usize = 2;
const STEPS: usize = 3;

/// The noise is an input. The target is not Gaussian and differs from row to row.
struct Rows<'g> {
    graph: &'g Graph,
    /// `[B, 1]`, or one of its entries.
    slope: Expr<'g>,
}

impl<'g> Path<'g> for Rows<'g> {
    fn target(&self, k: usize, x: Expr<'g>) -> Expr<'g> {
        let bent = (x * self.slope).tanh() - 0.25 * x.square().square();
        each(bent) * (1.0 + 0.1 * k as f64)
    }

    fn base(&self, x: Expr<'g>) -> Expr<'g> {
        -0.5 * each(x.square())
    }

    fn noise(&self, name: &str, shape: Shape) -> Expr<'g> {
        self.graph.laned_input(name, shape)
    }
}

/// Numbers that differ by name and place.
fn numbers(name: &str, count: usize) -> Vec<f64> {
    let phase: f64 = name.bytes().map(f64::from).sum();
    (0..count).map(|i| (phase + 1.7 * i as f64).sin()).collect()
}

/// The end points of chains with this noise, and their weights: `rows` chains side by side, or only
/// that of row `only`.
fn run(shape: &[usize], only: Option<usize>) -> [Vec<f64>; 2] {
    let graph = Graph::new();
    let slopes: Vec<f64> = (0..ROWS).map(|row| 1.0 + 0.4 * row as f64).collect();
    let slope = match only {
        Some(row) => graph.scalar(slopes[row]),
        None => graph.constant([ROWS, 1], &slopes),
    };
    let path = Rows {
        graph: &graph,
        slope,
    };
    let learned = [
        graph.scalar(-0.5),
        graph.scalar(0.03),
        graph.constant([STEPS], &numbers("increments", STEPS)),
        graph.scalar(0.4),
        graph.constant([SIZE], &numbers("variance", SIZE)),
    ];
    let quantities = Quantities::of(&learned, 0.25);
    let chain = Chain {
        path: &path,
        quantities: &quantities,
        steps: STEPS,
    };
    let shape = Shape::new(shape);
    let p = chain.momentum(0, shape);
    let x = path.noise("start", shape);
    let end = chain.run(State { x, p }, 0.5 * each(x.square()));
    let plan = Plan::new(&[end.x, end.log_weight], 1);
    let mut workspace = plan.workspace();
    for name in ["start", "momentum 0", "momentum 1", "momentum 2"] {
        let all = numbers(name, ROWS * SIZE);
        let values = only.map_or(&all[..], |row| &all[row * SIZE..][..SIZE]);
        workspace.set(plan.input_named(name).expect("it is read"), values);
    }
    plan.run(&mut workspace);
    [0, 1].map(|output| workspace.output(output).to_vec())
}

#[test]
fn a_state_of_many_rows_is_as_many_chains() {
    let [together, weights] = run(&[ROWS, SIZE], None);
    assert_eq!((together.len(), weights.len()), (ROWS * SIZE, ROWS));
    for row in 0..ROWS {
        let [alone, weight] = run(&[SIZE], Some(row));
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + a.abs());
        let mut places = together[row * SIZE..].iter().zip(&alone);
        assert!(places.all(|(a, b)| near(*a, *b)), "{row}: {alone:?}");
        assert!(
            near(weights[row], weight[0]),
            "{row}: {weights:?} {weight:?}"
        );
    }
}

const RESPONSE: f64 = 1.3;
/// The standard deviation of the start of the row's latent: wider than its posterior.
const WIDE: f64 = 5.0;

/// From a wide normal to the posterior of z and of a copy of the row's latent w: z ~ N(0, 1),
/// w ~ N(z, 1), y ~ N(w, 1).
struct Copies<'g>(&'g Graph);

impl<'g> Path<'g> for Copies<'g> {
    fn target(&self, _: usize, x: Expr<'g>) -> Expr<'g> {
        let (z, w) = (x.entry(0), x.entry(1));
        -0.5 * (z.square() + (w - z).square() + (RESPONSE - w).square())
    }

    fn base(&self, x: Expr<'g>) -> Expr<'g> {
        -0.5 * (x.entry(0).square() + (x.entry(1) / WIDE).square())
    }

    fn noise(&self, name: &str, shape: Shape) -> Expr<'g> {
        self.0.laned_input(name, shape)
    }
}

/// The log weights of chains of z and the copy of the row's latent: without a density of the copy's
/// end point, as published, and with one.
fn copies(lanes: usize) -> [Vec<f64>; 2] {
    let graph = Graph::new();
    let path = Copies(&graph);
    let learned = [
        graph.scalar(-0.5),
        graph.scalar(0.03),
        graph.constant([STEPS], &[0.0; STEPS]),
        graph.scalar(0.4),
        graph.constant([SIZE], &[0.0; SIZE]),
    ];
    let quantities = Quantities::of(&learned, 0.25);
    let chain = Chain {
        path: &path,
        quantities: &quantities,
        steps: STEPS,
    };
    let shape = Shape::new(&[SIZE]);
    let noise = path.noise("start", shape);
    let start = noise * graph.constant([SIZE], &[1.0, WIDE]);
    let p = chain.momentum(0, shape);
    let tau = std::f64::consts::TAU;
    let own = 0.5 * noise.square().sum() + (tau.ln() + WIDE.ln());
    let end = chain.run(State { x: start, p }, own);
    let (z, w) = (end.x.entry(0), end.x.entry(1));
    let prior = -0.5 * (z.square() + tau.ln());
    // The row is integrated exactly: y ~ N(z, 2).
    let row = -0.5 * ((RESPONSE - z).square() / 2.0 + (2.0 * tau).ln());
    let published = end.log_weight + prior + row;
    let density = -0.5 * ((w / WIDE).square() + (tau * WIDE * WIDE).ln());
    let plan = Plan::new(&[published, published + density], lanes);
    let mut workspace = plan.workspace();
    let mut stream = lehr_numeric::stream::Stream::new(5, "copies", 0);
    for name in ["start", "momentum 0", "momentum 1", "momentum 2"] {
        let slot = plan.input_named(name).expect("it is read");
        stream.fill_normal(workspace.numbers_mut(slot));
    }
    plan.run(&mut workspace);
    [0, 1].map(|output| workspace.output(output).to_vec())
}

#[test]
fn copies_of_a_rows_latent_need_a_density_where_they_end() {
    let [published, proper] = copies(4096).map(|weights| {
        let error = lehr_numeric::summary::sd(&weights) / (weights.len() as f64).sqrt();
        (lehr_numeric::summary::mean(&weights), error)
    });
    // y ~ N(0, 3)
    let evidence = -0.5 * (RESPONSE * RESPONSE / 3.0 + (3.0 * std::f64::consts::TAU).ln());
    assert!(
        proper.0 < evidence + 4.0 * proper.1,
        "{proper:?} {evidence}"
    );
    assert!(
        published.0 > evidence + 4.0 * published.1,
        "the published form is no bound: {published:?} {evidence}"
    );
}
