//! One method with its settings, and its two recipes.

use std::sync::Arc;

use lehr_infer::annealed::{AnnealedStart, Momentum};
use lehr_infer::fit::Fit;
use lehr_infer::guide::{Base, FullRank, MeanField};
use lehr_infer::method::{Method, VariationalMethod, find};
use lehr_infer::start::Zero;
use lehr_infer::surrogate::SurrogateKind;
use lehr_infer::train::{Iterations, Schedule};
use serde::{Deserialize, Serialize};

use crate::paper::setting::Settings;

/// B and, unless a table says otherwise, N_surr in all of the paper's experiments.
pub const BATCH: usize = 256;
/// Step size that chains of the paper's recipe start from: the largest of the paper's 10⁻⁴ to
/// 10⁻². From smaller ones a few steps of Adam on κ push every η to zero, where it stays.
const PAPER_STEP_SIZE: f64 = 1e-2;
/// The paper's learning rate, which falls to a tenth and a hundredth of it by thirds.
const PAPER_RATE: f64 = 1e-3;

/// The recipe of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recipe {
    /// The paper's: start at zero with scales of 0.1, one draw per step, no control variate,
    /// momentum variances in the latents' own coordinates, a fixed number of Adam steps.
    Paper,
    /// Our defaults: start at the Laplace approximation, control variate, whitened momentum,
    /// until the bound is level.
    Ours,
}

impl Recipe {
    /// Both.
    pub const ALL: [Recipe; 2] = [Recipe::Paper, Recipe::Ours];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Recipe::Paper => "paper's recipe",
            Recipe::Ours => "ours",
        }
    }
}

/// The Gaussian itself, or the one below a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gaussian {
    /// `MF`
    MeanField,
    /// `MVN`
    FullRank,
}

impl Gaussian {
    fn base(self) -> Arc<dyn Base> {
        match self {
            Gaussian::MeanField => Arc::new(MeanField::default()),
            Gaussian::FullRank => Arc::new(FullRank::default()),
        }
    }

    fn letters(self) -> &'static str {
        match self {
            Gaussian::MeanField => "MF",
            Gaussian::FullRank => "MVN",
        }
    }
}

/// A method with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The name of the method.
    pub method: &'static str,
    /// The Gaussian below its chain, if it has one.
    pub base: Gaussian,
    /// K
    pub chain_steps: usize,
    /// The surrogate; `None` is `rand` in the paper's recipe and the default in ours.
    pub surrogate: Option<SurrogateKind>,
    /// N_surr
    pub surrogate_rows: usize,
    /// B
    pub batch: usize,
    /// Steps of the paper's recipe; `None` is the number in the settings.
    pub iterations: Option<u64>,
}

impl Job {
    /// A Gaussian.
    pub fn gaussian(method: &'static str) -> Job {
        Job {
            method,
            base: Gaussian::MeanField,
            chain_steps: 0,
            surrogate: None,
            surrogate_rows: BATCH,
            batch: BATCH,
            iterations: None,
        }
    }

    /// A chain of so many steps.
    pub fn chain(method: &'static str, base: Gaussian, chain_steps: usize) -> Job {
        Job {
            base,
            chain_steps,
            ..Job::gaussian(method)
        }
    }

    /// The same chain on another surrogate.
    #[must_use]
    pub fn on(mut self, surrogate: SurrogateKind, rows: usize) -> Job {
        self.surrogate = Some(surrogate);
        self.surrogate_rows = rows;
        self
    }

    /// The same method with this many steps of the paper's recipe.
    #[must_use]
    pub fn for_steps(mut self, iterations: u64) -> Job {
        self.iterations = Some(iterations);
        self
    }

    /// Steps of the paper's recipe.
    pub fn iterations(&self, settings: &Settings) -> u64 {
        (self.iterations).unwrap_or_else(|| settings.iterations_of(self.method))
    }

    /// The paper's name: `SL-DAIS-MF 8` is a chain of 8 steps above independent Gaussians.
    pub fn label(&self) -> String {
        let name = match self.method {
            "mean-field" => return "MF".into(),
            "full-rank" => return "MVN".into(),
            "low-rank" => return "low rank".into(),
            "bnaf" => return "Flow".into(),
            "iaf" => return "IAF".into(),
            "nuts-cs" => return "NUTS-CS".into(),
            "hmcecs" => return "HMCECS".into(),
            "surrogate-hmc" => return "surrogate HMC".into(),
            "dais" => "DAIS",
            "ns-dais" => "NS-DAIS",
            "ns2-dais" => "NS′-DAIS",
            "sl-dais" => "SL-DAIS",
            other => other,
        };
        format!("{name}-{} {}", self.base.letters(), self.chain_steps)
    }

    /// The recipes by which it can be fitted: both for trained methods, the defaults for Markov
    /// chains.
    pub fn recipes(&self) -> &'static [Recipe] {
        let mut method = self.method();
        if method.variational_mut().is_some() {
            &Recipe::ALL
        } else {
            &[Recipe::Ours]
        }
    }

    /// A key that identifies the job.
    pub fn key(&self) -> String {
        let surrogate = self.surrogate.map_or("usual", SurrogateKind::name);
        format!(
            "{} surrogate={surrogate}/{} batch={}",
            self.label(),
            self.surrogate_rows,
            self.batch
        )
    }

    /// The fit of this job on this many rows.
    pub fn fit(&self, recipe: Recipe, settings: &Settings, rows: usize) -> Fit<'static> {
        let mut fit = Fit::boxed(self.method()).unexamined();
        // Markov chains have their own defaults.
        if fit.method.variational_mut().is_none() {
            return fit;
        }
        let known: Vec<&str> = fit
            .method
            .info()
            .settings()
            .iter()
            .map(|one| one.name)
            .collect();
        let mut set = |name: &str, value: String| {
            if known.contains(&name) {
                let done = fit.method.set(name, &value);
                done.expect("a value that the setting can have");
            }
        };
        set("surrogate-rows", self.surrogate_rows.min(rows).to_string());
        set("batch", self.batch.min(rows).to_string());
        let surrogate = match (recipe, self.surrogate) {
            (Recipe::Paper, None) => Some(SurrogateKind::RANDOM),
            (_, surrogate) => surrogate,
        };
        if let Some(kind) = surrogate {
            set("surrogate", kind.name().into());
        }
        let method = fit.method.variational_mut();
        let method = method.expect("all others have returned");
        match recipe {
            Recipe::Paper => self.as_published(method, settings),
            Recipe::Ours => self.as_usual(method, settings),
        }
        fit
    }

    fn method(&self) -> Box<dyn Method> {
        let row = find(self.method).expect("a job names a method");
        let mut method = (row.new)();
        if let Some(chain) = method.variational_mut().and_then(|one| one.chain_mut()) {
            chain.base = Some(self.base.base());
            chain.steps = Some(self.chain_steps);
        }
        method
    }

    fn as_published(&self, method: &mut dyn VariationalMethod, settings: &Settings) {
        if let Some(chain) = method.chain_mut() {
            chain.momentum = Momentum::Diagonal;
            chain.start = AnnealedStart {
                step_size: PAPER_STEP_SIZE,
                ..AnnealedStart::default()
            };
        }
        let common = method.common_mut();
        common.start = Some(Arc::new(Zero));
        common.control = Some(false);
        common.train.lanes = 1;
        common.train.clip = None;
        common.train.schedule = Schedule::Staircase { start: PAPER_RATE };
        common.train.iterations = Iterations::Fixed(self.iterations(settings));
    }

    fn as_usual(&self, method: &mut dyn VariationalMethod, settings: &Settings) {
        let cap = match self.method {
            // Every step reads every row, so the number of steps of the paper's recipe is the
            // limit.
            "dais" => settings.iterations_of(self.method) / 10,
            _ => settings.cap,
        };
        method.common_mut().train.iterations = Iterations::Auto { cap };
    }
}

#[cfg(test)]
mod tests {
    use lehr_infer::method::VariationalSettings;

    use super::*;

    fn common(fit: &Fit<'_>) -> VariationalSettings {
        fit.method.variational().unwrap().common().clone()
    }

    #[test]
    fn the_paper_s_recipe_has_the_paper_s_settings() {
        let settings = Settings::default();
        let job = Job::chain("sl-dais", Gaussian::MeanField, 8);
        let mut fit = job.fit(Recipe::Paper, &settings, 50_000);
        let VariationalSettings {
            batch,
            start,
            control,
            train,
        } = common(&fit);
        assert_eq!(train.iterations, Iterations::Fixed(300_000));
        assert_eq!(train.lanes, 1);
        assert_eq!((batch, control), (Some(256), Some(false)));
        assert_eq!(start.unwrap().name(), "zero");
        assert!((train.schedule.rate(0, 3) - 1e-3).abs() < 1e-15);
        let chain = fit.method.variational_mut().unwrap().chain_mut().unwrap();
        assert_eq!(chain.momentum, Momentum::Diagonal);
        assert_eq!(chain.steps, Some(8));
    }

    #[test]
    fn ours_leaves_the_rest_to_the_rules() {
        let job = Job::chain("sl-dais", Gaussian::FullRank, 8);
        let mut fit = job.fit(Recipe::Ours, &Settings::default(), 100);
        let VariationalSettings {
            batch,
            start,
            control,
            train,
        } = common(&fit);
        assert_eq!((batch, control), (Some(100), None));
        assert!(start.is_none());
        assert!(matches!(train.iterations, Iterations::Auto { .. }));
        let chain = fit.method.variational_mut().unwrap().chain_mut().unwrap();
        assert_eq!(chain.momentum, Momentum::Whitened);
    }

    #[test]
    fn labels_are_the_paper_s() {
        assert_eq!(Job::gaussian("full-rank").label(), "MVN");
        let job = Job::chain("ns-dais", Gaussian::FullRank, 8);
        assert_eq!(job.label(), "NS-DAIS-MVN 8");
        let other = job.on("cs-fix".parse().expect("a surrogate"), 64);
        assert_ne!(job.key(), other.key());
    }
}
