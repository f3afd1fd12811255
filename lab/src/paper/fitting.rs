//! The fits of one Gaussian process: the paper's, ours, and further ones that decompose a gain.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lehr_infer::annealed::{AnnealedStart, Momentum};
use lehr_infer::error::TrainError;
use lehr_infer::fit::{Fit, FitError};
use lehr_infer::fixed::DensityAtParams;
use lehr_infer::guide::FullRank as Correlated;
use lehr_infer::method::{FullRank, SlDais, VariationalSettings};
use lehr_infer::posterior::{Estimate, Posterior};
use lehr_infer::start::{FromFit, Start, Zero};
use lehr_infer::surrogate::SurrogateKind;
use lehr_infer::train::{Iterations, Schedule};
use serde::{Deserialize, Serialize};

use crate::paper::cell::Measured;
use crate::paper::process::{Forecast, Process};
use crate::paper::setting::Settings;

/// B in both tables.
pub(crate) const BATCH: usize = 128;
/// K in both tables.
pub(crate) const CHAIN_STEPS: usize = 4;
/// The paper's learning rate, which falls to a tenth and a hundredth of it by thirds.
const RATE: f64 = 1e-3;

/// The way in which a fit is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The paper's full-rank Gaussian.
    Gaussian,
    /// The same, trained for as many further steps as the paper's chain.
    Continued,
    /// The paper's chain, which starts from the finished Gaussian.
    Chain,
    /// Our full-rank Gaussian: natural gradients, then the best Gaussian at the resulting θ.
    Natural,
    /// Our chain, above that.
    NaturalChain,
}

impl Way {
    pub(crate) const ALL: [Way; 5] = [
        Way::Gaussian,
        Way::Continued,
        Way::Chain,
        Way::Natural,
        Way::NaturalChain,
    ];

    /// The name in tables.
    pub(crate) fn label(self) -> String {
        match self {
            Way::Gaussian => "MVN, paper's recipe".into(),
            Way::Continued => "MVN, as many steps more".into(),
            Way::Chain => format!("SL-DAIS-MVN {CHAIN_STEPS}, from MVN"),
            Way::Natural => "MVN, ours (natural gradients)".into(),
            Way::NaturalChain => format!("SL-DAIS-MVN {CHAIN_STEPS}, ours"),
        }
    }

    /// Whether it continues from the paper's Gaussian.
    fn goes_on(self) -> bool {
        matches!(self, Way::Continued | Way::Chain)
    }
}

/// The results of a fit, and the possible gain at its θ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Made {
    /// Of the fit.
    pub(crate) bound: Estimate,
    /// Of the best full-rank Gaussian at the fit's θ.
    pub(crate) best: Estimate,
    /// The log evidence at the fit's θ, by importance weights of that Gaussian.
    pub(crate) evidence: Estimate,
    /// k̂ of those weights.
    pub(crate) pareto_k: Option<f64>,
    /// Mean of the learned step sizes of a chain.
    pub(crate) step_size: Option<f64>,
    pub(crate) forecast: Forecast,
    /// The learned values, except for large arrays.
    pub(crate) learned: Vec<(String, Vec<f64>)>,
    pub(crate) steps: u64,
    pub(crate) milliseconds: f64,
    pub(crate) seconds: f64,
}

/// The result of a fit, or the reason why it failed.
pub(crate) type Outcome = Result<Made, String>;

/// The fits of one problem.
pub(crate) struct Fitting<'a> {
    pub(crate) problem: &'a Process,
    pub(crate) settings: &'a Settings,
    /// `N_surr`
    pub(crate) surrogate_rows: usize,
    /// The starting step size of the paper's chain.
    pub(crate) step_size: f64,
    pub(crate) seed: u64,
    /// The file of the paper's Gaussian, for fits that continue from it.
    pub(crate) kept: PathBuf,
}

impl Fitting<'_> {
    /// A fit and its controls. One that diverges is a result, too.
    pub(crate) fn made(&self, way: Way) -> Result<Outcome, FitError> {
        match self.posterior(way) {
            Ok(posterior) => Ok(Ok(self.judged(&posterior)?)),
            Err(error @ (FitError::Weights(_) | FitError::Train(TrainError::NotFinite { .. }))) => {
                Ok(Err(error.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    fn posterior(&self, way: Way) -> Result<Posterior, FitError> {
        if way == Way::Gaussian {
            let found = self.fit(way, None)?;
            found.save(&self.kept)?;
            return Ok(found);
        }
        let start = way.goes_on().then(|| self.first()).transpose()?;
        self.fit(way, start)
    }

    /// The start from the paper's Gaussian.
    fn first(&self) -> Result<Arc<dyn Start>, FitError> {
        let kept: &Path = &self.kept;
        let first = if kept.exists() {
            Posterior::load(kept)?
        } else {
            self.posterior(Way::Gaussian)?
        };
        let sampler = first.sampler()?;
        let (whitening, learned) = sampler.learned().expect("a Gaussian is learned");
        Ok(Arc::new(FromFit {
            whitening: whitening.clone(),
            learned: learned.clone(),
        }))
    }

    fn fit(&self, way: Way, start: Option<Arc<dyn Start>>) -> Result<Posterior, FitError> {
        let fit = match way {
            Way::Gaussian | Way::Continued => {
                let mut method = FullRank::default();
                self.as_published(&mut method.variational, start);
                Fit::new(method)
            }
            Way::Natural => Fit::new(self.full_rank()),
            Way::Chain | Way::NaturalChain => Fit::new(self.chain(way, start)),
        };
        let fit = fit.unexamined().seed(self.seed).draws(self.settings.draws);
        fit.run(&self.problem.density)
    }

    fn chain(&self, way: Way, start: Option<Arc<dyn Start>>) -> SlDais {
        let mut method = SlDais {
            surrogate: Some(SurrogateKind::RANDOM),
            surrogate_rows: Some(self.surrogate_rows.min(self.problem.rows)),
            ..SlDais::default()
        };
        method.chain.base = Some(Arc::new(Correlated::default()));
        method.chain.steps = Some(CHAIN_STEPS);
        if way == Way::Chain {
            method.chain.momentum = Momentum::Diagonal;
            method.chain.start = AnnealedStart {
                step_size: self.step_size,
                ..AnnealedStart::default()
            };
            self.as_published(&mut method.variational, start);
        } else {
            let cap = self.settings.cap;
            method.variational.batch = Some(BATCH.min(self.problem.rows));
            method.variational.train.iterations = Iterations::Auto { cap };
        }
        method
    }

    /// Our Gaussian. If the integrals do not end at the best one, training continues from there.
    fn full_rank(&self) -> FullRank {
        let mut method = FullRank::default();
        let cap = self.settings.cap;
        method.variational.train.iterations = Iterations::Auto { cap };
        method
    }

    fn as_published(&self, common: &mut VariationalSettings, start: Option<Arc<dyn Start>>) {
        common.batch = Some(BATCH.min(self.problem.rows));
        common.start = Some(start.unwrap_or_else(|| Arc::new(Zero)));
        common.control = Some(false);
        common.train.lanes = 1;
        common.train.clip = None;
        common.train.schedule = Schedule::Staircase { start: RATE };
        common.train.iterations = Iterations::Fixed(self.settings.iterations);
    }

    /// The quality of a fit, with that of the best Gaussian and the evidence at its θ.
    fn judged(&self, posterior: &Posterior) -> Result<Made, FitError> {
        /// Sites of more numbers are not shown.
        const SHORT: usize = 3;
        let density = &self.problem.density;
        let fixed = DensityAtParams::new(density, &posterior.param_values);
        let control = Fit::new(self.full_rank()).unexamined().seed(self.seed);
        let control = Measured::new(&control.draws(self.settings.draws).run(&fixed)?);
        let own = Measured::new(posterior);
        let sites = posterior.params.constrain_values(&posterior.param_values);
        let short = sites.into_iter().filter(|site| site.values.len() <= SHORT);
        Ok(Made {
            bound: own.bound.unwrap_or(Estimate::UNKNOWN),
            best: control.bound.unwrap_or(Estimate::UNKNOWN),
            evidence: control.evidence.unwrap_or(Estimate::UNKNOWN),
            pareto_k: control.pareto_k,
            step_size: own.step_size,
            forecast: self.problem.forecast(posterior),
            learned: short.map(|site| (site.name, site.values)).collect(),
            steps: own.iterations,
            milliseconds: own.step_milliseconds,
            seconds: own.seconds,
        })
    }
}
