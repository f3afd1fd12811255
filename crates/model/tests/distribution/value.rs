//! Log densities against values computed with other software.

use lehr_graph::Graph;
use lehr_graph::reference::{InputValues, evaluate};

use crate::catalogue::{DISCRETE, Entry, all};
use crate::{assert_close, numbers};

fn log_density(entry: &Entry, parameters: &[f64], x: f64) -> f64 {
    let graph = Graph::new();
    let inputs: Vec<_> = parameters.iter().map(|_| graph.input("p", ())).collect();
    let at = graph.input("x", ());
    let density = (entry.build)(&inputs).log_density(at);
    let bound = inputs.iter().zip(parameters);
    let values = bound.fold(InputValues::new(), |v, (&i, &p)| v.with(i, &[p]));
    evaluate(&[density], &values.with(at, &[x]), 1)[0][0]
}

/// The size of the terms of a log density compared with their sum: those of a count grow like y ln
/// y.
fn terms(entry: &Entry, x: f64) -> f64 {
    let counts = DISCRETE.iter().any(|other| other.name == entry.name);
    if counts {
        (1.0 + x).ln().mul_add(0.01 * x, 1.0)
    } else {
        1.0
    }
}

#[test]
fn log_densities_agree_with_independent_values_in_centre_and_tails() {
    for entry in all() {
        for &(parameters, x, expected) in entry.table {
            let found = log_density(entry, parameters, x);
            let what = format!("{} {parameters:?} at {x}", entry.name);
            assert_close(found, expected, 4e-13 * terms(entry, x), &what);
        }
    }
}

#[test]
fn constant_parameters_give_the_density_of_inputs() {
    for entry in all() {
        for &(parameters, x, _) in entry.table {
            let graph = Graph::new();
            let constants: Vec<_> = parameters.iter().map(|&p| graph.scalar(p)).collect();
            let found = numbers((entry.build)(&constants).log_density(graph.scalar(x)))[0];
            let expected = log_density(entry, parameters, x);
            let what = format!("{} {parameters:?} at {x}", entry.name);
            assert_close(found, expected, 1e-14, &what);
        }
    }
}
