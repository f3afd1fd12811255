//! The examinations made once, while the rows are available, and stored with the fit for its
//! witnesses.

use lehr_density::Layout;
use lehr_numeric::pareto::Pareto;

use super::quantity::{quantities, weighted};
use super::subject::{Subject, work};
use super::{ReplacementDraws, grid, modes, opinion, tails, weights};
use crate::error::TrainError;
use crate::posterior::{Examination, Opinion, site_columns};
use crate::run::Run;

/// Chains run in any case for tables with fewer numbers, where they take no time.
const FEW: usize = 10_000;

impl Examination {
    /// The information in the weights alone, for draws that need no second opinion: exact ones,
    /// weighed on all rows.
    pub(crate) fn of_weights(subject: &Subject<'_>) -> Examination {
        Examination {
            quantities: quantities(subject, &subject.pareto.weights()),
            ..Examination::default()
        }
    }

    /// The same for some sites of a model.
    pub(crate) fn of_sites(latents: &Layout, draws: &[f64], pareto: &Pareto) -> Examination {
        Examination {
            quantities: weighted(site_columns(latents, draws), &pareto.weights()),
            ..Examination::default()
        }
    }

    /// Examines everything that the table's length allows. If the draws are wrong and better ones
    /// are available, the result contains those.
    ///
    /// # Errors
    /// If the observer stops the fit.
    pub fn of(
        subject: &Subject<'_>,
        run: &mut Run<'_>,
    ) -> Result<(Examination, Option<ReplacementDraws>), TrainError> {
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
        // If neither the weights nor exact steps move the draws, chains have nothing to add.
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
            // The search considers modes that the kept draws miss.
            Some(ReplacementDraws::Chains { draws, .. }) => {
                modes::find(&subject.of_others(draws), run)?
            }
            _ => modes::find(subject, run)?,
        };
        Ok((examination, better))
    }
}
