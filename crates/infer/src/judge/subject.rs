//! A fit under examination, and the cost of one evaluation on its rows.

use std::cell::OnceCell;

use lehr_density::{ColumnKind, Density, Point, Rows};
use lehr_graph::{Graph, Plan};
use lehr_numeric::pareto::Pareto;

use crate::difference_estimator::DifferenceEstimate;
use crate::guide::Whitening;

/// A fit under examination.
pub struct Subject<'a> {
    /// The model and its rows.
    pub density: &'a dyn Density,
    /// θ
    pub params: &'a [f64],
    /// z, one draw after another.
    pub draws: &'a [f64],
    /// The weights of the draws.
    pub pareto: &'a Pareto,
    /// The log evidence if it is known, else −∞.
    pub log_evidence: f64,
    /// The seed.
    pub seed: u64,
    /// The sampled rows that gave the weights, if not all rows did.
    pub sampling: Option<&'a DifferenceEstimate>,
    /// The cache of [`Subject::whitening`].
    pub(crate) whitening: OnceCell<Whitening>,
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
            whitening: OnceCell::new(),
        }
    }

    /// The same posterior with other draws.
    pub(super) fn of_others(&self, draws: &'a [f64]) -> Subject<'a> {
        Subject {
            draws,
            whitening: OnceCell::new(),
            ..*self
        }
    }

    /// The coordinates in which the draws have mean zero and unit scale.
    pub(super) fn whitening(&self) -> &Whitening {
        let size = self.density.latents().size();
        self.whitening
            .get_or_init(|| Whitening::of_draws(self.draws, size))
    }
}

/// About how many numbers one evaluation on all rows reads or computes.
pub(crate) fn work(density: &dyn Density) -> usize {
    // The cost of a row apart from its columns.
    const ROW: usize = 5;
    let width = |kind: &ColumnKind| match kind {
        ColumnKind::Number { width } => width.unwrap_or(1),
        ColumnKind::Index { .. } => 1,
    };
    let row: usize = density.columns().iter().map(|one| width(&one.kind)).sum();
    density.n_rows() * (row + ROW).max(computed(density)) + density.latents().size()
}

/// Numbers that the likelihood of one row computes in addition to those that it reads: many if a
/// response has many classes.
fn computed(density: &dyn Density) -> usize {
    const ROWS: usize = 64;
    const FLOPS_PER_NUMBER: usize = 16;
    let graph = Graph::new();
    let at = Point::inputs(&graph, [density.latents().size(), density.params().size()]);
    // Rows with local latents are evaluated with them.
    if density.locals().is_some() {
        return 0;
    }
    let rows = Rows::inputs(&graph, density.columns(), ROWS, "rows.");
    let value = density.log_likelihood(&at, &rows).sum();
    let flops = Plan::new(&[value], 1).report().flops;
    flops as usize / (ROWS * FLOPS_PER_NUMBER)
}
