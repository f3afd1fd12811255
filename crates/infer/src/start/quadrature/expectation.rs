//! Each row's log likelihood and its derivatives, averaged over a Gaussian predictor.

use faer::{Mat, Side};
use lehr_density::{Density, Point, RowSet, Rows};
use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};

use super::{KNOWN, at_predictor, predictor};
use crate::train::{copy_rows, read_columns};

/// Nodes that are taken together, one per lane.
const NODES: usize = 16;
/// Rows that are taken together.
const ROWS: usize = 1024;
/// Predictors that vary by less than this see a log likelihood that Hermite's nodes resolve.
const NARROW: f64 = 1.0;
/// Of wider ones each class is so many times as wide as the one before.
const WIDER: f64 = 4.0;
/// Beyond this many standard deviations an integrand counts as nothing.
const REACH: f64 = 8.0;
/// The largest distance of two predictors at which a log likelihood is seen. Of an integrand
/// that is analytic within π of the real line, as a logistic one is, equal steps of this size
/// miss shares of the order of e^(−2π²).
const STEP: f64 = 1.0;

/// A rule for E f(t), t ~ N(0, 1), in groups of [`NODES`].
struct Rule {
    nodes: Vec<f64>,
    weights: Vec<f64>,
}

/// The integrals of all rows at one mean, by classes of rows whose predictors vary alike.
pub(super) struct Expectation<'d> {
    density: &'d dyn Density,
    plan: Plan,
    workspace: Workspace,
    columns: Vec<(usize, Slot)>,
    /// Of the mean, the deviations, the nodes and the weights.
    slots: [Option<Slot>; 4],
    found: [Vec<f64>; 3],
    rules: Vec<Rule>,
}

impl<'d> Expectation<'d> {
    pub(super) fn new(density: &'d dyn Density) -> Expectation<'d> {
        let graph = Graph::new();
        let rows = Rows::inputs(
            &graph,
            density.columns(),
            ROWS.min(density.n_rows()),
            "rows.",
        );
        let inputs = [
            graph.input("mean", [density.latents().size()]),
            graph.input("deviation", [rows.len()]),
            graph.laned_input("node", ()),
            graph.laned_input("weight", ()),
        ];
        let plan = Plan::new(&integrals(density, inputs, &rows), NODES);
        Expectation {
            density,
            columns: read_columns(&plan, &rows),
            slots: inputs.map(|input| plan.input(input)),
            workspace: plan.workspace(),
            plan,
            found: [const { Vec::new() }; 3],
            rules: vec![gauss_hermite()],
        }
    }

    /// Of each row E ℓ(u), E ℓ'(u) and E ℓ''(u), with u around its predictor at `mean`.
    pub(super) fn at(&mut self, mean: &[f64], deviations: &[f64]) -> &[Vec<f64>; 3] {
        for found in &mut self.found {
            found.clear();
            found.resize(deviations.len(), 0.0);
        }
        self.set(0, mean);
        let class = |deviation: f64| (deviation / NARROW).log(WIDER).ceil().max(0.0) as usize;
        let mut classes: Vec<Vec<usize>> = Vec::new();
        for (row, &deviation) in deviations.iter().enumerate() {
            let class = class(deviation).min(MOST_CLASSES);
            classes.resize_with(classes.len().max(class + 1), Vec::new);
            classes[class].push(row);
        }
        for (class, rows) in classes.iter().enumerate() {
            if class == self.rules.len() {
                let widest = NARROW * WIDER.powi(class as i32);
                self.rules.push(equal_steps(STEP / widest));
            }
            for rows in rows.chunks(self.plan_rows()) {
                self.take(rows, deviations, class);
            }
        }
        &self.found
    }

    fn plan_rows(&self) -> usize {
        ROWS.min(self.density.n_rows())
    }

    fn set(&mut self, place: usize, values: &[f64]) {
        if let Some(slot) = self.slots[place] {
            self.workspace.set(slot, values);
        }
    }

    /// Adds the integrals of some rows of a class; a short block is filled up with its last row.
    fn take(&mut self, rows: &[usize], deviations: &[f64], class: usize) {
        let last = rows[rows.len() - 1];
        let mut list = rows.to_vec();
        list.resize(self.plan_rows(), last);
        let own: Vec<f64> = list.iter().map(|&row| deviations[row]).collect();
        let source = self.density.source();
        copy_rows(
            &mut self.workspace,
            source,
            &RowSet::List(&list),
            &self.columns,
        );
        self.set(1, &own);
        for group in 0..self.rules[class].nodes.len() / NODES {
            let part = group * NODES..(group + 1) * NODES;
            let nodes = self.rules[class].nodes[part.clone()].to_vec();
            let weights = self.rules[class].weights[part].to_vec();
            self.set(2, &nodes);
            self.set(3, &weights);
            self.plan.run(&mut self.workspace);
            for (place, found) in self.found.iter_mut().enumerate() {
                for (&row, value) in rows.iter().zip(self.workspace.output(place)) {
                    found[row] += value;
                }
            }
        }
    }
}

/// Predictors that vary by more than 4⁵ = 1,024 are taken as if by that.
const MOST_CLASSES: usize = 5;

/// The three integrals as sums over nodes.
fn integrals<'g>(
    density: &dyn Density,
    [latents, deviation, node, weight]: [Expr<'g>; 4],
    rows: &Rows<'g>,
) -> Vec<Expr<'g>> {
    let graph = latents.graph();
    let at = Point::new(latents, graph.full([0], 0.0));
    let mean = predictor(density, &at, rows).expect(KNOWN);
    let moved = (mean + deviation * node).anchor();
    let value = at_predictor(density, (&at, rows), moved).expect(KNOWN);
    let first = graph.grad(value.sum(), &[moved])[0];
    let ones = graph.full(moved.shape(), 1.0);
    let second = graph.jvp(&[first], &[moved], &[ones])[0];
    let integral = |of: Expr<'g>| (of * weight).sum_lanes();
    [value, first, second].map(integral).to_vec()
}

/// Nodes and weights by the eigenvalues of the Jacobi matrix of Hermite's polynomials (Golub and
/// Welsch 1969): exact for polynomials up to twice as many terms.
fn gauss_hermite() -> Rule {
    let jacobi = Mat::from_fn(NODES, NODES, |i, j| {
        if i.abs_diff(j) == 1 {
            (i.max(j) as f64).sqrt()
        } else {
            0.0
        }
    });
    let eigen = jacobi.self_adjoint_eigen(Side::Lower);
    let eigen = eigen.expect("a symmetric matrix has its eigenvalues");
    Rule {
        nodes: (0..NODES).map(|k| eigen.S()[k]).collect(),
        weights: (0..NODES).map(|k| eigen.U()[(0, k)].powi(2)).collect(),
    }
}

/// Equal steps, the error of which falls as fast as e^(−c/step) for analytic integrands.
fn equal_steps(step: f64) -> Rule {
    let count = ((2.0 * REACH / step).ceil() as usize).next_multiple_of(NODES);
    let step = 2.0 * REACH / (count - 1) as f64;
    let nodes: Vec<f64> = (0..count).map(|k| k as f64 * step - REACH).collect();
    let density = |t: &f64| (-0.5 * t * t).exp() / std::f64::consts::TAU.sqrt();
    Rule {
        weights: nodes.iter().map(|t| step * density(t)).collect(),
        nodes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(rule: &Rule, power: i32) -> f64 {
        let pairs = rule.nodes.iter().zip(&rule.weights);
        pairs.map(|(t, w)| w * t.powi(power)).sum()
    }

    #[test]
    fn integrals_of_powers_are_the_moments_of_a_normal() {
        let (few, many) = (gauss_hermite(), equal_steps(0.3));
        assert!(many.nodes.len().is_multiple_of(NODES));
        let mut exact = 1.0;
        for power in 0..8 {
            for rule in [&few, &many] {
                let found = moment(rule, 2 * power);
                assert!(
                    (found / exact - 1.0).abs() < 1e-6,
                    "{power}: {found} {exact}"
                );
                assert!(moment(rule, 2 * power + 1).abs() < 1e-8 * exact);
            }
            exact *= f64::from(2 * power + 1);
        }
    }

    #[test]
    fn wide_sigmoids_are_resolved() {
        // E σ'(s t) for wide s is the density of s t at 0, less its curvature there times π²/6.
        let s = 64.0_f64;
        let rule = equal_steps(STEP / s);
        let slope = |t: f64| 1.0 / (2.0 + (s * t).exp() + (-s * t).exp());
        let found: f64 = (rule.nodes.iter().zip(&rule.weights))
            .map(|(t, w)| w * slope(*t))
            .sum();
        let density = 1.0 / (std::f64::consts::TAU.sqrt() * s);
        let exact = density * (1.0 - std::f64::consts::PI.powi(2) / (6.0 * s * s));
        assert!((found / exact - 1.0).abs() < 1e-5, "{found} {exact}");
    }
}
