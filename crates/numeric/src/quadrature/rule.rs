//! Rules in several dimensions, and the choice of a rule by a predictor's standard deviation.

use faer::{Mat, Side};

/// Nodes that are processed together, one per lane.
pub const NODES: usize = 16;
/// An integrand is negligible beyond this many standard deviations.
const REACH: f64 = 8.0;
/// Nodes in one dimension for an integrand that is nearly a polynomial.
const FEW: usize = 4;

/// For predictors with a smaller standard deviation, Gauss–Hermite nodes resolve a log likelihood.
const NARROW: f64 = 1.0;
/// The ratio of the standard deviations of successive wider classes.
const WIDER: f64 = 4.0;
/// The largest distance of two nodes, in units of the predictor, that resolves a log likelihood.
/// For an integrand that is analytic within π of the real line, as a logistic one is, equal steps
/// of this size have relative errors of the order of e^(−2π²).
const STEP: f64 = 1.0;
/// Standard deviations above 4⁵ = 1,024 are treated as that.
pub const MOST_CLASSES: usize = 6;

/// Nodes and their weights.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// For each dimension the coordinate of every node.
    pub nodes: Vec<Vec<f64>>,
    /// The weight of every node.
    pub weights: Vec<f64>,
}

impl Rule {
    /// Nodes and weights by the eigenvalues of the Jacobi matrix of Hermite's polynomials (Golub
    /// and Welsch 1969): exact for polynomials up to twice as many terms.
    pub fn gauss_hermite(count: usize) -> Rule {
        let jacobi = Mat::from_fn(count, count, |i, j| {
            if i.abs_diff(j) == 1 {
                (i.max(j) as f64).sqrt()
            } else {
                0.0
            }
        });
        let eigen = jacobi.self_adjoint_eigen(Side::Lower);
        let eigen = eigen.expect("a symmetric matrix has its eigenvalues");
        Rule {
            nodes: vec![(0..count).map(|k| eigen.S()[k]).collect()],
            weights: (0..count).map(|k| eigen.U()[(0, k)].powi(2)).collect(),
        }
    }

    /// Equal steps, whose error decreases like e^(−c/step) for analytic integrands.
    pub fn equal_steps(step: f64) -> Rule {
        let count = ((2.0 * REACH / step).ceil() as usize).next_multiple_of(NODES);
        let step = 2.0 * REACH / (count - 1) as f64;
        let nodes: Vec<f64> = (0..count).map(|k| k as f64 * step - REACH).collect();
        let density = |t: &f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
        Rule {
            weights: nodes.iter().map(|t| step * density(t)).collect(),
            nodes: vec![nodes],
        }
    }

    /// A rule for integrands that are nearly polynomials: exact up to degree 5 in any number of
    /// dimensions, up to degree 7 in one or two.
    pub fn smooth_rule(dimensions: usize) -> Rule {
        match dimensions {
            0 => Rule {
                nodes: Vec::new(),
                weights: vec![1.0],
            },
            1 => Rule::gauss_hermite(FEW),
            2 => Rule::gauss_hermite(FEW).tensor_product(&Rule::gauss_hermite(FEW)),
            _ => Rule::fifth_degree(dimensions),
        }
    }

    /// The 2n² + 1 nodes of degree 5: the origin, ±√(n+2) along each axis, and ±√(n/2+1) along each
    /// pair of axes (Stroud 1971, E_n^{r²} 5-2).
    fn fifth_degree(dimensions: usize) -> Rule {
        let n = dimensions as f64;
        let mut rule = Rule {
            nodes: vec![vec![0.0]; dimensions],
            weights: vec![2.0 / (n + 2.0)],
        };
        let far = (n + 2.0).sqrt();
        let near = (0.5 * n + 1.0).sqrt();
        let along = (4.0 - n) / (2.0 * (n + 2.0).powi(2));
        let across = (n + 2.0).powi(-2);
        for i in 0..dimensions {
            for sign in [-1.0, 1.0] {
                rule.push_node(&[(i, sign * far)], along);
                for j in 0..i {
                    rule.push_node(&[(i, sign * near), (j, near)], across);
                    rule.push_node(&[(i, sign * near), (j, -near)], across);
                }
            }
        }
        rule
    }

    /// Adds a node that is 0 in all other dimensions.
    fn push_node(&mut self, coordinates: &[(usize, f64)], weight: f64) {
        for nodes in &mut self.nodes {
            nodes.push(0.0);
        }
        let last = self.weights.len();
        for &(dimension, value) in coordinates {
            self.nodes[dimension][last] = value;
        }
        self.weights.push(weight);
    }

    /// The product of this rule with another, whose dimensions follow.
    pub fn tensor_product(&self, other: &Rule) -> Rule {
        let (own, others) = (self.weights.len(), other.weights.len());
        let pairs = || (0..own * others).map(|k| (k / others, k % others));
        let mine = (self.nodes.iter()).map(|nodes| pairs().map(|(i, _)| nodes[i]).collect());
        let theirs = (other.nodes.iter()).map(|nodes| pairs().map(|(_, j)| nodes[j]).collect());
        Rule {
            nodes: mine.chain(theirs).collect(),
            weights: pairs()
                .map(|(i, j)| self.weights[i] * other.weights[j])
                .collect(),
        }
    }

    /// The rule padded with nodes of zero weight to a multiple of [`NODES`].
    pub fn in_groups(mut self) -> Rule {
        let count = self.weights.len().next_multiple_of(NODES);
        for nodes in &mut self.nodes {
            nodes.resize(count, 0.0);
        }
        self.weights.resize(count, 0.0);
        self
    }
}

/// The class of a predictor with this standard deviation, from 1 on.
pub fn class_of(deviation: f64) -> usize {
    let wider = (deviation / NARROW).log(WIDER).ceil().max(0.0) as usize;
    (1 + wider).min(MOST_CLASSES)
}

/// The one-dimensional rule of a class, with a multiple of [`NODES`] nodes.
pub fn rule_of(class: usize) -> Rule {
    match class {
        0 | 1 => Rule::gauss_hermite(NODES),
        _ => Rule::equal_steps(STEP / (NARROW * WIDER.powi(class as i32 - 1))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// E ∏ tᵢ^kᵢ
    fn moment(rule: &Rule, powers: &[i32]) -> f64 {
        let node = |k: usize| {
            let parts = rule.nodes.iter().zip(powers);
            parts
                .map(|(nodes, power)| nodes[k].powi(*power))
                .product::<f64>()
        };
        (0..rule.weights.len())
            .map(|k| rule.weights[k] * node(k))
            .sum()
    }

    #[test]
    fn integrals_of_powers_are_the_moments_of_a_normal() {
        let (few, many) = (Rule::gauss_hermite(NODES), Rule::equal_steps(0.3));
        assert!(many.weights.len().is_multiple_of(NODES));
        let mut exact = 1.0;
        for power in 0..8 {
            for rule in [&few, &many] {
                let found = moment(rule, &[2 * power]);
                assert!(
                    (found / exact - 1.0).abs() < 1e-6,
                    "{power}: {found} {exact}"
                );
                assert!(moment(rule, &[2 * power + 1]).abs() < 1e-8 * exact);
            }
            exact *= f64::from(2 * power + 1);
        }
    }

    #[test]
    fn smooth_rules_are_exact_to_degree_five_in_any_number_of_dimensions() {
        let exact = |power: i32| [1.0, 0.0, 1.0, 0.0, 3.0, 0.0][power as usize];
        for dimensions in 1..=9 {
            let rule = Rule::smooth_rule(dimensions).in_groups();
            for i in 0..=5 {
                for j in 0..=(5 - i) {
                    let mut powers = vec![0; dimensions];
                    powers[0] = i;
                    powers[dimensions - 1] += j;
                    let all = if dimensions == 1 {
                        exact(i + j)
                    } else {
                        exact(i) * exact(j)
                    };
                    let found = moment(&rule, &powers);
                    assert!(
                        (found - all).abs() < 1e-12,
                        "{dimensions} {i} {j}: {found} {all}"
                    );
                }
            }
        }
    }

    #[test]
    fn wide_sigmoids_are_resolved() {
        // E σ'(s t) for large s is the density of s t at 0, less its curvature there times π²/6.
        let s = 64.0_f64;
        let rule = Rule::equal_steps(1.0 / s);
        let slope = |t: f64| 1.0 / (2.0 + (s * t).exp() + (-s * t).exp());
        let found: f64 = (rule.nodes[0].iter().zip(&rule.weights))
            .map(|(t, w)| w * slope(*t))
            .sum();
        let density = 1.0 / (std::f64::consts::TAU.sqrt() * s);
        let exact = density * (1.0 - std::f64::consts::PI.powi(2) / (6.0 * s * s));
        assert!((found / exact - 1.0).abs() < 1e-5, "{found} {exact}");
    }
}
