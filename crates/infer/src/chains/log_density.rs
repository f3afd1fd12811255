//! The log density of a model in whitened coordinates, as one plan that chains share.

use std::sync::Arc;

use lehr_density::{Density, RowData, RowSet, rows_here};
use lehr_graph::{Expr, Graph, Plan, Slot, Workspace};

use super::log_density_fn::{Evaluator, LogDensityFn, ValueError, origin, starts};
use super::store_density::StoreDensity;
use super::trace::ChainError;
use crate::guide::{Context, ProgramInput, RowInput, WhitenedDensity, Whitening};
use lehr_rows::lend::{copy_rows, lend_all, read_columns};

/// log p(D, T(x)) and its gradient in x, for one x per lane; the constant ln |F| is left out.
///
/// θ is fixed. The plan is shared: each chain, or each set of chains in lockstep, runs it in
/// [`Lanes`] of its own.
pub struct LogDensity<'d> {
    density: &'d dyn Density,
    whitening: &'d Whitening,
    plan: Plan,
    position: Option<Slot>,
    supplies: Vec<Supply>,
    /// The columns of rows that are exchanged while chains run.
    subset: Vec<(usize, Slot)>,
}

/// Inputs that never change.
enum Supply {
    Numbers(Slot, Arc<[f64]>),
    AllRows(Vec<(usize, Slot)>),
    Rows(Arc<RowData>, Vec<(usize, Slot)>),
}

impl<'d> LogDensity<'d> {
    /// The log density on all rows, for this many lanes.
    pub fn new(place: WhitenedDensity<'d>, lanes: usize) -> LogDensity<'d> {
        LogDensity::of(place, lanes, |context, x| {
            let (density, at) = (context.density(), context.at(x));
            let rows = context.rows("chain", &RowInput::All);
            density.log_prior(&at) + density.log_likelihood(&at, &rows).sum()
        })
    }

    /// The function of x that `write` builds, which must not use noise or batches.
    pub(crate) fn of(
        place: WhitenedDensity<'d>,
        lanes: usize,
        write: impl for<'g> FnOnce(&Context<'g, 'd>, Expr<'g>) -> Expr<'g>,
    ) -> LogDensity<'d> {
        LogDensity::with(place, lanes, |context, x| [write(context, x)])
    }

    /// The same with further numbers, which [`Lanes::further`] returns. A batch that `write`
    /// requests is a subset of the rows, set by [`Lanes::set_subset`].
    pub(super) fn with<const N: usize>(
        place: WhitenedDensity<'d>,
        lanes: usize,
        write: impl for<'g> FnOnce(&Context<'g, 'd>, Expr<'g>) -> [Expr<'g>; N],
    ) -> LogDensity<'d> {
        let graph = Graph::new();
        let context = Context::within(&graph, place.density, place.whitening);
        let x = graph.laned_input("position", [place.density.latents().size()]);
        let written = write(&context, x);
        let slope = graph.grad(written[0], &[x])[0];
        let mut outputs = vec![written[0], slope];
        outputs.extend(&written[1..]);
        let plan = Plan::new(&outputs, lanes);
        let (mut supplies, mut subset) = (Vec::new(), Vec::new());
        for need in context.into_inputs() {
            match need {
                ProgramInput::Rows(RowInput::Batch { .. }, rows) => {
                    subset = read_columns(&plan, &rows);
                }
                need => supplies.extend(Supply::of(&plan, need, place.params)),
            }
        }
        LogDensity {
            density: place.density,
            whitening: place.whitening,
            position: plan.input(x),
            supplies,
            subset,
            plan,
        }
    }

    /// How many coordinates x has.
    pub fn size(&self) -> usize {
        self.density.latents().size()
    }

    /// The same density by sums over all rows, if they are stored elsewhere and this density is of
    /// a sample.
    pub(crate) fn asked(&self) -> Option<StoreDensity<'d>> {
        StoreDensity::of(WhitenedDensity::new(self.density, self.whitening))
    }

    /// Value and slope at the starting point of chains, as a fingerprint of the model, its rows and
    /// the coordinates.
    pub(crate) fn fingerprint(&self) -> Vec<f64> {
        let lanes = self.n_lanes();
        let (mut values, mut slopes) = (vec![0.0; lanes], vec![0.0; lanes * self.size()]);
        let x = self.origin().repeat(lanes);
        self.lanes().evaluate(&x, &mut values, &mut slopes);
        slopes.truncate(self.size());
        let start = self.latents(&x[..self.size()]);
        [values[..1].to_vec(), slopes, start].concat()
    }

    /// The coordinates at which chains start: draws of the whitening Gaussian. Without one they are
    /// drawn around the model's default start.
    pub(super) fn starts(&self, chains: usize, seed: u64) -> Result<Vec<Vec<f64>>, ChainError> {
        let (size, lanes) = (self.size(), self.n_lanes());
        let mut memory = self.lanes();
        let (mut values, mut slopes) = (vec![0.0; lanes], vec![0.0; lanes * size]);
        let is_finite = |x: &[f64]| {
            memory.evaluate(&x.repeat(lanes), &mut values, &mut slopes);
            values[0].is_finite()
        };
        starts(&self.origin(), is_finite, chains, seed)
    }

    /// How many points are computed side by side.
    pub fn n_lanes(&self) -> usize {
        self.plan.lanes()
    }

    /// Memory for evaluations, with every input except x set.
    pub fn lanes(&self) -> Lanes<'_> {
        let mut workspace = self.plan.workspace();
        for supply in &self.supplies {
            match supply {
                Supply::Numbers(slot, values) => workspace.lend(*slot, values),
                Supply::AllRows(columns) => {
                    lend_all(&mut workspace, self.density.source(), columns);
                }
                Supply::Rows(data, columns) => lend_all(&mut workspace, data.as_ref(), columns),
            }
        }
        Lanes {
            log_density: self,
            workspace,
        }
    }

    /// The log density at these latents, one z after another.
    pub(crate) fn values(&self, latents: &[f64]) -> Vec<f64> {
        let (size, lanes) = (self.size(), self.n_lanes());
        let mut memory = self.lanes();
        let (mut values, mut slopes) = (vec![0.0; lanes], vec![0.0; lanes * size]);
        let mut found = Vec::with_capacity(latents.len() / size);
        for some in latents.chunks(lanes * size) {
            let x = some
                .chunks_exact(size)
                .flat_map(|z| self.whitening.coordinates(z));
            let mut x: Vec<f64> = x.collect();
            // Unused lanes repeat the first point.
            let first = x[..size].to_vec();
            while x.len() < lanes * size {
                x.extend(&first);
            }
            memory.evaluate(&x, &mut values, &mut slopes);
            found.extend(&values[..some.len() / size]);
        }
        found
    }

    /// z at the coordinates x.
    pub fn latents(&self, x: &[f64]) -> Vec<f64> {
        self.whitening.at(x)
    }
}

impl Supply {
    /// The supply for a need of the program; `None` if the plan does not read it.
    fn of(plan: &Plan, need: ProgramInput<'_>, params: &[f64]) -> Option<Supply> {
        Some(match need {
            ProgramInput::Learned(_, input) => Supply::Numbers(plan.input(input)?, params.into()),
            ProgramInput::Fixed(values, input) => Supply::Numbers(plan.input(input)?, values),
            ProgramInput::Rows(RowInput::All, rows) => Supply::AllRows(read_columns(plan, &rows)),
            ProgramInput::Rows(RowInput::Fixed(data), rows) => {
                Supply::Rows(data, read_columns(plan, &rows))
            }
            ProgramInput::Rows(RowInput::Batch { .. }, _)
            | ProgramInput::Noise(_)
            | ProgramInput::Others(..)
            | ProgramInput::Own(_) => {
                unreachable!("a log density is not random, and its subset is no supply")
            }
        })
    }
}

/// Memory for one evaluation at a time of a [`LogDensity`].
pub struct Lanes<'a> {
    log_density: &'a LogDensity<'a>,
    workspace: Workspace,
}

impl Lanes<'_> {
    /// How many coordinates x has.
    pub fn size(&self) -> usize {
        self.log_density.size()
    }

    /// How many points are computed side by side.
    pub(super) fn count(&self) -> usize {
        self.log_density.n_lanes()
    }

    /// Values and slopes at one x per lane. A lane in which either is not finite gets −∞ and zeros,
    /// so that no leapfrog step spreads a NaN.
    pub fn evaluate(&mut self, x: &[f64], values: &mut [f64], slopes: &mut [f64]) {
        self.workspace.set_input(self.log_density.position, x);
        self.log_density.plan.run(&mut self.workspace);
        // Outputs that do not depend on x have no lanes.
        for (to, output) in [(&mut *values, 0), (&mut *slopes, 1)] {
            let found = self.workspace.output(output).iter().cycle();
            to.iter_mut().zip(found).for_each(|(to, from)| *to = *from);
        }
        let size = self.size();
        for (value, slope) in values.iter_mut().zip(slopes.chunks_exact_mut(size)) {
            if !(value.is_finite() && slope.iter().all(|s| s.is_finite())) {
                *value = f64::NEG_INFINITY;
                slope.fill(0.0);
            }
        }
    }

    /// Replaces the subset by these rows, in the numbering of batches.
    pub(super) fn set_subset(&mut self, rows: &[usize]) {
        let LogDensity {
            density, subset, ..
        } = self.log_density;
        let rows = RowSet::List(rows);
        copy_rows(
            &mut self.workspace,
            rows_here(*density).batch_order(),
            &rows,
            subset,
        );
    }

    /// A further number of the first lane, by its place, from the last evaluation.
    pub(super) fn further(&self, place: usize) -> f64 {
        self.workspace.output(2 + place)[0]
    }

    /// The value and the slope at one x, with one lane.
    ///
    /// # Errors
    /// If either is not finite.
    pub fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<f64, ValueError> {
        let mut value = [0.0];
        self.evaluate(x, &mut value, slope);
        let found = Some(value[0]).filter(|value| value.is_finite());
        found.ok_or(ValueError::NotFinite)
    }
}

/// One chain at a time, with one lane.
impl LogDensityFn for LogDensity<'_> {
    fn size(&self) -> usize {
        LogDensity::size(self)
    }

    fn origin(&self) -> Vec<f64> {
        origin(self.density, self.whitening)
    }

    fn evaluator(&self) -> Box<dyn Evaluator + '_> {
        Box::new(self.lanes())
    }

    fn kept(&self, x: &[f64]) -> Vec<f64> {
        self.latents(x)
    }
}

impl Evaluator for Lanes<'_> {
    fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<f64, ValueError> {
        Lanes::value(self, x, slope)
    }
}
