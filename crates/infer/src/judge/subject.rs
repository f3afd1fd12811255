//! A fit to be examined, and how much work one look at its rows is.

use std::cell::OnceCell;

use lehr_density::{ColumnKind, Density, Point, Rows};
use lehr_graph::{Graph, Plan};
use lehr_numeric::pareto::Pareto;

use crate::difference_estimator::Sampling;
use crate::guide::Frame;

/// A fit to be examined.
pub struct Subject<'a> {
    /// The model and its rows.
    pub density: &'a dyn Density,
    /// θ
    pub params: &'a [f64],
    /// z, one draw after another.
    pub draws: &'a [f64],
    /// The weights of the draws.
    pub pareto: &'a Pareto,
    /// The log evidence, as far as it is known; −∞ where it is not.
    pub log_evidence: f64,
    /// Where randomness comes from.
    pub seed: u64,
    /// The rows that told the weights, where some stand for all.
    pub sampling: Option<&'a Sampling>,
    /// Where [`Subject::frame`] is kept.
    pub(crate) frame: OnceCell<Frame>,
}

impl<'a> Subject<'a> {
    /// Draws of a model's posterior with their weights.
    pub fn new(
        density: &'a dyn Density,
        params: &'a [f64],
        draws: &'a [f64],
        pareto: &'a Pareto,
        seed: u64,
    ) -> Subject<'a> {
        Subject {
            density,
            params,
            draws,
            pareto,
            log_evidence: pareto.log_evidence,
            seed,
            sampling: None,
            frame: OnceCell::new(),
        }
    }

    /// The same posterior with other draws.
    pub(super) fn of_others(&self, draws: &'a [f64]) -> Subject<'a> {
        Subject {
            draws,
            frame: OnceCell::new(),
            ..*self
        }
    }

    /// The coordinates in which the draws have mean zero and unit scale.
    pub(super) fn frame(&self) -> &Frame {
        let size = self.density.latents().size();
        self.frame.get_or_init(|| Frame::of_draws(self.draws, size))
    }
}

/// Numbers that one evaluation on all rows reads or computes, or about as many.
pub(crate) fn work(density: &dyn Density) -> usize {
    // What a row costs whatever its columns are.
    const ROW: usize = 5;
    let width = |kind: &ColumnKind| match kind {
        ColumnKind::Number { width } => width.unwrap_or(1),
        ColumnKind::Index { .. } => 1,
    };
    let row: usize = density.columns().iter().map(|one| width(&one.kind)).sum();
    density.n_rows() * (row + ROW).max(computed(density)) + density.latents().size()
}

/// Numbers that the likelihood of one row computes besides those that it reads: many where a
/// response has many classes.
fn computed(density: &dyn Density) -> usize {
    const ROWS: usize = 64;
    const FLOPS_PER_NUMBER: usize = 16;
    let graph = Graph::new();
    let at = Point::new(
        graph.input("latents", [density.latents().size()]),
        graph.input("params", [density.params().size()]),
    );
    // Rows with latents of their own are asked with them.
    if density.locals().is_some() {
        return 0;
    }
    let rows = Rows::inputs(&graph, density.columns(), ROWS, "rows.");
    let value = density.log_likelihood(&at, &rows).sum();
    let flops = Plan::new(&[value], 1).report().flops;
    flops as usize / (ROWS * FLOPS_PER_NUMBER)
}
