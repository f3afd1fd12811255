//! What a fit leaves: draws, their weights, and what they are worth.

use std::path::Path;

use lehr_density::{Density, Layout, SiteValue};
use lehr_file::{FileError, load, save};
use serde::{Deserialize, Serialize};

use crate::evaluate::{Evaluated, draw};
use crate::file::POSTERIOR;
use crate::fit::{Fit, FitError, GuideSpec, Made};
use crate::guide::{Frame, PARAMS};
use crate::method::Method;
use crate::train::Trained;
use lehr_numeric::pareto::{Pareto, Trust, WeightError};
use lehr_numeric::summary::{Weighted, mean, quantile, sd, shortest_interval, sorted};

/// A number with its Monte Carlo standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

impl Estimate {
    /// The mean of independent numbers.
    pub(crate) fn of(values: &[f64]) -> Estimate {
        Estimate {
            mean: mean(values),
            error: sd(values) / (values.len() as f64).sqrt(),
        }
    }
}

/// Wall time by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Mode, curvature and surrogate.
    pub start: f64,
    /// Writing, differentiating and planning the program.
    pub compile: f64,
    /// Training.
    pub train: f64,
    /// Fresh draws on all rows.
    pub evaluate: f64,
}

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

/// A fitted posterior.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Posterior {
    /// How it was made.
    pub method: Method,
    /// The sites behind z.
    pub latents: Layout,
    /// The sites behind θ.
    pub params: Layout,
    /// Rows of the table.
    pub n_rows: usize,
    /// The guide, with its surrogate if it has one.
    pub guide: GuideSpec,
    /// The frame the guide moves in.
    pub frame: Frame,
    /// What was learned, and how that went.
    pub trained: Trained,
    /// z of every draw, one after another.
    pub draws: Vec<f64>,
    /// The log weights of the draws and what they say.
    pub pareto: Pareto,
    /// The bound on the log evidence, on all rows.
    pub bound: Estimate,
    /// The importance-weighted estimate of the log evidence.
    pub evidence: Estimate,
    /// How far a chain's bound is above that of the Gaussian it starts from; `None` without one.
    pub gain: Option<Estimate>,
    /// What was chosen for the user.
    pub choices: Vec<(String, String)>,
    /// The seed.
    pub seed: u64,
    /// Wall time.
    pub seconds: Seconds,
    /// The model in words.
    pub model: String,
}

impl Posterior {
    pub(crate) fn new(
        fit: &Fit,
        density: &dyn Density,
        made: Made,
        evaluated: Evaluated,
    ) -> Result<Posterior, WeightError> {
        let weights = &evaluated.log_weights;
        let pareto = Pareto::new(weights)?;
        Ok(Posterior {
            method: fit.method,
            latents: density.latents().clone(),
            params: density.params().clone(),
            n_rows: density.n_rows(),
            guide: made.spec,
            frame: made.frame,
            trained: made.trained,
            bound: Estimate::of(weights),
            gain: made.gain,
            evidence: Estimate {
                mean: pareto.log_evidence,
                error: pareto.log_evidence_error,
            },
            pareto,
            draws: evaluated.latents,
            choices: made.choices,
            seed: fit.train.seed,
            seconds: made.seconds,
            model: density
                .predictive()
                .map_or_else(String::new, |p| p.describe()),
        })
    }

    /// How many draws there are.
    pub fn n_draws(&self) -> usize {
        self.draws.len() / self.latents.size().max(1)
    }

    /// θ on the constrained scale.
    pub fn param_values(&self) -> Vec<SiteValue> {
        let values = self.trained.learned.get(PARAMS).unwrap_or(&[]);
        self.params.constrain_values(values)
    }

    /// The draws on the constrained scale, by site.
    pub fn sites(&self) -> Vec<SiteValue> {
        self.latents.constrain_values(&self.draws)
    }

    /// Summaries of every constrained number, the draws taken as they are.
    pub fn summaries(&self) -> Vec<Summary> {
        self.each_quantity(plain_summary)
    }

    /// Summaries with the draws weighted by their smoothed importance weights, which corrects
    /// what the guide gets wrong as far as its draws reach.
    pub fn corrected_summaries(&self) -> Vec<Summary> {
        let weights = self.pareto.weights();
        self.each_quantity(|name, values| weighted_summary(name, values, &weights))
    }

    fn each_quantity(&self, summarise: impl Fn(String, &[f64]) -> Summary) -> Vec<Summary> {
        let draws = self.n_draws();
        let mut all = Vec::new();
        for (site, layout) in self.sites().iter().zip(self.latents.sites()) {
            let size = site.values.len() / draws.max(1);
            for (entry, name) in layout.entry_names().into_iter().enumerate() {
                let values: Vec<f64> = (0..draws).map(|d| site.values[d * size + entry]).collect();
                all.push(summarise(name, &values));
            }
        }
        all
    }

    /// Whether a chain is worse than the Gaussian it starts from, by more than two standard
    /// errors.
    pub fn is_below_base(&self) -> bool {
        self.gain.is_some_and(|gain| gain.mean < -2.0 * gain.error)
    }

    /// Whether to rely on the draws, in one sentence.
    pub fn verdict(&self) -> String {
        let k = self.pareto.shape;
        let words = match self.pareto.trust {
            Trust::Reliable => "reliable",
            Trust::Corrected => "use the corrected summaries",
            Trust::Untrusted => "do not trust these draws",
        };
        let trained = if self.trained.converged {
            ""
        } else {
            "; training had not converged"
        };
        let below = if self.is_below_base() {
            "; the chain is worse than its base"
        } else {
            ""
        };
        format!("{words} (k̂ = {k:.2}{trained}{below})")
    }

    /// Writes the posterior to a file, all or nothing.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        save(path, POSTERIOR, self)
    }

    /// Reads a posterior.
    pub fn load(path: &Path) -> Result<Posterior, FileError> {
        load(path, POSTERIOR)
    }

    /// More draws of z. A chain on a surrogate needs the model, but no row of the table: the
    /// density may be bound to any rows of the same columns.
    pub fn draw_more(
        &self,
        density: &dyn Density,
        count: usize,
        seed: u64,
    ) -> Result<Vec<f64>, FitError> {
        let guide = self.guide.guide(density)?;
        let place = (density, &self.frame);
        let drawn = draw(place, guide.as_ref(), &self.trained.learned, (count, seed))?;
        Ok(drawn.latents)
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
