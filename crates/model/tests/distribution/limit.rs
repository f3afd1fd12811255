//! Censored and truncated distributions.

use lehr_graph::reference::{InputValues, evaluate};
use lehr_graph::{Expr, Graph};
use lehr_model::distribution::{
    CensoredDistribution, CumulativeDistribution, Distribution, Exponential, LogNormal, Normal,
    Poisson, TruncatedDistribution, Weibull,
};

use crate::draw::{assert_moments, draws};
use crate::limit_table::{
    CENSORED_EXPONENTIAL, CENSORED_LOG_NORMAL, CENSORED_NORMAL, CENSORED_POISSON, CENSORED_WEIBULL,
    TRUNCATED_POISSON,
};
use crate::{assert_close, numbers};

type Built<'g> = Box<dyn Distribution<'g> + 'g>;
type Build = for<'g> fn(&[Expr<'g>], [Expr<'g>; 2]) -> Built<'g>;
type Table = &'static [(&'static [f64], [f64; 3], f64)];

/// Every censored distribution, from its parameters and [status, upper].
const CENSORED: &[(&str, Build, Table)] = &[
    (
        "normal",
        |p, [s, u]| {
            Box::new(CensoredDistribution::with_intervals(
                Normal::new(p[0], p[1]),
                s,
                u,
            ))
        },
        CENSORED_NORMAL,
    ),
    (
        "lognormal",
        |p, [s, u]| {
            Box::new(CensoredDistribution::with_intervals(
                LogNormal::new(p[0], p[1]),
                s,
                u,
            ))
        },
        CENSORED_LOG_NORMAL,
    ),
    (
        "exponential",
        |p, [s, u]| {
            Box::new(CensoredDistribution::with_intervals(
                Exponential::new(p[0]),
                s,
                u,
            ))
        },
        CENSORED_EXPONENTIAL,
    ),
    (
        "weibull",
        |p, [s, u]| {
            let base = Weibull::with_log_mean(p[0], p[1]);
            Box::new(CensoredDistribution::with_intervals(base, s, u))
        },
        CENSORED_WEIBULL,
    ),
    (
        "poisson",
        |p, [s, u]| {
            Box::new(CensoredDistribution::with_intervals(
                Poisson::with_log_rate(p[0]),
                s,
                u,
            ))
        },
        CENSORED_POISSON,
    ),
];

/// The log density at [status, point, upper], and its gradient in the parameters.
fn value_and_slopes(build: Build, parameters: &[f64], known: [f64; 3]) -> (f64, Vec<f64>) {
    let graph = Graph::new();
    let inputs: Vec<Expr<'_>> = parameters.iter().map(|_| graph.input("p", ())).collect();
    let [status, point, upper] = known.map(|number| graph.scalar(number));
    let density = build(&inputs, [status, upper]).log_density(point);
    let mut outputs = vec![density];
    outputs.extend(graph.grad(density, &inputs));
    let bound = inputs.iter().zip(parameters);
    let values = bound.fold(InputValues::new(), |v, (&i, &p)| v.with(i, &[p]));
    let found = evaluate(&outputs, &values, 1);
    (found[0][0], found[1..].iter().map(|v| v[0]).collect())
}

#[test]
fn censored_densities_are_those_computed_elsewhere() {
    for (name, build, table) in CENSORED {
        for (parameters, known, expected) in *table {
            let (found, _) = value_and_slopes(*build, parameters, *known);
            let what = format!("{name} {parameters:?} {known:?}");
            assert_close(found, *expected, 2e-13, &what);
            // If the probability is nearly 1, its small log must be accurate as well.
            if expected.abs() < 1.0 {
                let error = (found - expected).abs() / expected.abs().max(1e-300);
                assert!(error < 1e-11, "{what}: {found} for {expected}");
            }
        }
    }
}

#[test]
fn slopes_of_censored_densities_are_those_of_differences() {
    for (name, build, table) in CENSORED {
        for (parameters, known, _) in *table {
            let (_, slopes) = value_and_slopes(*build, parameters, *known);
            for (k, slope) in slopes.iter().enumerate() {
                let step = 1e-6 * parameters[k].abs().max(1e-9);
                let moved = |by: f64| {
                    let mut moved = parameters.to_vec();
                    moved[k] += by;
                    value_and_slopes(*build, &moved, *known).0
                };
                let difference = (moved(step) - moved(-step)) / (2.0 * step);
                // The rounding error of a difference of large numbers, divided by the step.
                let size = moved(0.0).abs().max(1.0) * 1e-15 / step;
                let what = format!("{name} {parameters:?} {known:?}, input {k}");
                let tolerance = 1e-6 + size / difference.abs().max(1.0);
                assert_close(*slope, difference, tolerance, &what);
            }
        }
    }
}

#[test]
fn extreme_predictors_leave_slopes_of_bounds_finite() {
    for at in [-400.0, -40.0, 40.0, 700.0] {
        for status in [-1.0, 0.0, 1.0, 2.0] {
            for (name, build, parameters) in [
                ("normal", CENSORED[0].1, vec![at, 1.3]),
                ("lognormal", CENSORED[1].1, vec![at, 1.3]),
                ("weibull", CENSORED[3].1, vec![at, 0.9]),
                ("poisson", CENSORED[4].1, vec![at]),
            ] {
                let (_, slopes) = value_and_slopes(build, &parameters, [status, 3.0, 5.0]);
                let finite = slopes.iter().all(|slope| slope.is_finite());
                assert!(finite, "{name} at {at}, status {status}: {slopes:?}");
            }
        }
    }
}

fn truncated_poisson(graph: &Graph, [rate, low, high]: [f64; 3]) -> impl Distribution<'_> {
    TruncatedDistribution::new(Poisson::with_log_rate(graph.scalar(rate)), low, high)
}

#[test]
fn truncated_counts_have_the_probabilities_computed_elsewhere_and_sum_to_one() {
    for (parameters, point, expected) in TRUNCATED_POISSON {
        let graph = Graph::new();
        let counts = truncated_poisson(&graph, *parameters);
        let found = numbers(counts.log_density(graph.scalar(*point)))[0];
        assert_close(found, *expected, 1e-13, &format!("{parameters:?}"));
        let all: Vec<f64> = (parameters[1] as u32..=parameters[2] as u32)
            .map(f64::from)
            .collect();
        let masses = numbers(counts.log_density(graph.constant([all.len()], &all)));
        let sum = |power: i32| -> f64 {
            let terms = all.iter().zip(&masses);
            terms.map(|(y, p)| y.powi(power) * p.exp()).sum()
        };
        let stated = [counts.mean(&graph), counts.variance(&graph)];
        let [mean, variance] = stated.map(|moment| numbers(moment.unwrap())[0]);
        assert_close(sum(0), 1.0, 1e-12, "mass");
        assert_close(mean, sum(1), 1e-11, "mean");
        assert_close(variance, sum(2) - sum(1).powi(2), 1e-9, "variance");
    }
}

/// A truncated distribution.
fn within<'g>(base: impl CumulativeDistribution<'g> + 'g, low: f64, high: f64) -> Built<'g> {
    Box::new(TruncatedDistribution::new(base, low, high))
}

/// One-sided and distant limits, which the table of all distributions does not have.
fn one_sided(graph: &Graph) -> Vec<(&'static str, Built<'_>)> {
    let [none, end] = [f64::NEG_INFINITY, f64::INFINITY];
    let normal = || Normal::new(graph.scalar(1.0), 2.0);
    let weibull = || Weibull::with_log_mean(graph.scalar(0.4), 1.8);
    let log_normal = || LogNormal::new(graph.scalar(0.2), 0.6);
    let exponential = || Exponential::new(graph.scalar(0.7));
    let poisson = |log_rate: f64| Poisson::with_log_rate(graph.scalar(log_rate));
    vec![
        ("normal above", within(normal(), 0.5, end)),
        ("normal below", within(normal(), none, -1.0)),
        ("normal far above", within(normal(), 11.0, end)),
        ("normal in a strip", within(normal(), 1.0, 1.1)),
        ("normal in a far strip", within(normal(), -9.0, -8.5)),
        ("weibull above", within(weibull(), 4.0, end)),
        ("weibull below", within(weibull(), none, 0.3)),
        ("log-normal above", within(log_normal(), 4.0, end)),
        ("log-normal below", within(log_normal(), none, 0.5)),
        ("exponential above", within(exponential(), 9.0, end)),
        ("exponential below", within(exponential(), none, 0.2)),
        ("poisson above", within(poisson(0.5), 8.0, end)),
        ("poisson below", within(poisson(3.0), none, 6.0)),
    ]
}

#[test]
fn draws_between_limits_have_the_moments_the_distribution_states() {
    let graph = Graph::new();
    for (name, distribution) in one_sided(&graph) {
        let moments = [distribution.mean(&graph), distribution.variance(&graph)];
        let [mean, variance] = moments.map(|moment| numbers(moment.unwrap())[0]);
        let drawn = draws(&graph, &*distribution, 20_000, 7);
        assert_moments(&drawn, (mean, variance), name);
    }
}

#[test]
fn what_is_censored_is_drawn_and_averaged_as_it_is() {
    let graph = Graph::new();
    let base = Normal::new(graph.scalar(1.0), 2.0);
    let censored = CensoredDistribution::new(base, 1.0);
    assert_eq!(numbers(censored.mean(&graph).unwrap()), [1.0]);
    assert_moments(&draws(&graph, &censored, 20_000, 3), (1.0, 4.0), "censored");
    assert_eq!(censored.support(), None);
    assert!(
        CensoredDistribution::new(Normal::new(0.0, 1.0), 4.0)
            .check_parameters()
            .is_err()
    );
    let empty = TruncatedDistribution::new(Normal::new(0.0, 1.0), 2.0, 1.0).check_parameters();
    assert!(
        empty
            .unwrap_err()
            .message
            .contains("low must be below high")
    );
}
