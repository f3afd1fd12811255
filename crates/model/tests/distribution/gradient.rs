//! Gradients in every parameter and the point, against central differences.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};

use crate::assert_close;
use crate::catalogue::{CONTINUOUS, DISCRETE, Entry};

/// The log density and its gradient at `at`; the parameters come before the point.
fn value_and_slopes(entry: &Entry, at: &[f64], discrete: usize) -> (f64, Vec<f64>) {
    let graph = Graph::new();
    let inputs: Vec<Expr<'_>> = at.iter().map(|_| graph.input("input", ())).collect();
    let (&x, parameters) = inputs.split_last().expect("a point");
    let density = (entry.build)(parameters).log_density(x);
    let mut outputs = vec![density];
    outputs.extend(graph.grad(density, &inputs[..inputs.len() - discrete]));
    let bound = inputs.iter().zip(at);
    let values = bound.fold(InputValues::new(), |v, (&i, &p)| v.with(i, &[p]));
    let found = evaluate(&outputs, &values, 1);
    (found[0][0], found[1..].iter().map(|v| v[0]).collect())
}

fn check(entry: &Entry, x: f64, discrete: usize) {
    let at: Vec<f64> = entry.usual.iter().copied().chain([x]).collect();
    let (_, slopes) = value_and_slopes(entry, &at, discrete);
    for (k, slope) in slopes.iter().enumerate() {
        let step = 1e-5 * at[k].abs().max(0.1);
        let moved = |by: f64| {
            let mut moved = at.clone();
            moved[k] += by;
            value_and_slopes(entry, &moved, discrete).0
        };
        let difference = (moved(step) - moved(-step)) / (2.0 * step);
        let what = format!("{} at {at:?}, input {k}", entry.name);
        assert_close(*slope, difference, 2e-7, &what);
    }
}

#[test]
fn slopes_of_continuous_densities_are_those_of_differences() {
    for entry in CONTINUOUS {
        for x in [0.15, 0.55, 0.9] {
            check(entry, x, 0);
        }
    }
}

#[test]
fn slopes_of_probabilities_are_those_of_differences() {
    for entry in DISCRETE {
        for y in [0.0, 1.0] {
            check(entry, y, 1);
        }
        if !entry.name.contains("BERNOULLI") {
            check(entry, 2.0, 1);
        }
    }
}

#[test]
fn slopes_are_finite_wherever_the_table_goes() {
    let entries = CONTINUOUS.iter().map(|entry| (entry, 0));
    for (entry, discrete) in entries.chain(DISCRETE.iter().map(|entry| (entry, 1))) {
        for &(parameters, x, _) in entry.table {
            let at: Vec<f64> = parameters.iter().copied().chain([x]).collect();
            let (_, slopes) = value_and_slopes(entry, &at, discrete);
            let finite = slopes.iter().all(|slope| slope.is_finite());
            assert!(finite, "{} at {at:?}: {slopes:?}", entry.name);
        }
    }
}
