//! What is looked at once, while the rows are at hand, and kept with the fit for its witnesses.

use std::cell::OnceCell;

use lehr_density::{ColumnKind, Density, Layout, Point, Rows};
use lehr_graph::{Graph, Plan};
use lehr_numeric::pareto::Pareto;

use super::opinion::{self, StandIn};
use super::quantity::{quantities, weighted};
use super::{grid, modes, tails, weights};
use crate::difference_estimator::Sampling;
use crate::error::TrainError;
use crate::guide::Frame;
use crate::posterior::{Examination, Opinion, site_columns};
use crate::run::Run;

/// Numbers of a table below which chains run in any case: they take no time.
const FEW: usize = 10_000;

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
    fn of_others(&self, draws: &'a [f64]) -> Subject<'a> {
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

impl Examination {
    /// What the weights alone tell, for draws that need no second opinion: exact ones, weighed on all
    /// rows.
    pub(crate) fn of_weights(subject: &Subject<'_>) -> Examination {
        Examination {
            quantities: quantities(subject, &subject.pareto.weights()),
            ..Examination::default()
        }
    }

    /// The same of some sites of a model.
    pub(crate) fn of_sites(latents: &Layout, draws: &[f64], pareto: &Pareto) -> Examination {
        Examination {
            quantities: weighted(site_columns(latents, draws), &pareto.weights()),
            ..Examination::default()
        }
    }

    /// Looks at everything that the table's length allows. Where the draws are off and better ones
    /// are at hand, those come with it.
    ///
    /// # Errors
    /// If somebody wants to stop.
    pub fn of(
        subject: &Subject<'_>,
        run: &mut Run<'_>,
    ) -> Result<(Examination, Option<StandIn>), TrainError> {
        let mut examination = Examination::default();
        if subject.density.latents().size() == 0 {
            return Ok((examination, None));
        }
        let own = &mut examination.quantities;
        *own = quantities(subject, &subject.pareto.weights());
        if run.unexamined {
            examination.omitted = true;
            return Ok((examination, None));
        }
        if let Some((grid, better)) = grid::look(subject, own, run)? {
            examination.grid = Some(grid);
            return Ok((examination, better));
        }
        let calm = work(subject.density) >= FEW && weights::is_calm(subject.pareto, own);
        let tails = if calm {
            tails::find(subject, run)?
        } else {
            Vec::new()
        };
        // Where the weights move nothing and exact steps neither, chains have nothing to add.
        let heard = if calm && tails.is_empty() {
            None
        } else {
            opinion::run(subject, own, run)?
        };
        examination.opinion = heard.as_ref().map(Opinion::of);
        if heard.is_none() {
            examination.tails = if calm {
                tails
            } else {
                tails::find(subject, run)?
            };
        }
        let own = &examination.quantities;
        let better = heard.and_then(|heard| opinion::stand_in(own, &heard, subject));
        examination.modes = match &better {
            // What counts is what the draws miss that are kept.
            Some(StandIn::Chains { draws, .. }) => modes::find(&subject.of_others(draws), run)?,
            _ => modes::find(subject, run)?,
        };
        Ok((examination, better))
    }
}
