//! `surrogate-hmc`: chains on a few rows and an expansion of all others, then one pass over the table.

use std::sync::Arc;
use std::time::Instant;

use lehr_density::Density;
use serde::{Deserialize, Serialize};

use super::{
    ChainMethod, DrawsOf, SamplerSettings, Target, WeightedChains, conclude, first_draws, refusal,
    surrogate_target,
};
use crate::bytes::{encoded, stored};
use crate::chains::{
    self, ChainError, ChainProgress, ChainStage, DelayedAcceptance, Failure, Trace, Watch,
};
use crate::error::FitError;
use crate::estimate::{Choices, Seconds};
use crate::expansion::{Mode, has_hierarchy};
use crate::guide::{self, WhitenedDensity, Whitening};
use crate::method::{Method, MethodInfo, RowAccess, Sampler, markov, restore_as};
use crate::posterior::{FitRecord, Posterior};
use crate::run::Run;
use crate::setting::Setting;
use crate::start::{
    Laplace, RunMaximiser, Start, StartRequest, StartingPoint, find_start,
    is_linear_without_hierarchy,
};
use crate::surrogate::{Remainder, Surrogate, WorstRows, rows_setting};
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
    restore: restore_as::<StoredChains>,
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

    fn start(&self) -> Option<&Arc<dyn Start>> {
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
            rows_setting(&mut self.surrogate_rows),
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
        let mode = mode_of(&INFO, &point)?;
        let remainder = Remainder {
            density,
            mode: &mode,
            whitening: &point.whitening,
            seed: run.seed,
        };
        let most = self.surrogate_rows.unwrap_or(MOST_ROWS);
        let ranked = remainder.ranked(most.min(density.n_rows()));
        let start = SurrogateStart {
            place: WhitenedDensity::new(density, &point.whitening),
            seconds: clock.elapsed().as_secs_f64(),
            choices: vec![("start".into(), name.into())],
        };
        let found = self.weigh(start, &remainder, &ranked, run)?;
        if self.exact {
            self.accept(found, run)
        } else {
            let record = self.record(found.start, &found.surrogate);
            found.weighed.conclude(record, density, run)
        }
    }
}

/// A surrogate, and draws of its posterior with weights from all rows.
struct WeighedSurrogate<'a> {
    start: SurrogateStart<'a>,
    surrogate: WorstRows,
    weighed: WeightedChains,
}

/// The start of chains on a surrogate.
struct SurrogateStart<'a> {
    place: WhitenedDensity<'a>,
    seconds: f64,
    choices: Choices,
}

impl SurrogateStart<'_> {
    fn note(&mut self, what: &str, how: impl Into<String>) {
        self.choices.push((what.into(), how.into()));
    }
}

impl SurrogateHmc {
    fn check(&self, density: &dyn Density, run: &Run<'_>) -> Result<(), FitError> {
        markov::check(&INFO, self.problem(), density, run)?;
        let n_rows = density.n_rows();
        let problem = match self.surrogate_rows {
            Some(0) => Some("0 surrogate rows were asked for".into()),
            Some(rows) if rows > n_rows => Some(format!(
                "{rows} surrogate rows were asked for, but the table has {n_rows}"
            )),
            _ => None,
        };
        INFO.check_settings(run.draws, problem)?;
        check_hierarchy(&INFO, density, "use nuts, or sl-dais for long tables")
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
        mut start: SurrogateStart<'a>,
        remainder: &Remainder<'_>,
        ranked: &[usize],
        run: &mut Run<'_>,
    ) -> Result<WeighedSurrogate<'a>, FitError> {
        let density = start.place.density;
        let mut rows = self.first_rows(density).min(ranked.len());
        loop {
            let (surrogate, cut) = WorstRows::new(remainder, &ranked[..rows]);
            let asked = (run.draws, run.seed);
            let mut target = surrogate_target(self, start.place, &surrogate, asked);
            let weighed = WeightedChains::new(self, density, &mut target, run)?;
            if weighed.fits() || rows == ranked.len() {
                start.note("surrogate rows", rows.to_string());
                if cut > 0 {
                    let words = format!("not followed where it grows, along {cut} directions");
                    start.note("expansion", words);
                }
                return Ok(WeighedSurrogate {
                    start,
                    surrogate,
                    weighed,
                });
            }
            let words = format!("{rows} leave k = {:.2}", weighed.shape());
            start.note("fewer surrogate rows", words);
            rows = (2 * rows).min(ranked.len());
        }
    }

    /// Chains that accept on all rows. If weights do not correct the surrogate's draws, its tails
    /// are lighter than the posterior's, and chains with its proposals visit them too rarely.
    fn accept(
        &self,
        found: WeighedSurrogate<'_>,
        run: &mut Run<'_>,
    ) -> Result<Posterior, FitError> {
        let WeighedSurrogate {
            mut start,
            surrogate,
            weighed,
        } = found;
        let density = start.place.density;
        let asked = (run.draws, run.seed);
        let target = surrogate_target(self, start.place, &surrogate, asked);
        run.begin(Phase::CHAINS);
        let clock = Instant::now();
        let numbers = target.numbers(self);
        let mut stage = ChainStage::new(run, &numbers)?;
        let trace = self.delayed(density, &target).run(&mut stage);
        stage.finish()?;
        let mut trace = trace.map_err(|error| refusal(&INFO, error))?;
        if !weighed.fits() {
            let k = weighed.shape();
            let words = format!("tails that the surrogate lacks (k = {k:.2})");
            trace.doubts = vec![Failure::new(words, "raise surrogate-rows, or use hmc")];
        }
        let acceptance = lehr_numeric::summary::mean(&trace.acceptances);
        start.note("chains", trace.chains.to_string());
        start.note("acceptance on all rows", format!("{acceptance:.2}"));
        let mut record = self.record(start, &surrogate);
        record.seconds.train = clock.elapsed().as_secs_f64();
        conclude(DrawsOf::Posterior, trace, record, density, run)
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

    fn record(&self, start: SurrogateStart<'_>, surrogate: &WorstRows) -> FitRecord {
        let chains = StoredChains {
            whitening: start.place.whitening.clone(),
            surrogate: surrogate.clone(),
            method: self.clone(),
        };
        FitRecord {
            method: stored(INFO.name, &chains),
            contents: surrogate.contents(),
            choices: start.choices,
            seconds: Seconds {
                start: start.seconds,
                ..Seconds::default()
            },
        }
    }
}

/// Refuses models whose mode is far from the posterior.
pub(crate) fn check_hierarchy(
    info: &MethodInfo,
    density: &dyn Density,
    hint: &str,
) -> Result<(), FitError> {
    if has_hierarchy(density) {
        let problem = "a latent is the spread of others, so that the mode is no place to expand at";
        return Err(info.refuse(problem, hint));
    }
    Ok(())
}

/// The expansion point of chains on a surrogate.
pub(crate) fn mode_of(info: &MethodInfo, point: &StartingPoint) -> Result<Mode, FitError> {
    let problem = "the model has more latents than a curvature is computed of";
    let refuse = || info.refuse(problem, "use sl-dais, or hmc on all rows");
    point.surrogate_mode().ok_or_else(refuse)
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
        base: Arc::new(guide::FullRank::default()),
        seed: run.seed,
        maximiser: &RunMaximiser::new(run),
        plain,
        ends_at_best: false,
        expands: true,
    };
    let laplace: Arc<dyn Start> = Arc::new(Laplace);
    let found = find_start((!plain).then_some(&laplace), &request);
    found.map_err(|error| info.start_error(error))
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
        let place = WhitenedDensity::new(density, &self.whitening);
        let target = surrogate_target(&self.method, place, &self.surrogate, (count, seed));
        let watch = &mut |_: &ChainProgress| Wish::Continue;
        let trace = if self.method.exact {
            self.method.delayed(density, &target).run(watch)
        } else {
            self.method.sample(&target, watch)
        };
        first_draws(&INFO, trace, count * density.latents().size())
    }
}
