//! What is looked at once, while the rows are at hand, and kept with the fit for its witnesses.

use lehr_density::{ColumnKind, Density};
use lehr_numeric::pareto::Pareto;
use serde::{Deserialize, Serialize};

use super::modes::{self, OtherMode};
use super::opinion::{self, Opinion, StandIn};
use super::quantity::{Quantity, quantities};
use super::tails::{self, HeavyTail};

/// What was seen when a fit was examined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Examination {
    /// Every number that the fit is read by.
    pub quantities: Vec<Quantity>,
    /// The chains of the second opinion, if any were run.
    pub opinion: Option<Opinion>,
    /// Modes of the posterior that the draws miss.
    pub modes: Vec<OtherMode>,
    /// Latents along which the posterior reaches further than the draws, where no chains ran.
    pub tails: Vec<HeavyTail>,
}

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
    /// Where randomness comes from.
    pub seed: u64,
}

/// Numbers that one evaluation on all rows reads, or about as many.
pub(crate) fn work(density: &dyn Density) -> usize {
    // What a row costs whatever its columns are.
    const ROW: usize = 5;
    let width = |kind: &ColumnKind| match kind {
        ColumnKind::Number { width } => width.unwrap_or(1),
        ColumnKind::Index { .. } => 1,
    };
    let row: usize = density.columns().iter().map(|one| width(&one.kind)).sum();
    density.n_rows() * (row + ROW) + density.latents().size()
}

impl Examination {
    /// Looks at everything that the table's length allows. Where the draws are off and chains have
    /// reliable ones, those come with it.
    pub fn of(subject: &Subject<'_>) -> (Examination, Option<StandIn>) {
        let latents = subject.density.latents();
        if latents.size() == 0 {
            return (Examination::default(), None);
        }
        let weights = subject.pareto.weights();
        let mut quantities = quantities(latents, subject.draws, &weights);
        let trace = opinion::run(subject, &mut quantities);
        let tails = match trace {
            Some(_) => Vec::new(),
            None => tails::find(subject),
        };
        let examination = Examination {
            opinion: trace.as_ref().map(Opinion::of),
            modes: modes::find(subject),
            tails,
            quantities,
        };
        let own = &examination.quantities;
        let better = trace.and_then(|trace| opinion::stand_in(own, trace));
        (examination, better)
    }
}
