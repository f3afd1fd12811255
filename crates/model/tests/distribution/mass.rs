//! Densities integrate to one, and the stated moments are those of the density.

use lehr_density::{ResponseKind, Support};
use lehr_graph::Graph;

use crate::catalogue::{CONTINUOUS, DISCRETE, Entry};
use crate::{assert_close, numbers};

/// Points and weights of a quadrature by a doubly exponential change of variable, for which
/// algebraic tails and poles at the ends are no harder than normal ones.
fn nodes(support: Support) -> Vec<(f64, f64)> {
    let step = 1.0 / 64.0;
    let point = |k: i32| {
        let t = f64::from(k) * step;
        let (u, slope) = (t.sinh() * 2.0, t.cosh() * 2.0 * step);
        match support {
            Support::Real => (u.sinh(), u.cosh() * slope),
            Support::Positive => (u.exp(), u.exp() * slope),
            Support::UnitInterval => squeezed(0.0, 1.0, u, slope),
            Support::Interval(low, high) => squeezed(low, high, u, slope),
            _ => panic!("no quadrature for {support}"),
        }
    };
    let inside = |&(x, w): &(f64, f64)| w > 0.0 && x.is_finite() && w.is_finite();
    let all = (-400..=400).map(point).filter(inside);
    all.filter(|(x, _)| support.contains_values(&[*x]))
        .collect()
}

fn squeezed(low: f64, high: f64, u: f64, slope: f64) -> (f64, f64) {
    let (width, below) = (high - low, 1.0 / (1.0 + (-u).exp()));
    let above = 1.0 / (1.0 + u.exp());
    (low + width * below, width * below * above * slope)
}

/// Σ w p(x), Σ w x p(x) and Σ w x² p(x).
fn moments(entry: &Entry, nodes: &[(f64, f64)]) -> [f64; 3] {
    let graph = Graph::new();
    let parameters: Vec<_> = entry.usual.iter().map(|&p| graph.scalar(p)).collect();
    let points: Vec<f64> = nodes.iter().map(|n| n.0).collect();
    let distribution = (entry.build)(&parameters);
    let density = distribution.log_density(graph.constant([points.len()], &points));
    let mass: Vec<f64> = numbers(density).iter().map(|l| l.exp()).collect();
    let sum = |power: i32| -> f64 {
        // Far out the density is zero and the power of the point is infinite.
        let terms = nodes.iter().zip(&mass).filter(|(_, p)| **p > 0.0);
        terms.map(|(&(x, w), p)| w * x.powi(power) * p).sum()
    };
    [sum(0), sum(1), sum(2)]
}

/// The stated mean and variance.
fn stated(entry: &Entry) -> Option<(f64, f64)> {
    let graph = Graph::new();
    let parameters: Vec<_> = entry.usual.iter().map(|&p| graph.scalar(p)).collect();
    let distribution = (entry.build)(&parameters);
    let mean = numbers(distribution.mean(&graph)?)[0];
    Some((mean, numbers(distribution.variance(&graph)?)[0]))
}

fn check(entry: &Entry, nodes: &[(f64, f64)], tolerance: f64) {
    let [mass, first, second] = moments(entry, nodes);
    assert_close(mass, 1.0, tolerance, &format!("{} mass", entry.name));
    // Angles have circular moments.
    if let Some((mean, variance)) = stated(entry).filter(|_| entry.name != "VON_MISES") {
        let found = second - first * first;
        assert_close(first, mean, tolerance, &format!("{} mean", entry.name));
        assert_close(
            found,
            variance,
            tolerance,
            &format!("{} variance", entry.name),
        );
    }
}

#[test]
fn densities_integrate_to_one_and_have_the_moments_they_state() {
    for entry in CONTINUOUS {
        let graph = Graph::new();
        let parameters: Vec<_> = entry.usual.iter().map(|&p| graph.scalar(p)).collect();
        let support = (entry.build)(&parameters).support();
        let support = support.expect("continuous distributions have a support");
        // The trapezoidal rule is only of second order at the Laplace density's kink.
        let tolerance = if entry.name == "LAPLACE" { 1e-4 } else { 2e-8 };
        check(entry, &nodes(support), tolerance);
    }
}

#[test]
fn probabilities_sum_to_one_and_have_the_moments_they_state() {
    for entry in DISCRETE {
        let graph = Graph::new();
        let parameters: Vec<_> = entry.usual.iter().map(|&p| graph.scalar(p)).collect();
        let kind = (entry.build)(&parameters).response_kind();
        assert_eq!((entry.build)(&parameters).support(), None, "{}", entry.name);
        let most = match kind {
            ResponseKind::Binary => 1,
            ResponseKind::Category(n) => n as u32 - 1,
            ResponseKind::CountUpTo(n) => n as u32,
            // Beyond the trials of a binomial the density is −∞, which sums as zero.
            _ => 400,
        };
        let nodes: Vec<(f64, f64)> = (0..=most).map(|y| (f64::from(y), 1.0)).collect();
        check(entry, &nodes, 1e-11);
    }
}
