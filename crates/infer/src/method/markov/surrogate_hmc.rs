//! `surrogate-hmc`: chains on a few rows and an expansion of all others, then one pass over the table.

use std::time::Instant;

use lehr_density::{Density, Stored};
use serde::{Deserialize, Serialize};

use super::{
    ChainFit, ChainMethod, DrawsOf, FitSource, SamplerSettings, Target, WeightedChains, conclude,
    on_surrogate, refusal, refused,
};
use crate::bytes::{decoded, encoded};
use crate::chains::{
    self, ChainError, ChainProgress, ChainStage, DelayedAcceptance, Failure, Trace, Watch,
};
use crate::error::{FitError, StartError};
use crate::estimate::{Choices, Seconds};
use crate::expansion::has_hierarchy;
use crate::guide::{self, WhitenedDensity, Whitening};
use crate::method::{Method, MethodInfo, RowAccess, Sampler, markov};
use crate::posterior::Posterior;
use crate::run::Run;
use crate::setting::Setting;
use crate::start::{
    Laplace, RunMaximiser, Start, StartRequest, StartingPoint, choose, is_linear_without_hierarchy,
};
use crate::surrogate::{Remainder, Surrogate, WorstRows};
use lehr_rows::watch::{Phase, Wish};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "surrogate-hmc",
    aliases: &[],
    help: "Markov chains on a surrogate, weighted on all rows",
    needs: "at most 2,000 latents, no hierarchical scale",
    cost: "1,000 rows, 3 to 5 times per draw; all rows once",
    when: "draws of the posterior, tables of any length",
    remedy: "raise surrogate-rows, or set exact",
    rows: RowAccess::Passes,
    new: || Box::new(SurrogateHmc::default()),
    restore: |bytes| {
        let stored: StoredChains = decoded(bytes)?;
        Ok(Box::new(stored))
    },
};

/// The most rows that are summed exactly.
const MOST_ROWS: usize = 8192;

/// Hamiltonian Monte Carlo on a surrogate: the rows that their expansion at the mode fits worst are
/// summed exactly, the others by their expansion. Then all rows are read once to weigh the draws.
/// Settings that are `None` are chosen by the rules of `docs/methods.md`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SurrogateHmc {
    /// Chains, warm-up and acceptance.
    pub sampler: SamplerSettings,
    /// Rows that are summed exactly; by default their number grows while weights do not correct the
    /// draws.
    pub surrogate_rows: Option<usize>,
    /// Whether chains accept on all rows, which makes them exact: each iteration is then a pass.
    pub exact: bool,
}

impl ChainMethod for SurrogateHmc {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn start(&self) -> Option<&std::sync::Arc<dyn Start>> {
        None
    }

    fn lanes(&self) -> usize {
        self.sampler.chains.unwrap_or(chains::CHAINS)
    }

    fn problem(&self) -> Option<String> {
        self.sampler.problem()
    }

    fn sample(&self, target: &Target<'_>, watch: &mut dyn Watch) -> Result<Trace, ChainError> {
        self.sampler
            .hmc(target.draws)
            .run(&target.log_density, target.seed, watch)
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}

impl Method for SurrogateHmc {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    /// Chains that accept on all rows need as many draws as any others for R̂. The others are
    /// thinned to as many as means need for 0.03 of a standard deviation.
    fn usual_draws(&self, _: &dyn Density) -> usize {
        if self.exact { 4000 } else { 1280 }
    }

    fn condenses(&self, _: &dyn Density) -> bool {
        self.surrogate_rows.is_none()
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let exact = vec![
            ("no", "one pass over all rows weighs the draws", false),
            (
                "yes",
                "every iteration accepts or rejects on all rows",
                true,
            ),
        ];
        let mut settings = self.sampler.settings();
        settings.extend([
            Setting::count(
                "surrogate-rows",
                "N",
                "rows of the surrogate",
                &mut self.surrogate_rows,
            ),
            Setting::one_of(
                "exact",
                "whether chains on a surrogate accept on all rows",
                exact,
                &mut self.exact,
            ),
        ]);
        settings
    }

    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        self.check(density, run)?;
        let clock = Instant::now();
        run.begin(Phase::START);
        let (name, point) = start(&INFO, density, run)?;
        let no_mode = || {
            let problem = "the model has more latents than a curvature is computed of";
            refused(&INFO, problem, "use sl-dais, or hmc on all rows")
        };
        let mode = point.surrogate_mode().ok_or_else(no_mode)?;
        let remainder = Remainder {
            density,
            mode: &mode,
            whitening: &point.whitening,
            seed: run.seed,
        };
        let most = self
            .surrogate_rows
            .unwrap_or(MOST_ROWS)
            .min(density.n_rows());
        let ranked = remainder.ranked(most);
        let ground = SurrogateStart {
            density,
            whitening: &point.whitening,
            start: clock.elapsed().as_secs_f64(),
            choices: vec![("start".into(), name.into())],
        };
        let found = self.weigh(ground, &remainder, &ranked, run)?;
        if self.exact {
            self.accept(found, run)
        } else {
            self.conclude(found, run)
        }
    }
}

/// A surrogate, and draws of its posterior with weights from all rows.
struct WeighedSurrogate<'a> {
    ground: SurrogateStart<'a>,
    surrogate: WorstRows,
    weighed: WeightedChains,
}

/// The start of chains on a surrogate.
struct SurrogateStart<'a> {
    density: &'a dyn Density,
    whitening: &'a Whitening,
    start: f64,
    choices: Choices,
}

impl<'a> SurrogateStart<'a> {
    fn note(&mut self, what: &str, how: impl Into<String>) {
        self.choices.push((what.into(), how.into()));
    }

    fn note_surrogate(&mut self, rows: usize, cut: usize) {
        self.note("surrogate rows", rows.to_string());
        if cut > 0 {
            let words = format!("not followed where it grows, along {cut} directions");
            self.note("expansion", words);
        }
    }

    fn place(&self) -> WhitenedDensity<'a> {
        WhitenedDensity::new(self.density, self.whitening)
    }
}

impl SurrogateHmc {
    fn check(&self, density: &dyn Density, run: &Run<'_>) -> Result<(), FitError> {
        markov::check(self, density, run)?;
        if self.surrogate_rows == Some(0) {
            let problem = "0 surrogate rows were asked for";
            return Err(refused(&INFO, problem, "leave it out for the usual value"));
        }
        if let Some(rows) = self.surrogate_rows.filter(|rows| *rows > density.n_rows()) {
            let n_rows = density.n_rows();
            let problem =
                format!("{rows} surrogate rows were asked for, but the table has {n_rows}");
            return Err(refused(&INFO, problem, "leave it out for the usual value"));
        }
        if has_hierarchy(density) {
            let problem =
                "a latent is the spread of others, so that the mode is no place to expand at";
            return Err(refused(
                &INFO,
                problem,
                "use nuts, or sl-dais for long tables",
            ));
        }
        Ok(())
    }

    /// The initial number of rows that are summed exactly.
    fn first_rows(&self, density: &dyn Density) -> usize {
        const SHORT: usize = 20_000;
        let usual = if density.n_rows() < SHORT { 256 } else { 1024 };
        self.surrogate_rows.unwrap_or(usual).min(density.n_rows())
    }

    /// Chains on the surrogate, weighed on all rows; with more exact rows while weights do not
    /// correct the draws.
    fn weigh<'a>(
        &self,
        mut ground: SurrogateStart<'a>,
        remainder: &Remainder<'_>,
        ranked: &[usize],
        run: &mut Run<'_>,
    ) -> Result<WeighedSurrogate<'a>, FitError> {
        let mut rows = self.first_rows(ground.density).min(ranked.len());
        loop {
            let (surrogate, cut) = WorstRows::new(remainder, &ranked[..rows]);
            let mut target = self.target(&ground, &surrogate, run);
            let weighed = WeightedChains::new(self, ground.density, &mut target, run)?;
            if weighed.fits() || rows == ranked.len() {
                ground.note_surrogate(rows, cut);
                return Ok(WeighedSurrogate {
                    ground,
                    surrogate,
                    weighed,
                });
            }
            let words = format!("{rows} leave k = {:.2}", weighed.shape());
            ground.note("fewer surrogate rows", words);
            rows = (2 * rows).min(ranked.len());
        }
    }

    fn conclude(
        &self,
        found: WeighedSurrogate<'_>,
        run: &mut Run<'_>,
    ) -> Result<Posterior, FitError> {
        let WeighedSurrogate {
            ground,
            surrogate,
            weighed,
        } = found;
        let stored = self.stored(&ground, &surrogate);
        let source = FitSource {
            method: Stored {
                name: INFO.name.into(),
                bytes: encoded(&stored),
            },
            contents: surrogate.contents(),
            choices: ground.choices,
            start: ground.start,
        };
        weighed.conclude(source, ground.density, run)
    }

    /// Chains that accept on all rows. If weights do not correct the surrogate's draws, its tails
    /// are lighter than the posterior's, and chains with its proposals visit them too rarely.
    fn accept(
        &self,
        found: WeighedSurrogate<'_>,
        run: &mut Run<'_>,
    ) -> Result<Posterior, FitError> {
        let WeighedSurrogate {
            mut ground,
            surrogate,
            weighed,
        } = found;
        let target = self.target(&ground, &surrogate, run);
        run.begin(Phase::CHAINS);
        let clock = Instant::now();
        let numbers = target.numbers(self);
        let mut stage = ChainStage::new(run, &numbers)?;
        let trace = self.delayed(ground.density, &target).run(&mut stage);
        stage.finish()?;
        let mut trace = trace.map_err(|error| refusal(&INFO, error))?;
        if !weighed.fits() {
            let words = format!(
                "tails that the surrogate lacks (k = {:.2})",
                weighed.shape()
            );
            trace.doubts = vec![Failure::new(words, "raise surrogate-rows, or use hmc")];
        }
        let acceptance = lehr_numeric::summary::mean(&trace.acceptances);
        ground.note("chains", trace.chains.to_string());
        ground.note("acceptance on all rows", format!("{acceptance:.2}"));
        let fitted = ChainFit {
            law: DrawsOf::Posterior,
            name: INFO.name,
            bytes: encoded(&self.stored(&ground, &surrogate)),
            contents: surrogate.contents(),
            choices: ground.choices,
            trace,
            seconds: Seconds {
                start: ground.start,
                train: clock.elapsed().as_secs_f64(),
                ..Seconds::default()
            },
        };
        conclude(fitted, ground.density, run)
    }

    fn target<'a>(
        &self,
        ground: &SurrogateStart<'a>,
        surrogate: &WorstRows,
        run: &Run<'_>,
    ) -> Target<'a> {
        Target {
            log_density: on_surrogate(ground.place(), self.lanes(), surrogate),
            whitening: ground.whitening,
            hierarchical: false,
            draws: run.draws,
            seed: run.seed,
        }
    }

    fn delayed<'a>(
        &self,
        density: &'a dyn Density,
        target: &'a Target<'a>,
    ) -> DelayedAcceptance<'a> {
        DelayedAcceptance {
            density,
            surrogate: &target.log_density,
            hmc: self.sampler.hmc(target.draws),
            seed: target.seed,
        }
    }

    fn stored(&self, ground: &SurrogateStart<'_>, surrogate: &WorstRows) -> StoredChains {
        StoredChains {
            whitening: ground.whitening.clone(),
            surrogate: surrogate.clone(),
            method: self.clone(),
        }
    }
}

/// The whitening, and the curvature at its centre: of the best Gaussian if integrals find it, else
/// of the mode.
pub(crate) fn start(
    info: &MethodInfo,
    density: &dyn Density,
    run: &mut Run<'_>,
) -> Result<(&'static str, StartingPoint), FitError> {
    let plain = is_linear_without_hierarchy(density);
    let request = StartRequest {
        density,
        base: std::sync::Arc::new(guide::FullRank::default()),
        seed: run.seed,
        climber: &RunMaximiser::new(run),
        plain,
        ends_at_best: false,
        expands: true,
    };
    let found = if plain {
        choose(&request)
    } else {
        Laplace.find(&request).map(|found| (Laplace.name(), found))
    };
    found.map_err(|error| match error {
        StartError::Batch(error) => error.into(),
        StartError::Train(error) => error.into(),
        StartError::Refusal { problem, hint } => refused(info, problem, &hint),
    })
}

/// Chains on a surrogate that can be run again.
#[derive(Serialize, Deserialize)]
struct StoredChains {
    whitening: Whitening,
    surrogate: WorstRows,
    method: SurrogateHmc,
}

impl Sampler for StoredChains {
    /// More draws of the surrogate's posterior, or of the full one if chains accept on all rows.
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        self.surrogate.check(density)?;
        let ground = SurrogateStart {
            density,
            whitening: &self.whitening,
            start: 0.0,
            choices: Vec::new(),
        };
        let run = Run::new(seed, count);
        let target = self.method.target(&ground, &self.surrogate, &run);
        let watch = &mut |_: &ChainProgress| Wish::Continue;
        let trace = if self.method.exact {
            self.method.delayed(density, &target).run(watch)
        } else {
            self.method.sample(&target, watch)
        };
        let mut draws = trace.map_err(|error| refusal(&INFO, error))?.draws;
        draws.truncate(count * density.latents().size());
        Ok(draws)
    }
}
