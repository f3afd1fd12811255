//! Parameters outside their domain are named.

use lehr_graph::Graph;
use lehr_model::distribution::{
    Bernoulli, Beta, Binomial, Categorical, Dirichlet, Distribution, Gamma, LkjCholesky,
    MultivariateNormal, NegativeBinomial, Normal, OrderedLogistic, Poisson, StudentT, Uniform,
    ZeroInflated,
};

use crate::catalogue::all;

#[track_caller]
fn refused(distribution: &dyn Distribution<'_>, expected: &str) {
    let found = distribution
        .check_parameters()
        .expect_err(expected)
        .to_string();
    assert_eq!(found.lines().next(), Some(expected));
}

#[test]
fn usual_parameters_pass() {
    let graph = Graph::new();
    for entry in all() {
        let parameters: Vec<_> = entry.usual.iter().map(|&p| graph.scalar(p)).collect();
        let check = (entry.build)(&parameters).check_parameters();
        assert_eq!(check, Ok(()), "{}", entry.name);
    }
}

#[test]
fn numbers_outside_their_domain_are_named() {
    refused(
        &Normal::new(0.0, -1.0),
        "Normal: scale must be positive, found -1",
    );
    refused(
        &Normal::new(f64::NAN, 1.0),
        "Normal: loc must be finite, found NaN",
    );
    refused(
        &StudentT::new(0.0, 0.0, 1.0),
        "StudentT: df must be positive, found 0",
    );
    refused(
        &Gamma::with_mean(-2.0, 1.0),
        "Gamma: mean must be positive, found -2",
    );
    refused(
        &Beta::with_mean(1.5, 2.0),
        "Beta: mean must be between 0 and 1, found 1.5",
    );
    refused(
        &Uniform::new(2.0, 1.0),
        "Uniform: high must be above low = 2, found 1",
    );
    refused(
        &Bernoulli::with_probability(1.2),
        "Bernoulli: probability must be between 0 and 1, found 1.2",
    );
    refused(
        &Binomial::with_logit(2.5, 0.0),
        "Binomial: trials must be a whole number from 0 on, found 2.5",
    );
    refused(
        &Poisson::with_rate(0.0),
        "Poisson: rate must be positive, found 0",
    );
    refused(
        &NegativeBinomial::new(1.0, -3.0),
        "NegativeBinomial: dispersion must be positive, found -3",
    );
    refused(
        &ZeroInflated::with_gate_logit(Poisson::with_rate(1.0), f64::INFINITY),
        "ZeroInflated Poisson: gate must be finite, found inf",
    );
    refused(
        &LkjCholesky::new(3, 0.0),
        "LkjCholesky: concentration must be positive, found 0",
    );
}

#[test]
fn vectors_outside_their_domain_are_named() {
    refused(
        &Dirichlet::new([1.0, -2.0]),
        "Dirichlet: concentration must be positive, found -2",
    );
    refused(
        &Dirichlet::new(1.0),
        "Dirichlet: concentration must be a vector of at least 2, found shape []",
    );
    refused(
        &Categorical::with_logits([0.5]),
        "Categorical: logits must end in an axis of at least 2 outcomes, found shape [1]",
    );
    refused(
        &OrderedLogistic::new(0.0, [1.0, 1.0]),
        "OrderedLogistic: cutpoints must rise, found 1 before 1",
    );
    refused(
        &OrderedLogistic::new(0.0, 1.0),
        "OrderedLogistic: cutpoints must be a vector, found shape []",
    );
}

#[test]
fn shapes_that_do_not_fit_are_named() {
    let graph = Graph::new();
    let (three, four) = (graph.input("a", [3]), graph.input("b", [4]));
    refused(
        &Normal::new(three, four),
        "Normal: scale must fit the other parameters of shape [3], found shape [4]",
    );
    refused(
        &Normal::new(three, 1.0).expand([5]),
        "Normal: expand expects a shape to which [3] broadcasts, found [5]",
    );
    refused(
        &MultivariateNormal::new(three, graph.input("factor", [4, 4])),
        "MultivariateNormal: loc must end in an axis of 4, the factor's, found shape [3]",
    );
    refused(
        &MultivariateNormal::new(0.0, graph.input("factor", [4, 3])),
        "MultivariateNormal: factor must be a square matrix, found shape [4, 3]",
    );
}

#[test]
fn what_is_only_known_in_a_run_passes() {
    let graph = Graph::new();
    let scale = graph.input("scale", ());
    assert_eq!(Normal::new(0.0, scale).check_parameters(), Ok(()));
}
