//! What a fit leaves: draws, what they are worth, and where they come from.

use std::path::Path;

use lehr_density::{Density, FlatDraws, Layout, Point, SiteValue, Stored, quantities};
use lehr_file::{FileError, load, save};
use lehr_numeric::pareto::Pareto;
use lehr_numeric::summary::{Weighted, mean, quantile, sd, shortest_interval, sorted};
use serde::{Deserialize, Serialize};

use crate::chains::Chains;
use crate::condensed::Condensed;
use crate::error::FitError;
use crate::estimate::{Choices, Level, Shape};
use crate::file::POSTERIOR;
use crate::judge::{Examination, Verdict, site_columns};
use crate::local::{Integration, Marginal};
use crate::method::{Attempt, Sampler, restore};
use crate::spared::Spared;
use crate::train::Training;

pub use crate::estimate::{Estimate, Evidence, Gain, Seconds};

/// Location and spread of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The name, `site` or `site[3]`.
    pub name: String,
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
    /// The 5 %, 50 % and 95 % quantiles.
    pub quantiles: [f64; 3],
    /// The shortest interval with 90 % of the mass.
    pub shortest: (f64, f64),
}

/// What tells how good the draws are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Diagnostics {
    /// Draws of something else than the posterior, with importance weights.
    Importance(Importance),
    /// Draws of Markov chains.
    Chains(Chains),
}

/// What tells how good weighted draws are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Importance {
    /// The log weights of the draws and what they say.
    pub pareto: Pareto,
    /// Where the draws come from.
    pub proposal: Proposal,
    /// What was seen when the draws were examined.
    pub examination: Examination,
    /// Where the guide's own draws were off, the chains whose draws stand in for them.
    pub chains: Option<Box<Chains>>,
}

/// What made draws that are then weighted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Proposal {
    /// A guide that was trained so.
    Guide(Training),
    /// Markov chains on a stand-in for the posterior, of which these are some.
    Chains(Box<Chains>),
}

/// What stands in the place of a method where the draws are of the prior.
pub const PRIOR: &str = "prior";

/// What is stored of the user's rows by methods that keep none.
pub(crate) const NO_ROWS: &str = "no rows of the table";

/// Where a posterior comes from, so that it can be drawn from again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The method, and what the fit stored of itself.
    pub method: Stored,
    /// The model, if it can be stored.
    pub model: Option<Stored>,
    /// The model in words.
    pub description: String,
    /// The seed.
    pub seed: u64,
    /// Rows of the table.
    pub rows: usize,
    /// Whether they were condensed.
    pub condensed: bool,
    /// How the latents of single rows were integrated out, if there were any.
    pub integration: Option<Integration>,
    /// The version of this crate.
    pub version: String,
    /// What of the user's rows is stored with the method, in words.
    pub contents: String,
    /// What was tried on the way, where methods were chosen.
    pub attempts: Vec<Attempt>,
}

impl Origin {
    /// The origin of a fit of this model, but for its method, with what that stores of the rows.
    pub fn of(density: &dyn Density, seed: u64, contents: String) -> Origin {
        Origin {
            method: Stored {
                name: String::new(),
                bytes: Vec::new(),
            },
            model: density.origin(),
            description: density
                .predictive()
                .map_or_else(String::new, lehr_density::Predictive::describe),
            seed,
            rows: density.total_rows(),
            condensed: false,
            integration: None,
            version: env!("CARGO_PKG_VERSION").into(),
            contents,
            attempts: Vec::new(),
        }
    }
}

/// A fitted posterior.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Posterior {
    /// z of every draw, one after another.
    pub draws: Vec<f64>,
    /// The sites behind z.
    pub latents: Layout,
    /// A site that is not among them: it has too many numbers for every draw to be kept.
    pub spared: Option<Box<Spared>>,
    /// The sites behind θ.
    pub params: Layout,
    /// θ, flat and unconstrained.
    pub param_values: Vec<f64>,
    /// What the fit says of the log evidence, if anything.
    pub evidence: Option<Evidence>,
    /// What tells how good the draws are.
    pub diagnostics: Diagnostics,
    /// Where it comes from.
    pub origin: Origin,
    /// What was chosen for the user.
    pub choices: Choices,
    /// Wall time.
    pub seconds: Seconds,
}

impl Posterior {
    /// Independent draws of the prior in the place of a posterior; no row counts.
    ///
    /// # Panics
    /// If there are too few draws for their weights, which are all the same, to be looked at.
    pub fn of_prior(density: &dyn Density, draws: Vec<f64>, seed: u64) -> Posterior {
        let latents = density.latents().clone();
        let count = draws.len() / latents.size().max(1);
        let pareto = Pareto::new(&vec![0.0; count]).expect("enough draws, all of them alike");
        let mut origin = Origin::of(density, seed, NO_ROWS.into());
        origin.method.name = PRIOR.into();
        Posterior {
            draws,
            latents,
            spared: None,
            params: density.params().clone(),
            param_values: density.params().start().to_vec(),
            evidence: None,
            diagnostics: Diagnostics::Importance(Importance {
                pareto,
                proposal: Proposal::Guide(Training {
                    iterations: 0,
                    converged: true,
                    bad_steps: 0,
                    history: Vec::new(),
                    steps_now: 0,
                }),
                examination: Examination::default(),
                chains: None,
            }),
            origin,
            choices: Choices::default(),
            seconds: Seconds::default(),
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

    /// How many Markov chains the draws are of, one after another, if they are of chains.
    pub fn n_chains(&self) -> Option<usize> {
        self.chains().map(|chains| chains.count)
    }

    /// What the draws are worth if they are of Markov chains.
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

    /// What tells how good the draws are, if they are weighted.
    pub fn importance(&self) -> Option<&Importance> {
        match &self.diagnostics {
            Diagnostics::Importance(importance) => Some(importance),
            Diagnostics::Chains(_) => None,
        }
    }

    /// How training went, if anything was trained.
    pub fn training(&self) -> Option<&Training> {
        match &self.importance()?.proposal {
            Proposal::Guide(training) => Some(training),
            Proposal::Chains(_) => None,
        }
    }

    /// The chains on a stand-in for the posterior that made the draws, if they did.
    pub fn proposal_chains(&self) -> Option<&Chains> {
        match &self.importance()?.proposal {
            Proposal::Guide(_) => None,
            Proposal::Chains(chains) => Some(chains),
        }
    }

    /// k̂, the shape of the tail of the weights, if the draws have weights that differ: of weights that
    /// are all but equal it says nothing.
    pub fn pareto_shape(&self) -> Option<f64> {
        let pareto = &self.importance()?.pareto;
        (Shape::of(pareto) != Shape::Alike).then_some(pareto.shape)
    }

    /// How many independent draws these are worth: of Markov chains, for the worst latent.
    pub fn effective_size(&self) -> f64 {
        match (&self.diagnostics, self.chains()) {
            (Diagnostics::Importance(importance), None) => importance.pareto.effective_size,
            (_, chains) => chains.map_or(f64::NAN, Chains::fewest_effective),
        }
    }

    /// How the draws are to be used: as they are, corrected by their weights, or not at all.
    pub fn draws_level(&self) -> Level {
        self.verdict().level
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

    /// The quantities that the fitted model names besides its sites, under each draw. The
    /// density may be bound to any rows of the same columns.
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

    /// Summaries of every constrained number, the draws taken as they are.
    pub fn summaries(&self) -> Vec<Summary> {
        self.each_quantity(plain_summary)
    }

    /// Summaries with the draws weighted by their smoothed importance weights, which corrects
    /// what the guide gets wrong as far as its draws reach.
    pub fn corrected_summaries(&self) -> Vec<Summary> {
        let weights = self.weights();
        self.each_quantity(|name, values| weighted_summary(name, values, &weights))
    }

    fn each_quantity(&self, summarise: impl Fn(String, &[f64]) -> Summary) -> Vec<Summary> {
        let columns = site_columns(&self.latents, &self.draws).into_iter();
        columns
            .map(|(name, values)| summarise(name, &values))
            .collect()
    }

    /// Whether to rely on the draws, why, and what could be done.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self)
    }

    /// Writes the posterior to a file, all or nothing.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        save(path, POSTERIOR, self)
    }

    /// Reads a posterior.
    pub fn load(path: &Path) -> Result<Posterior, FileError> {
        load(path, POSTERIOR)
    }

    /// The fit read back from what it stored of itself.
    ///
    /// # Errors
    /// If its method is not known here, or what it stored is damaged.
    pub fn sampler(&self) -> Result<Box<dyn Sampler>, FitError> {
        restore(&self.origin.method)
    }

    /// A density of the fitted model as the fit saw it: without the latents of single rows, which
    /// it integrated out.
    pub fn marginal<'d>(&self, density: &'d dyn Density) -> Marginal<'d> {
        Marginal::of(density, self.origin.integration.map(|one| one.nodes))
    }

    /// More draws of z. A chain on a surrogate needs the model, but no row of the table: the
    /// density may be bound to any rows of the same columns.
    ///
    /// # Errors
    /// If the fit cannot be read back, or the density is another model's.
    pub fn draw_more(
        &self,
        density: &dyn Density,
        count: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let sampler = self.sampler()?;
        let marginal = self.marginal(density);
        let density = marginal.density();
        let condensed = Condensed::of(density).filter(|_| self.origin.condensed);
        match &condensed {
            Some(condensed) => sampler.draw(condensed, count, seed),
            None => sampler.draw(density, count, seed),
        }
    }
}

fn plain_summary(name: String, values: &[f64]) -> Summary {
    let in_order = sorted(values);
    Summary {
        name,
        mean: mean(values),
        sd: sd(values),
        quantiles: [0.05, 0.5, 0.95].map(|p| quantile(&in_order, p)),
        shortest: shortest_interval(&in_order, 0.9),
    }
}

fn weighted_summary(name: String, values: &[f64], weights: &[f64]) -> Summary {
    let weighted = Weighted::new(values, weights);
    Summary {
        name,
        mean: weighted.mean(),
        sd: weighted.sd(),
        quantiles: [0.05, 0.5, 0.95].map(|p| weighted.quantile(p)),
        shortest: weighted.shortest_interval(0.9),
    }
}
