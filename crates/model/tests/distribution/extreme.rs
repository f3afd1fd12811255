//! Log densities and gradients at extreme values.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};
use lehr_model::distribution::{
    Bernoulli, Categorical, Distribution, OrderedLogistic, Poisson, ZeroInflated,
};

use crate::assert_close;

/// The log density and its derivative in the one input of `build`.
fn slope_at(at: f64, build: impl for<'g> Fn(Expr<'g>) -> Expr<'g>) -> (f64, f64) {
    let graph = Graph::new();
    let input = graph.input("input", ());
    let density = build(input);
    let slope = graph.grad(density, &[input])[0];
    let found = evaluate(&[density, slope], &InputValues::new().with(input, &[at]), 1);
    (found[0][0], found[1][0])
}

fn bernoulli(logit: Expr<'_>, y: f64) -> Expr<'_> {
    Bernoulli::with_logit(logit).log_density(logit.graph().scalar(y))
}

#[test]
fn a_logit_of_a_thousand_has_exact_value_and_slope() {
    assert_eq!(slope_at(1e3, |l| bernoulli(l, 0.0)), (-1e3, -1.0));
    assert_eq!(slope_at(-1e3, |l| bernoulli(l, 1.0)), (-1e3, 1.0));
    assert_eq!(slope_at(1e3, |l| bernoulli(l, 1.0)), (0.0, 0.0));
    assert_eq!(slope_at(-1e3, |l| bernoulli(l, 0.0)), (0.0, 0.0));
}

#[test]
fn a_binary_response_costs_one_softplus_and_its_slope_one_sigmoid() {
    let graph = Graph::new();
    let (logit, y) = (graph.input("logit", [8]), graph.input("y", [8]));
    let value = Bernoulli::with_logit(logit).log_density(y).sum();
    let slope = graph.grad(value, &[logit])[0];
    let listing = graph.listing(&[value, slope]);
    for (name, expected) in [("softplus", 1), ("sigmoid", 1), ("exp ", 0), ("ln ", 0)] {
        assert_eq!(
            listing.matches(name).count(),
            expected,
            "{name}:\n{listing}"
        );
    }
    assert_eq!(listing.lines().count(), 8, "{listing}");
}

#[test]
fn certain_outcomes_have_finite_slopes() {
    let probability = |p, y: f64| {
        slope_at(p, move |p| {
            Bernoulli::with_probability(p).log_density(p.graph().scalar(y))
        })
    };
    assert_eq!(probability(0.0, 0.0), (0.0, -1.0));
    assert_eq!(probability(1.0, 1.0), (0.0, 1.0));
}

#[test]
fn log_rates_of_seven_hundred_stay_finite() {
    let poisson = |log_rate, y: f64| {
        slope_at(log_rate, move |l| {
            Poisson::with_log_rate(l).log_density(l.graph().scalar(y))
        })
    };
    let (value, slope) = poisson(-700.0, 3.0);
    assert_close(value, -2100.0 - 6f64.ln(), 1e-15, "rate e^-700");
    assert_close(slope, 3.0, 1e-15, "rate e^-700");
    let (value, slope) = poisson(700.0, 3.0);
    assert_close(value, -700f64.exp(), 1e-14, "rate e^700");
    assert_close(slope, -700f64.exp(), 1e-14, "rate e^700");
}

#[test]
fn many_logits_of_a_thousand_have_exact_slopes() {
    let graph = Graph::new();
    let logits = graph.input("logits", [2, 3]);
    let density = Categorical::with_logits(logits).log_density(graph.constant([2], &[1.0, 0.0]));
    let slope = graph.grad(density.sum(), &[logits])[0];
    let values = InputValues::new().with(logits, &[1e3, -1e3, 0.0, 1e3, -1e3, 0.0]);
    let found = evaluate(&[density, slope], &values, 1);
    assert_eq!(found[0], [-2e3, 0.0]);
    assert_eq!(found[1], [-1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_predictor_far_beyond_the_cuts_has_slope_one() {
    let ordered = |at, y: f64| {
        slope_at(at, move |p| {
            OrderedLogistic::new(p, [-1.0, 0.5, 2.0]).log_density(p.graph().scalar(y))
        })
    };
    assert_eq!(ordered(1e3, 1.0).1, -1.0);
    assert_eq!(ordered(-1e3, 1.0).1, 1.0);
    assert_eq!(ordered(1e3, 3.0), (0.0, 0.0));
}

#[test]
fn a_closed_or_open_gate_has_finite_slopes() {
    for gate in [-1e3, 1e3] {
        for y in [0.0, 2.0] {
            let (value, slope) = slope_at(gate, |g| {
                let base = Poisson::with_log_rate(3.0);
                ZeroInflated::with_gate_logit(base, g).log_density(g.graph().scalar(y))
            });
            assert!(
                value.is_finite() && slope.is_finite(),
                "{gate} {y}: {value} {slope}"
            );
        }
    }
}
