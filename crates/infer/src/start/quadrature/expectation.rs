//! Expectations of each row's log likelihood and its derivatives over a Gaussian predictor and
//! Gaussian numbers that all rows share.

use lehr_density::{Density, Point, RowSet, Rows};
use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};
use lehr_numeric::dense::CholeskyFactor;
use lehr_numeric::quadrature::{NODES, Rule, class_of, rule_of};

use super::design::Design;
use super::shared::{SharedNumbers, axis, weighted};
use super::{KNOWN, at_predictor, predictor};
use lehr_rows::lend::{copy_rows, read_columns};

/// Rows that are processed together.
const ROWS: usize = 1024;
/// For predictors with a smaller standard deviation, a log likelihood is nearly a polynomial.
const TINY: f64 = 0.25;
/// The variation of the predictors of some rows.
pub(super) struct Variation {
    /// |Fᵀaₙ|
    deviations: Vec<f64>,
    /// For each entry of t its share in every row's deviation, and last the remaining deviation.
    parts: Vec<Vec<f64>>,
}

impl Variation {
    /// The variation of rows with these slopes under a Gaussian.
    pub(super) fn of(
        design: &Design,
        factor: &CholeskyFactor,
        shared: &SharedNumbers,
    ) -> Variation {
        let deviations = design.deviations(factor);
        let mut rest: Vec<f64> = deviations.iter().map(|d| d * d).collect();
        let mut parts = Vec::with_capacity(shared.directions.len() + 1);
        for direction in &shared.directions {
            let part = design.project(direction);
            rest.iter_mut().zip(&part).for_each(|(r, p)| *r -= p * p);
            parts.push(part);
        }
        parts.push(rest.iter().map(|square| square.max(0.0).sqrt()).collect());
        Variation { deviations, parts }
    }
}

/// The integrals at one Gaussian.
#[derive(Default)]
pub(super) struct RowIntegrals {
    /// For each row E ℓ, E ℓ', E ℓ'' and for each shared number E ∂ℓ'/∂θ.
    pub(super) rows: Vec<Vec<f64>>,
    /// For all rows together E ∇ and for each shared number its row of E ∇², in z.
    pub(super) all: Vec<Vec<f64>>,
}

/// The integrals of all rows at one mean, by classes of rows whose predictors have similar standard
/// deviations.
pub(super) struct Expectation<'d> {
    density: &'d dyn Density,
    shared: usize,
    plan: Plan,
    workspace: Workspace,
    columns: Vec<(usize, Slot)>,
    slots: Slots,
    found: RowIntegrals,
    rules: Vec<Rule>,
}

/// The inputs of a plan, as expressions or as places.
struct Inputs<T> {
    mean: T,
    /// The mean, with shared numbers at their nodes.
    latents: T,
    weight: T,
    /// 1, or 0 for a row that pads a block.
    counted: T,
    parts: Vec<T>,
    nodes: Vec<T>,
}

type Slots = Inputs<Option<Slot>>;

impl<'g> Inputs<Expr<'g>> {
    fn new(graph: &'g Graph, latents: usize, rows: usize, shared: usize) -> Self {
        Inputs {
            mean: graph.input("mean", [latents]),
            latents: graph.laned_input("latents", [latents]),
            weight: graph.laned_input("weight", ()),
            counted: graph.input("counted", [rows]),
            parts: (0..=shared)
                .map(|k| graph.input(&format!("part.{k}"), [rows]))
                .collect(),
            nodes: (0..=shared)
                .map(|k| graph.laned_input(&format!("node.{k}"), ()))
                .collect(),
        }
    }

    fn slots(&self, plan: &Plan) -> Slots {
        let all = |exprs: &[Expr<'g>]| exprs.iter().map(|expr| plan.input(*expr)).collect();
        Inputs {
            mean: plan.input(self.mean),
            latents: plan.input(self.latents),
            weight: plan.input(self.weight),
            counted: plan.input(self.counted),
            parts: all(&self.parts),
            nodes: all(&self.nodes),
        }
    }
}

impl<'d> Expectation<'d> {
    pub(super) fn new(density: &'d dyn Density, shared: &[usize]) -> Expectation<'d> {
        let graph = Graph::new();
        let count = ROWS.min(density.n_rows());
        let rows = Rows::inputs(&graph, density.columns(), count, "rows.");
        let size = density.latents().size();
        let inputs = Inputs::new(&graph, size, count, shared.len());
        let plan = Plan::new(&integrals(density, &inputs, &rows, shared), NODES);
        Expectation {
            density,
            shared: shared.len(),
            columns: read_columns(&plan, &rows),
            slots: inputs.slots(&plan),
            workspace: plan.workspace(),
            plan,
            found: RowIntegrals::default(),
            rules: Vec::new(),
        }
    }

    /// The integrals of consecutive rows with predictors and shared numbers around those at `mean`.
    pub(super) fn at(
        &mut self,
        (start, mean): (usize, &[f64]),
        how: &Variation,
        shared: &SharedNumbers,
    ) -> &RowIntegrals {
        let rows = how.deviations.len();
        let count = self.shared;
        self.found = RowIntegrals {
            rows: vec![vec![0.0; rows]; 3 + count],
            all: vec![vec![0.0; mean.len()]; if count > 0 { 1 + count } else { 0 }],
        };
        set(&mut self.workspace, self.slots.mean, mean);
        let mut classes: Vec<Vec<usize>> = Vec::new();
        for (row, &deviation) in how.deviations.iter().enumerate() {
            let class = self.class(deviation);
            classes.resize_with(classes.len().max(class + 1), Vec::new);
            classes[class].push(row);
        }
        for (class, rows) in classes.iter().enumerate() {
            if class == self.rules.len() {
                self.rules.push(self.rule(class));
            }
            for rows in rows.chunks(self.plan_rows()) {
                self.place(rows, start, how);
                for first in (0..self.rules[class].weights.len()).step_by(NODES) {
                    self.run_nodes(mean, shared, class, first);
                    self.add(rows);
                }
            }
        }
        &self.found
    }

    /// The class of a predictor's standard deviation, starting with very small ones. Without shared
    /// numbers one rule serves the first two classes.
    fn class(&self, deviation: f64) -> usize {
        if self.shared > 0 && deviation < TINY {
            return 0;
        }
        class_of(deviation)
    }

    /// The rule of a class: for all dimensions together if the predictor hardly varies.
    fn rule(&self, class: usize) -> Rule {
        if class == 0 {
            return Rule::smooth_rule(self.shared + 1).in_groups();
        }
        Rule::smooth_rule(self.shared)
            .tensor_product(&rule_of(class))
            .in_groups()
    }

    fn plan_rows(&self) -> usize {
        ROWS.min(self.density.n_rows())
    }

    /// Sets rows by their numbers after `start`; a short block is padded with its last row, which
    /// then does not count.
    fn place(&mut self, rows: &[usize], start: usize, how: &Variation) {
        let last = rows[rows.len() - 1];
        let mut list = rows.to_vec();
        list.resize(self.plan_rows(), last);
        let workspace = &mut self.workspace;
        for (slot, part) in self.slots.parts.iter().zip(&how.parts) {
            let own: Vec<f64> = list.iter().map(|&row| part[row]).collect();
            set(workspace, *slot, &own);
        }
        for row in &mut list {
            *row += start;
        }
        let source = self.density.source();
        copy_rows(workspace, source, &RowSet::List(&list), &self.columns);
        let mut counted = vec![1.0; rows.len()];
        counted.resize(list.len(), 0.0);
        set(workspace, self.slots.counted, &counted);
    }

    /// Runs the plan at the nodes of a class from the given one on.
    fn run_nodes(&mut self, mean: &[f64], shared: &SharedNumbers, class: usize, first: usize) {
        let rule = &self.rules[class];
        let part = first..first + NODES;
        let workspace = &mut self.workspace;
        for (slot, nodes) in self.slots.nodes.iter().zip(&rule.nodes) {
            set(workspace, *slot, &nodes[part.clone()]);
        }
        set(workspace, self.slots.weight, &rule.weights[part.clone()]);
        if self.slots.latents.is_some() {
            let latents = shared.latents(mean, rule, part);
            set(workspace, self.slots.latents, &latents);
        }
        self.plan.run(workspace);
    }

    fn add(&mut self, rows: &[usize]) {
        let RowIntegrals { rows: of_rows, all } = &mut self.found;
        let each = of_rows.len();
        for (place, found) in of_rows.iter_mut().enumerate() {
            for (&row, value) in rows.iter().zip(self.workspace.output(place)) {
                found[row] += value;
            }
        }
        for (place, found) in all.iter_mut().enumerate() {
            let values = self.workspace.output(each + place);
            found
                .iter_mut()
                .zip(values)
                .for_each(|(f, value)| *f += value);
        }
    }
}

fn set(workspace: &mut Workspace, slot: Option<Slot>, values: &[f64]) {
    workspace.set_input(slot, values);
}

/// The integrals as sums over nodes: for each row, then for all rows together.
fn integrals<'g>(
    density: &dyn Density,
    inputs: &Inputs<Expr<'g>>,
    rows: &Rows<'g>,
    shared: &[usize],
) -> Vec<Expr<'g>> {
    let graph = inputs.mean.graph();
    let none = || graph.full([0], 0.0);
    let mean = Point::new(inputs.mean, none());
    let parts = inputs.parts.iter().zip(&inputs.nodes);
    let centre = predictor(density, &mean, rows).expect(KNOWN);
    let moved = parts
        .fold(centre, |sum, (part, node)| sum + *part * *node)
        .anchor();
    let latents = if shared.is_empty() {
        inputs.mean
    } else {
        inputs.latents
    };
    let at = Point::new(latents, none());
    let value = at_predictor(density, (&at, rows), moved).expect(KNOWN);
    let first = graph.grad(value.sum(), &[moved])[0];
    let ones = graph.full(moved.shape(), 1.0);
    let mut of_rows = vec![value, first];
    of_rows.extend(graph.jvp(&[first], &[moved], &[ones]));
    let mut all = Vec::new();
    if !shared.is_empty() {
        all.extend(graph.grad((value * inputs.counted).sum(), &[latents]));
    }
    for &place in shared {
        let along = axis(graph, latents.shape().size(), place);
        let slopes = graph.jvp(&[first, all[0]], &[latents], &[along]);
        of_rows.push(slopes[0]);
        all.push(slopes[1]);
    }
    let found = of_rows.iter().chain(&all);
    found.map(|of| weighted(*of, inputs.weight)).collect()
}
