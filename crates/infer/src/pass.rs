//! Sums over all rows of the table, in one pass: the full-data value, slopes and curvature.

use lehr_density::{Density, Point, RowSet, Rows};
use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};

use crate::program::{copy_rows, lend_all};

/// Rows read at a time where the table is not in memory.
const CHUNK: usize = 8192;

/// An argument of the sums.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    /// One array for all lanes, of this length.
    Shared(usize),
    /// One array per lane, each of this length.
    PerLane(usize),
}

/// The sums Σₙ f(row n; arguments) of several functions, streamed over the rows.
pub(crate) struct Pass<'d> {
    density: &'d dyn Density,
    chunks: Vec<Chunk>,
    sums: Vec<Vec<f64>>,
}

/// A plan for so many rows, and where they start.
struct Chunk {
    plan: Plan,
    workspace: Workspace,
    arguments: Vec<Option<Slot>>,
    columns: Vec<(usize, Slot)>,
    starts: Vec<usize>,
    rows: usize,
    resident: bool,
}

impl<'d> Pass<'d> {
    /// A pass whose functions `write` gives as expressions already summed over its rows.
    pub(crate) fn new(
        density: &'d dyn Density,
        lanes: usize,
        arguments: &[Argument],
        write: impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> Pass<'d> {
        let n_rows = density.n_rows();
        let source = density.source();
        let columns = density.columns();
        let resident = columns
            .iter()
            .enumerate()
            .all(|(place, column)| match column.kind {
                lehr_density::ColumnKind::Number { .. } => source.whole(place).is_some(),
                lehr_density::ColumnKind::Index { .. } => source.whole_indices(place).is_some(),
            });
        let size = if resident { n_rows } else { CHUNK.min(n_rows) };
        let mut chunks = Vec::new();
        let whole: Vec<usize> = (0..n_rows / size).map(|k| k * size).collect();
        chunks.push(Chunk::new(
            density,
            lanes,
            (size, whole, resident),
            arguments,
            &write,
        ));
        let rest = n_rows % size;
        if rest > 0 {
            let last = (rest, vec![n_rows - rest], resident);
            chunks.push(Chunk::new(density, lanes, last, arguments, &write));
        }
        Pass {
            density,
            chunks,
            sums: Vec::new(),
        }
    }

    /// The sums at these arguments.
    pub(crate) fn run(&mut self, arguments: &[&[f64]]) -> &[Vec<f64>] {
        self.sums.clear();
        for chunk in &mut self.chunks {
            chunk.run(self.density, arguments, &mut self.sums);
        }
        &self.sums
    }
}

impl Chunk {
    fn new(
        density: &dyn Density,
        lanes: usize,
        (rows, starts, resident): (usize, Vec<usize>, bool),
        arguments: &[Argument],
        write: &impl for<'g> Fn(&[Expr<'g>], &Rows<'g>) -> Vec<Expr<'g>>,
    ) -> Chunk {
        let graph = Graph::new();
        let declare = |(k, argument): (usize, &Argument)| match argument {
            Argument::Shared(size) => graph.input(&format!("argument {k}"), [*size]),
            Argument::PerLane(size) => graph.laned_input(&format!("argument {k}"), [*size]),
        };
        let inputs: Vec<Expr<'_>> = arguments.iter().enumerate().map(declare).collect();
        let data = Rows::inputs(&graph, density.columns(), rows, "rows.");
        let plan = Plan::new(&write(&inputs, &data), lanes);
        let mut chunk = Chunk {
            workspace: plan.workspace(),
            arguments: inputs.iter().map(|e| plan.input(*e)).collect(),
            columns: (data.columns().enumerate())
                .filter_map(|(place, (_, column))| Some((place, plan.input(column.expr())?)))
                .collect(),
            plan,
            starts,
            rows,
            resident,
        };
        if resident {
            lend_all(&mut chunk.workspace, density.source(), &chunk.columns);
        }
        chunk
    }

    fn run(&mut self, density: &dyn Density, arguments: &[&[f64]], sums: &mut Vec<Vec<f64>>) {
        for (slot, values) in self.arguments.iter().zip(arguments) {
            if let Some(slot) = slot {
                self.workspace.set(*slot, values);
            }
        }
        for &start in &self.starts {
            if !self.resident {
                let rows = RowSet::Range(start..start + self.rows);
                copy_rows(&mut self.workspace, density.source(), &rows, &self.columns);
            }
            self.plan.run(&mut self.workspace);
            for k in 0..self.plan.n_outputs() {
                let part = self.workspace.output(k);
                match sums.get_mut(k) {
                    Some(sum) => sum.iter_mut().zip(part).for_each(|(s, p)| *s += p),
                    None => sums.push(part.to_vec()),
                }
            }
        }
    }
}

/// The full-data log likelihood and its slopes in z and θ, at one point.
pub(crate) fn value_and_slopes(density: &dyn Density) -> Pass<'_> {
    let sizes = [
        Argument::Shared(density.latents().size()),
        Argument::Shared(density.params().size()),
    ];
    Pass::new(density, 1, &sizes, |inputs, rows| {
        let at = Point::new(inputs[0], inputs[1]);
        let value = density.log_likelihood(&at, rows).sum();
        let mut outputs = vec![value];
        outputs.extend(at.graph().grad(value, inputs));
        outputs
    })
}

/// The full-data log likelihood of one z per lane, θ shared.
pub(crate) fn per_lane(density: &dyn Density, lanes: usize) -> Pass<'_> {
    let sizes = [
        Argument::PerLane(density.latents().size()),
        Argument::Shared(density.params().size()),
    ];
    Pass::new(density, lanes, &sizes, |inputs, rows| {
        let at = Point::new(inputs[0], inputs[1]);
        vec![density.log_likelihood(&at, rows).sum()]
    })
}

/// Products of the full-data Hessian in z with one direction per lane.
pub(crate) fn hessian_products(density: &dyn Density, lanes: usize) -> Pass<'_> {
    let size = density.latents().size();
    let sizes = [
        Argument::Shared(size),
        Argument::Shared(density.params().size()),
        Argument::PerLane(size),
    ];
    Pass::new(density, lanes, &sizes, |inputs, rows| {
        let at = Point::new(inputs[0], inputs[1]);
        let graph = at.graph();
        let value = density.log_likelihood(&at, rows).sum();
        let slope = graph.grad(value, &[at.latents])[0];
        graph.jvp(&[slope], &[at.latents], &[inputs[2]])
    })
}
