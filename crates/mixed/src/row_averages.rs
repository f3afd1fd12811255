//! The log likelihood of rows as a function of their predictors and the hyperparameters: its values,
//! and its expectations over Gaussian predictors by quadrature.

use std::ops::Range;

use lehr_density::{Point, RowSource, Rows};
use lehr_graph::{Expr, Graph, Workspace};
use lehr_numeric::dense::small;
use lehr_numeric::quadrature::{MOST_CLASSES, NODES, Rule, class_of, rule_of};

use crate::column_plan::ColumnPlan;
use crate::dependence::{derivatives, point_at};
use crate::effect_structure::EffectStructure;

/// Rows that are processed together.
const ROWS: usize = 1024;
/// Predictors of one row whose values are computed together.
pub(crate) const LANES: usize = 8;

/// Programs over blocks of rows.
pub(crate) struct RowLikelihood<'d> {
    source: &'d dyn RowSource,
    /// The table's rows in the order of the elimination.
    order: Vec<usize>,
    /// The frequency of each row; empty if all are 1.
    times: Vec<f64>,
    averages: ColumnPlan,
    /// The same for predictors without variance.
    modes: ColumnPlan,
    values: ColumnPlan,
    /// `None` if the likelihood does not depend on θ.
    slopes: Option<ColumnPlan>,
    rules: Vec<Rule>,
}

/// One thread's memory for the programs.
pub(crate) struct RowWorkspace {
    averages: Workspace,
    modes: Workspace,
    values: Workspace,
    slopes: Option<Workspace>,
    buffer: Vec<f64>,
}

/// Expectations over Gaussian predictors.
pub(crate) struct RowAverages {
    /// Σ E ℓ
    pub(crate) value: f64,
    /// E ℓ′ of each row.
    pub(crate) slopes: Vec<f64>,
    /// −E ℓ″ of each row.
    pub(crate) curves: Vec<f64>,
    /// Σ E ∂ℓ/∂θ
    pub(crate) theta: Vec<f64>,
}

/// The outputs of a program.
type Write = for<'g> fn(&EffectStructure<'_>, &'g Graph, &Rows<'g>) -> Vec<Expr<'g>>;

/// z with θ in its places and all effects 0.
fn point<'g>(model: &EffectStructure<'_>, graph: &'g Graph, theta: Expr<'g>) -> Point<'g> {
    let latents = model.density.latents();
    let mut next = 0;
    let mut part = |position: usize| {
        let length = latents.range(position).len();
        if model.split.effect_sites().contains(&position) {
            return graph.full([length], 0.0);
        }
        next += length;
        theta.slice(0, next - length..next)
    };
    let sites: Vec<Expr<'g>> = (0..latents.sites().len()).map(&mut part).collect();
    point_at(graph.concat(&sites, 0).anchor())
}

/// ℓ of each row, times its frequency.
fn row_log_density<'g>(
    model: &EffectStructure<'_>,
    predictor: Expr<'g>,
    theta: Expr<'g>,
    rows: &Rows<'g>,
) -> Expr<'g> {
    let graph = theta.graph();
    let value = model
        .split
        .log_density_given(predictor, &point(model, graph, theta), rows);
    match model.distinct {
        Some(_) => value * graph.input("times", [rows.len()]),
        None => value,
    }
}

/// Sums over lanes of E ℓ, E ℓ′ and E ℓ″ of each row, and E ∂ℓ/∂θ over all rows.
fn write_averages<'g>(
    model: &EffectStructure<'_>,
    graph: &'g Graph,
    rows: &Rows<'g>,
) -> Vec<Expr<'g>> {
    let theta = graph.input("theta", [model.hyper.len()]);
    let count = [rows.len()];
    let (centre, deviation) = (
        graph.input("centre", count),
        graph.input("deviation", count),
    );
    let counted = graph.input("counted", count);
    let (node, weight) = (
        graph.laned_input("node", ()),
        graph.laned_input("weight", ()),
    );
    let moved = (centre + deviation * node).anchor();
    let value = row_log_density(model, moved, theta, rows);
    let [slope, curve] = derivatives(value, moved);
    let mut found: Vec<Expr<'g>> = [value, slope, curve]
        .iter()
        .map(|of| (of.broadcast(moved.shape()) * weight).sum_lanes())
        .collect();
    // The slope in an input without lanes is summed over lanes.
    found.extend(graph.grad((value * counted * weight).sum(), &[theta]));
    found
}

/// ℓ of each row at one predictor per lane.
fn write_values<'g>(
    model: &EffectStructure<'_>,
    graph: &'g Graph,
    rows: &Rows<'g>,
) -> Vec<Expr<'g>> {
    let theta = graph.input("theta", [model.hyper.len()]);
    let predictor = graph.laned_input("predictor", [rows.len()]).anchor();
    let value = row_log_density(model, predictor, theta, rows);
    vec![value]
}

/// Σ w ∂ℓ/∂θ with one predictor and one weight for each row and lane.
fn write_slopes<'g>(
    model: &EffectStructure<'_>,
    graph: &'g Graph,
    rows: &Rows<'g>,
) -> Vec<Expr<'g>> {
    let theta = graph.input("theta", [model.hyper.len()]);
    let predictor = graph.laned_input("predictor", [rows.len()]).anchor();
    let weight = graph.laned_input("weight", [rows.len()]);
    let value = row_log_density(model, predictor, theta, rows);
    graph.grad((value * weight).sum(), &[theta])
}

/// Whether the likelihood depends on θ other than through the predictor.
fn reads_theta(model: &EffectStructure<'_>) -> bool {
    let graph = Graph::new();
    let rows = Rows::inputs(&graph, model.density.columns(), 2, "rows.");
    let theta = graph.input("theta", [model.hyper.len()]);
    let predictor = graph.input("predictor", [2]).anchor();
    let value = row_log_density(model, predictor, theta, &rows);
    graph.grad(value.sum(), &[theta])[0].as_number() != Some(0.0)
}

impl<'d> RowLikelihood<'d> {
    pub(crate) fn new(model: &EffectStructure<'d>, order: &[u32]) -> RowLikelihood<'d> {
        let count = ROWS.min(model.density.n_rows());
        let program = |lanes, write: Write| {
            let graph = Graph::new();
            let rows = Rows::inputs(&graph, model.density.columns(), count, "rows.");
            ColumnPlan::new(&write(model, &graph, &rows), &rows, lanes)
        };
        let rows = order.iter().map(|row| *row as usize);
        let (order, times) = match &model.distinct {
            Some(distinct) => (
                rows.clone().map(|row| distinct.rows[row]).collect(),
                rows.map(|row| distinct.times[row]).collect(),
            ),
            None => (rows.collect(), Vec::new()),
        };
        RowLikelihood {
            source: model.source,
            order,
            times,
            averages: program(NODES, write_averages),
            modes: program(1, write_averages),
            values: program(LANES, write_values),
            slopes: reads_theta(model).then(|| program(LANES, write_slopes)),
            rules: (0..=MOST_CLASSES).map(rule_of).collect(),
        }
    }

    pub(crate) fn row_workspace(&self) -> RowWorkspace {
        RowWorkspace {
            averages: self.averages.plan.workspace(),
            modes: self.modes.plan.workspace(),
            values: self.values.plan.workspace(),
            slopes: self.slopes.as_ref().map(|own| own.plan.workspace()),
            buffer: Vec::new(),
        }
    }

    /// Sets sorted rows; a short block is padded with its last row.
    fn load(&self, program: &ColumnPlan, workspace: &mut Workspace, rows: &[usize]) {
        let mut list = rows.to_vec();
        list.resize(program.rows, rows[rows.len() - 1]);
        if !self.times.is_empty() {
            let times: Vec<f64> = list.iter().map(|row| self.times[*row]).collect();
            program.set(workspace, "times", &times);
        }
        for row in &mut list {
            *row = self.order[*row];
        }
        program.set_rows(workspace, self.source, &list);
    }

    /// Whether the likelihood depends on θ.
    pub(crate) fn reads_theta(&self) -> bool {
        self.slopes.is_some()
    }

    /// ℓ, ℓ′ and −ℓ″ at these predictors.
    pub(crate) fn at(
        &self,
        theta: &[f64],
        predictors: &[f64],
        row_workspace: &mut RowWorkspace,
    ) -> RowAverages {
        let deviations = vec![0.0; predictors.len()];
        let mut sums = AverageSums::new(predictors, &deviations, theta);
        let (program, workspace) = (&self.modes, &mut row_workspace.modes);
        program.set(workspace, "node", &[0.0]);
        program.set(workspace, "weight", &[1.0]);
        let rows: Vec<usize> = (0..predictors.len()).collect();
        for some in rows.chunks(program.rows) {
            self.load(program, workspace, some);
            sums.place(program, workspace, some);
            program.plan.run(workspace);
            sums.add(workspace, some);
        }
        sums.found
    }

    /// The expectations over predictors with these means and variances.
    pub(crate) fn averages(
        &self,
        theta: &[f64],
        (means, variances): (&[f64], &[f64]),
        row_workspace: &mut RowWorkspace,
    ) -> RowAverages {
        let deviations: Vec<f64> = variances.iter().map(|v| v.max(0.0).sqrt()).collect();
        let mut classes: Vec<Vec<usize>> = vec![Vec::new(); self.rules.len()];
        for (row, deviation) in deviations.iter().enumerate() {
            classes[class_of(*deviation)].push(row);
        }
        let mut sums = AverageSums::new(means, &deviations, theta);
        let (program, workspace) = (&self.averages, &mut row_workspace.averages);
        for (rows, rule) in classes.iter().zip(&self.rules) {
            for some in rows.chunks(program.rows) {
                self.load(program, workspace, some);
                sums.place(program, workspace, some);
                for first in (0..rule.weights.len()).step_by(NODES) {
                    let nodes = first..first + NODES;
                    program.set(workspace, "node", &rule.nodes[0][nodes.clone()]);
                    program.set(workspace, "weight", &rule.weights[nodes]);
                    program.plan.run(workspace);
                    sums.add(workspace, some);
                }
            }
        }
        sums.found
    }

    /// Computes ℓ of all rows at several predictors each, [`LANES`] of them at a time; with weights
    /// Σ w ∂ℓ/∂θ instead.
    pub(crate) fn evaluate(
        &self,
        theta: &[f64],
        row_workspace: &mut RowWorkspace,
        job: &mut dyn PredictorJob,
    ) {
        let (mut program, mut workspace) = (&self.values, &mut row_workspace.values);
        if let (true, Some(own)) = (job.is_weighted(), &mut row_workspace.slopes) {
            program = self.slopes.as_ref().expect("it has a workspace");
            workspace = own;
        }
        let buffer = &mut row_workspace.buffer;
        program.set(workspace, "theta", theta);
        buffer.resize(LANES * program.rows, 0.0);
        for first in (0..self.order.len()).step_by(program.rows) {
            let range = first..(first + program.rows).min(self.order.len());
            let rows: Vec<usize> = range.clone().collect();
            self.load(program, workspace, &rows);
            for round in 0..job.rounds() {
                let batch = RowBatch {
                    range: range.clone(),
                    round,
                    stride: program.rows,
                };
                job.write_predictors(&batch, buffer);
                program.set(workspace, "predictor", buffer);
                if job.is_weighted() {
                    job.write_weights(&batch, buffer);
                    program.set(workspace, "weight", buffer);
                }
                program.plan.run(workspace);
                job.add(&batch, workspace.output(0));
            }
        }
    }
}

/// Some sorted rows, and the lanes of a round.
pub(crate) struct RowBatch {
    pub(crate) range: Range<usize>,
    pub(crate) round: usize,
    /// The distance between lanes.
    pub(crate) stride: usize,
}

impl RowBatch {
    /// Adds values to the sums of the rows' groups, `count` of them for each group, of which those
    /// of the round are lanes.
    pub(crate) fn add_by_group(
        &self,
        codes: &[u32],
        (sums, count): (&mut [f64], usize),
        values: &[f64],
    ) {
        for (k, row) in self.range.clone().enumerate() {
            let first = codes[row] as usize * count + self.round * LANES;
            for (lane, sum) in sums[first..][..LANES].iter_mut().enumerate() {
                *sum += values[lane * self.stride + k];
            }
        }
    }
}

/// A computation at several predictors of each row; arrays are lane after lane.
pub(crate) trait PredictorJob {
    /// The number of rounds of [`LANES`] predictors.
    fn rounds(&self) -> usize;

    /// Writes the predictors of a batch.
    fn write_predictors(&mut self, batch: &RowBatch, into: &mut [f64]);

    /// Whether slopes are weighted, instead of values found.
    fn is_weighted(&self) -> bool {
        false
    }

    /// Writes the weights of a batch, if there are any.
    fn write_weights(&mut self, _: &RowBatch, _: &mut [f64]) {}

    /// Receives the results of the program.
    fn add(&mut self, batch: &RowBatch, found: &[f64]);
}

/// Expectations while they are summed.
struct AverageSums<'a> {
    predictors: &'a [f64],
    deviations: &'a [f64],
    theta: &'a [f64],
    found: RowAverages,
}

impl<'a> AverageSums<'a> {
    fn new(predictors: &'a [f64], deviations: &'a [f64], theta: &'a [f64]) -> AverageSums<'a> {
        let rows = predictors.len();
        AverageSums {
            predictors,
            deviations,
            theta,
            found: RowAverages {
                value: 0.0,
                slopes: vec![0.0; rows],
                curves: vec![0.0; rows],
                theta: vec![0.0; theta.len()],
            },
        }
    }

    fn place(&self, program: &ColumnPlan, workspace: &mut Workspace, rows: &[usize]) {
        let last = rows[rows.len() - 1];
        let place = |k: usize| rows.get(k).copied().unwrap_or(last);
        let of =
            |values: &[f64]| -> Vec<f64> { (0..program.rows).map(|k| values[place(k)]).collect() };
        program.set(workspace, "theta", self.theta);
        program.set(workspace, "centre", &of(self.predictors));
        program.set(workspace, "deviation", &of(self.deviations));
        let mut counted = vec![1.0; rows.len()];
        counted.resize(program.rows, 0.0);
        program.set(workspace, "counted", &counted);
    }

    fn add(&mut self, workspace: &Workspace, rows: &[usize]) {
        let found = &mut self.found;
        let [values, slopes, curves] = [0, 1, 2].map(|k| workspace.output(k));
        for (k, row) in rows.iter().enumerate() {
            found.value += values[k];
            found.slopes[*row] += slopes[k];
            found.curves[*row] -= curves[k];
        }
        small::add(&mut found.theta, 1.0, workspace.output(3));
    }
}
