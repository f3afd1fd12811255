//! Numbers of z that all rows read directly: their joint variation with the rows' predictors, and
//! the expected log prior over them.
//!
//! With θ = μ + L t, t standard normal, a predictor is uₙ = μₙ + cₙ·t + dₙ t′, where t′ is standard
//! normal, too, and cₙ the covariance of uₙ with t.

use lehr_density::{Density, Point};
use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};
use lehr_numeric::dense::CholeskyFactor;
use lehr_numeric::quadrature::Rule;
use lehr_numeric::vector::dot;

/// The variation of shared numbers under a Gaussian over z.
pub(super) struct SharedNumbers {
    /// Their places in z.
    pub(super) places: Vec<usize>,
    /// L, one row per number.
    factor: Vec<Vec<f64>>,
    /// For each entry of t its covariance with z.
    pub(super) directions: Vec<Vec<f64>>,
}

impl SharedNumbers {
    /// Those at `places` of z = mean + F ε: the rows of F there, orthonormalised one by one.
    pub(super) fn new(places: &[usize], of: &CholeskyFactor) -> SharedNumbers {
        let size = of.size;
        let row = |i: usize| &of.values[i * size..(i + 1) * size];
        let mut basis: Vec<Vec<f64>> = Vec::with_capacity(places.len());
        let mut factor = Vec::with_capacity(places.len());
        for &place in places {
            let mut rest = row(place).to_vec();
            let mut own = vec![0.0; places.len()];
            for (entry, known) in own.iter_mut().zip(&basis) {
                *entry = dot(row(place), known);
                rest.iter_mut()
                    .zip(known)
                    .for_each(|(r, b)| *r -= *entry * b);
            }
            let length = dot(&rest, &rest).sqrt();
            own[basis.len()] = length;
            basis.push(rest.iter().map(|r| r / length).collect());
            factor.push(own);
        }
        let direction = |b: &Vec<f64>| (0..size).map(|i| dot(row(i), b)).collect();
        SharedNumbers {
            places: places.to_vec(),
            factor,
            directions: basis.iter().map(direction).collect(),
        }
    }

    /// The largest standard deviation.
    pub(super) fn widest(&self) -> f64 {
        let deviations = self.factor.iter().map(|row| dot(row, row).sqrt());
        deviations.fold(0.0, f64::max)
    }

    /// z at some nodes of a rule, node after node: the mean except for the shared numbers.
    pub(super) fn latents(
        &self,
        mean: &[f64],
        rule: &Rule,
        nodes: std::ops::Range<usize>,
    ) -> Vec<f64> {
        let mut latents = mean.repeat(nodes.len());
        for (z, node) in latents.chunks_mut(mean.len()).zip(nodes) {
            for (place, row) in self.places.iter().zip(&self.factor) {
                let moved = row.iter().zip(&rule.nodes).map(|(l, t)| l * t[node]);
                z[*place] += moved.sum::<f64>();
            }
        }
        latents
    }
}

/// A constant direction along one entry of z.
pub(super) fn axis(graph: &Graph, size: usize, place: usize) -> Expr<'_> {
    let mut along = vec![0.0; size];
    along[place] = 1.0;
    graph.constant([size], &along)
}

/// Σ wᵢ xᵢ over nodes.
pub(super) fn weighted<'g>(of: Expr<'g>, weight: Expr<'g>) -> Expr<'g> {
    match of.as_number() {
        Some(0.0) => of.graph().full(of.shape(), 0.0),
        _ => (of * weight).sum_lanes(),
    }
}

/// The log prior, its slope and curvature, averaged over shared numbers alone.
pub(super) struct PriorIntegral {
    plan: Plan,
    workspace: Workspace,
    latents: Option<Slot>,
    weight: Option<Slot>,
    rule: Rule,
}

/// The averaged prior.
pub(super) struct PriorAverage {
    pub(super) value: f64,
    pub(super) slope: Vec<f64>,
    /// For each shared number its row of the Hessian.
    pub(super) curves: Vec<Vec<f64>>,
}

impl PriorIntegral {
    pub(super) fn new(density: &dyn Density, places: &[usize]) -> PriorIntegral {
        let graph = Graph::new();
        let size = density.latents().size();
        let latents = graph.laned_input("latents", [size]);
        let weight = graph.laned_input("weight", ());
        let value = density.log_prior(&Point::new(latents, graph.full([0], 0.0)));
        let slope = graph.grad(value, &[latents])[0];
        let mut outputs = vec![value, slope];
        for &place in places {
            let along = axis(&graph, size, place);
            outputs.extend(graph.jvp(&[slope], &[latents], &[along]));
        }
        let outputs: Vec<Expr<'_>> = outputs.iter().map(|of| weighted(*of, weight)).collect();
        let rule = Rule::smooth_rule(places.len());
        let plan = Plan::new(&outputs, rule.weights.len());
        PriorIntegral {
            workspace: plan.workspace(),
            latents: plan.input(latents),
            weight: plan.input(weight),
            plan,
            rule,
        }
    }

    pub(super) fn at(&mut self, mean: &[f64], shared: &SharedNumbers) -> PriorAverage {
        let nodes = 0..self.rule.weights.len();
        let latents = shared.latents(mean, &self.rule, nodes);
        let inputs = [(self.latents, &latents), (self.weight, &self.rule.weights)];
        for (slot, values) in inputs {
            self.workspace.set_input(slot, values);
        }
        self.plan.run(&mut self.workspace);
        let output = |place: usize| self.workspace.output(place).to_vec();
        PriorAverage {
            value: self.workspace.output(0)[0],
            slope: output(1),
            curves: (0..shared.places.len()).map(|j| output(2 + j)).collect(),
        }
    }
}
