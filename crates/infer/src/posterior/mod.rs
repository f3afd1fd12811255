//! The result of a fit: draws, their diagnostics, and their origin.

mod draw;
mod examination;
mod quantity;
mod record;
mod summary;

pub use examination::{Examination, Grid, HeavyTail, Opinion, OtherMode, ProbeAccuracy};
pub use quantity::{Gap, Moments, Quantity};
pub(crate) use quantity::{site_columns, split};
pub use record::{Attempt, Diagnostics, Importance, Origin, PRIOR, Proposal};
pub(crate) use record::{FitRecord, NO_ROWS};
pub use summary::Summary;

use std::path::Path;

use lehr_density::{Density, FlatDraws, Layout, Point, SiteValue, StoredForm, quantities};
use lehr_file::{FileError, load_value, save_value};
use lehr_numeric::pareto::{Pareto, TailShape};
use serde::{Deserialize, Serialize};

use crate::chains::Chains;
use crate::estimate::Choices;
use crate::file::POSTERIOR;
use crate::local::Marginal;
use crate::train::TrainingRecord;
pub use lehr_mixed::GroupMoments;

pub use crate::estimate::{Estimate, Evidence, Gain, Seconds};

/// A fitted posterior.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Posterior {
    /// z of every draw, one after another.
    pub draws: Vec<f64>,
    /// The sites of z.
    pub latents: Layout,
    /// A further site, which has too many numbers for its draws to be kept.
    pub spared: Option<Box<GroupMoments>>,
    /// The sites of θ.
    pub params: Layout,
    /// θ, flat and unconstrained.
    pub param_values: Vec<f64>,
    /// The log evidence, if it was estimated.
    pub evidence: Option<Evidence>,
    /// The diagnostics of the draws.
    pub diagnostics: Diagnostics,
    /// Its origin.
    pub origin: Origin,
    /// The automatic choices.
    pub choices: Choices,
    /// Wall-clock time.
    pub seconds: Seconds,
}

impl Posterior {
    /// Independent draws of the prior in place of a posterior; rows are ignored.
    ///
    /// # Panics
    /// If there are too few draws for the smoothing of their weights, which are all equal.
    pub fn of_prior(density: &dyn Density, draws: Vec<f64>, seed: u64) -> Posterior {
        let count = draws.len() / density.latents().size().max(1);
        let pareto = Pareto::new(&vec![0.0; count]).expect("enough draws, all of them alike");
        let diagnostics = Diagnostics::Importance(Importance {
            pareto,
            proposal: Proposal::Guide(TrainingRecord::untrained(Vec::new())),
            examination: Examination::default(),
            chains: None,
        });
        let record = FitRecord {
            method: StoredForm {
                name: PRIOR.into(),
                bytes: Vec::new(),
            },
            contents: NO_ROWS.into(),
            choices: Choices::default(),
            seconds: Seconds::default(),
        };
        Posterior {
            param_values: density.params().start().to_vec(),
            ..Posterior::new(density, draws, diagnostics, record, seed)
        }
    }

    /// Draws of a fit with their diagnostics, without θ and without an estimate of the evidence.
    pub(crate) fn new(
        density: &dyn Density,
        draws: Vec<f64>,
        diagnostics: Diagnostics,
        record: FitRecord,
        seed: u64,
    ) -> Posterior {
        Posterior {
            draws,
            latents: density.latents().clone(),
            spared: None,
            params: density.params().clone(),
            param_values: Vec::new(),
            evidence: None,
            diagnostics,
            origin: Origin::of(density, record.method, seed, record.contents),
            choices: record.choices,
            seconds: record.seconds,
        }
    }

    /// Whether the draws are of the prior.
    pub fn is_prior(&self) -> bool {
        self.method() == PRIOR
    }

    /// How many draws there are.
    pub fn n_draws(&self) -> usize {
        self.draws.len() / self.latents.size().max(1)
    }

    /// The number of Markov chains of the draws, one after another, if they come from chains.
    pub fn n_chains(&self) -> Option<usize> {
        self.chains().map(|chains| chains.count)
    }

    /// The diagnostics of the draws if they come from Markov chains.
    pub fn chains(&self) -> Option<&Chains> {
        match &self.diagnostics {
            Diagnostics::Importance(importance) => importance.chains.as_deref(),
            Diagnostics::Chains(chains) => Some(chains),
        }
    }

    /// The name of the method.
    pub fn method(&self) -> &str {
        &self.origin.method.name
    }

    /// The bound on the log evidence, if the method has one.
    pub fn bound(&self) -> Option<Estimate> {
        self.evidence.as_ref()?.bound
    }

    /// The diagnostics of weighted draws.
    pub fn importance(&self) -> Option<&Importance> {
        match &self.diagnostics {
            Diagnostics::Importance(importance) => Some(importance),
            Diagnostics::Chains(_) => None,
        }
    }

    /// The record of training, if anything was trained.
    pub fn training(&self) -> Option<&TrainingRecord> {
        match &self.importance()?.proposal {
            Proposal::Guide(training) => Some(training),
            Proposal::Chains(_) => None,
        }
    }

    /// The chains on an approximation of the posterior that made the draws, if chains did.
    pub fn proposal_chains(&self) -> Option<&Chains> {
        match &self.importance()?.proposal {
            Proposal::Guide(_) => None,
            Proposal::Chains(chains) => Some(chains),
        }
    }

    /// k̂, the shape of the tail of the weights, if the draws have different weights: it is
    /// meaningless for nearly equal weights.
    pub fn pareto_shape(&self) -> Option<f64> {
        let pareto = &self.importance()?.pareto;
        (TailShape::of(pareto) != TailShape::Even).then_some(pareto.shape)
    }

    /// The effective number of independent draws; for Markov chains, for the worst latent.
    pub fn effective_size(&self) -> f64 {
        match (&self.diagnostics, self.chains()) {
            (Diagnostics::Importance(importance), None) => importance.pareto.effective_size,
            (_, chains) => chains.map_or(f64::NAN, Chains::fewest_effective),
        }
    }

    /// The weights of the draws, summing to one.
    pub fn weights(&self) -> Vec<f64> {
        match self.log_weights() {
            Some(log_weights) => log_weights.iter().map(|weight| weight.exp()).collect(),
            None => vec![1.0 / self.n_draws().max(1) as f64; self.n_draws()],
        }
    }

    /// The smoothed log weights of the draws, if they are the guide's own.
    pub fn log_weights(&self) -> Option<&[f64]> {
        let own = self.importance().filter(|one| one.chains.is_none());
        own.map(|one| one.pareto.log_weights.as_slice())
    }

    /// θ on the constrained scale.
    pub fn param_sites(&self) -> Vec<SiteValue> {
        self.params.constrain_values(&self.param_values)
    }

    /// The draws on the constrained scale, by site.
    pub fn sites(&self) -> Vec<SiteValue> {
        self.latents.constrain_values(&self.draws)
    }

    /// The quantities that the fitted model names besides its sites, for each draw. The density may
    /// be bound to any rows of the same columns.
    pub fn deterministics(&self, density: &dyn Density) -> Vec<SiteValue> {
        let Some(predictive) = density.predictive() else {
            return Vec::new();
        };
        let draws = FlatDraws {
            latents: &self.draws,
            size: self.latents.size(),
            params: &self.param_values,
        };
        match &self.spared {
            None => quantities(draws, |at| predictive.deterministics(at)),
            Some(spared) => quantities(draws, |at| {
                let whole = Point::new(spared.widened(at.latents), at.params);
                predictive.deterministics(&whole)
            }),
        }
    }

    /// Writes the posterior to a file, which appears complete or not at all.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        save_value(path, POSTERIOR, self)
    }

    /// Loads a posterior.
    pub fn load(path: &Path) -> Result<Posterior, FileError> {
        load_value(path, POSTERIOR)
    }

    /// A density of the fitted model in the form of the fit: without local latents, which it
    /// integrated out.
    pub fn marginal<'d>(&self, density: &'d dyn Density) -> Marginal<'d> {
        Marginal::of(density, self.origin.integration.map(|one| one.nodes))
    }
}
