//! One method with its settings, and the two recipes it is fitted by.

use lehr_infer::annealed::{AnnealedStart, Momentum};
use lehr_infer::fit::{Fit, Start};
use lehr_infer::guide::{Base, FullRank, MeanField};
use lehr_infer::method::Method;
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

/// How a fit is made.
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
    fn base(self) -> Base {
        match self {
            Gaussian::MeanField => Base::MeanField(MeanField::default()),
            Gaussian::FullRank => Base::FullRank(FullRank::default()),
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
    /// Which method.
    pub method: Method,
    /// The Gaussian below its chain, if it has one.
    pub base: Gaussian,
    /// K
    pub chain_steps: usize,
    /// Which surrogate; `None` is `rand` in the paper's recipe and the usual one in ours.
    pub surrogate: Option<SurrogateKind>,
    /// N_surr
    pub surrogate_rows: usize,
    /// B
    pub batch: usize,
    /// Steps of the paper's recipe; `None` is what the settings say.
    pub iterations: Option<u64>,
}

impl Job {
    /// A Gaussian.
    pub fn gaussian(method: Method) -> Job {
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
    pub fn chain(method: Method, base: Gaussian, chain_steps: usize) -> Job {
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

    /// The same method for so many steps of the paper's recipe.
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
            Method::MeanField => return "MF".into(),
            Method::FullRank => return "MVN".into(),
            Method::LowRank => return "low rank".into(),
            Method::Dais => "DAIS",
            Method::NsDais => "NS-DAIS",
            Method::NsPrimeDais => "NS′-DAIS",
            Method::SlDais => "SL-DAIS",
        };
        format!("{name}-{} {}", self.base.letters(), self.chain_steps)
    }

    /// Everything that tells it from another job.
    pub fn key(&self) -> String {
        let surrogate = self.surrogate.map_or("usual", SurrogateKind::name);
        format!(
            "{} surrogate={surrogate}/{} batch={}",
            self.label(),
            self.surrogate_rows,
            self.batch
        )
    }

    /// The fit of this job on so many rows.
    pub fn fit(&self, recipe: Recipe, settings: &Settings, rows: usize) -> Fit {
        let mut fit = Fit::new(self.method);
        if self.method.is_annealed() {
            fit.base = Some(self.base.base());
            fit.chain_steps = Some(self.chain_steps);
        }
        if self.method == Method::SlDais {
            fit.surrogate = self.surrogate;
            fit.surrogate_rows = Some(self.surrogate_rows.min(rows));
        }
        fit.batch = Some(self.batch.min(rows));
        match recipe {
            Recipe::Paper => self.as_published(&mut fit, settings),
            Recipe::Ours => self.as_usual(&mut fit, settings),
        }
        fit
    }

    fn as_published(&self, fit: &mut Fit, settings: &Settings) {
        fit.momentum = Momentum::Diagonal;
        fit.annealed_start = AnnealedStart {
            step_size: PAPER_STEP_SIZE,
            ..AnnealedStart::default()
        };
        if self.method == Method::SlDais {
            fit.surrogate = Some(self.surrogate.unwrap_or(SurrogateKind::RANDOM));
        }
        fit.start = Start::Zero;
        fit.control = Some(false);
        fit.train.lanes = 1;
        fit.train.clip = None;
        fit.train.schedule = Schedule::Staircase { start: PAPER_RATE };
        fit.train.iterations = Iterations::Fixed(self.iterations(settings));
    }

    fn as_usual(&self, fit: &mut Fit, settings: &Settings) {
        let cap = match self.method {
            // Every step reads every row: what the paper's recipe may take is enough.
            Method::Dais => settings.iterations_of(self.method) / 10,
            _ => settings.cap,
        };
        fit.train.iterations = Iterations::Auto { cap };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_recipe_has_the_paper_s_settings() {
        let settings = Settings::default();
        let job = Job::chain(Method::SlDais, Gaussian::MeanField, 8);
        let fit = job.fit(Recipe::Paper, &settings, 50_000);
        assert_eq!(fit.train.iterations, Iterations::Fixed(300_000));
        assert_eq!(fit.train.lanes, 1);
        assert_eq!(fit.momentum, Momentum::Diagonal);
        assert_eq!(fit.surrogate, Some(SurrogateKind::RANDOM));
        assert_eq!((fit.surrogate_rows, fit.batch), (Some(256), Some(256)));
        assert_eq!(fit.control, Some(false));
        assert!(matches!(fit.start, Start::Zero));
        assert!((fit.train.schedule.rate(0, 3) - 1e-3).abs() < 1e-15);
    }

    #[test]
    fn ours_leaves_the_rest_to_the_rules() {
        let job = Job::chain(Method::SlDais, Gaussian::FullRank, 8);
        let fit = job.fit(Recipe::Ours, &Settings::default(), 100);
        assert_eq!(fit.momentum, Momentum::Whitened);
        assert_eq!(
            (fit.surrogate, fit.surrogate_rows, fit.batch),
            (None, Some(100), Some(100))
        );
        assert!(matches!(fit.start, Start::Auto) && fit.control.is_none());
        assert!(matches!(fit.train.iterations, Iterations::Auto { .. }));
    }

    #[test]
    fn labels_are_the_paper_s() {
        assert_eq!(Job::gaussian(Method::FullRank).label(), "MVN");
        let job = Job::chain(Method::NsDais, Gaussian::FullRank, 8);
        assert_eq!(job.label(), "NS-DAIS-MVN 8");
        let other = job.on("cs-fix".parse().expect("a surrogate"), 64);
        assert_ne!(job.key(), other.key());
    }
}
