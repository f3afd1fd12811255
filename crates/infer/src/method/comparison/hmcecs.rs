//! `hmcecs`: Hamiltonian Monte Carlo with energy-conserving subsampling, a baseline of the paper.

use std::time::Instant;

use lehr_density::Density;
use serde::{Deserialize, Serialize};

use crate::bytes::{encoded, stored};
use crate::chains::{ChainProgress, ChainStage, Chains, Ecs, EcsTrace, Failure, PerturbedDensity};
use crate::error::FitError;
use crate::estimate::{Seconds, short};
use crate::expansion::Mode;
use crate::guide::{WhitenedDensity, Whitening};
use crate::method::markov::{
    self, DrawsOf, SamplerSettings, check_hierarchy, conclude, first_draws, mode_of, refusal, start,
};
use crate::method::{Method, MethodInfo, RowAccess, Sampler, restore_as};
use crate::posterior::{FitRecord, Posterior};
use crate::run::Run;
use crate::setting::Setting;
use crate::start::StartingPoint;
use crate::surrogate::{Remainder, rows_setting};
use lehr_rows::watch::{Phase, Wish};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "hmcecs",
    aliases: &[],
    help: "Markov chains over latents and a subset of rows",
    needs: "all rows in memory, no hierarchical scale",
    cost: "1,000 rows, 3 to 5 times per draw",
    when: "comparison: surrogate-hmc is exact where this is not",
    remedy: "raise surrogate-rows or subset-rows, or use surrogate-hmc",
    rows: RowAccess::Memory,
    new: || Box::new(Hmcecs::default()),
    restore: restore_as::<StoredEcs>,
};

/// The default |W| and m.
const SUMMED: usize = 256;
const SUBSET: usize = 1000;
/// A larger σ̂² causes a warning.
const MOST_VARIANCE: f64 = 1.0;

/// Hamiltonian Monte Carlo on a corrected estimate of the log likelihood (Dang et al. 2019), second
/// order at the mode. Settings that are `None` are chosen by the rules of `docs/methods.md`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Hmcecs {
    /// Chains, warm-up and acceptance.
    pub sampler: SamplerSettings,
    /// Rows that are summed exactly: those that their expansion fits worst. The paper has none.
    pub surrogate_rows: Option<usize>,
    /// Rows of a random subset.
    pub subset_rows: Option<usize>,
}

impl Method for Hmcecs {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn usual_draws(&self, _: &dyn Density) -> usize {
        Ecs::default().draws
    }

    fn condenses(&self, _: &dyn Density) -> bool {
        false
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let mut settings = self.sampler.settings();
        settings.extend([
            rows_setting(&mut self.surrogate_rows),
            Setting::count(
                "subset-rows",
                "rows of the random subset of every chain",
                &mut self.subset_rows,
            ),
        ]);
        settings
    }

    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        markov::check(&INFO, self.problem(), density, run)?;
        check_hierarchy(&INFO, density, "use nuts")?;
        let clock = Instant::now();
        run.begin(Phase::START);
        let (name, point) = start(&INFO, density, run)?;
        let chains = self.stored(density, &point, run.seed)?;
        let begun = clock.elapsed().as_secs_f64();
        let clock = Instant::now();
        let EcsTrace {
            mut trace,
            variances,
            swapped,
        } = chains.sampled(density, run)?;
        let spread = VarianceSummary::of(variances);
        trace.doubts = spread.doubts();
        let rows = chains.summed.len();
        let mut choices = markov::choices(name, &Chains::of(&trace));
        let near = "a perturbed posterior, near that of all rows where the variance is small";
        let said = [
            ("summed rows", rows.to_string()),
            ("rows of a subset", chains.count.to_string()),
            ("variance of the estimate", spread.words()),
            ("swaps accepted", format!("{swapped:.2}")),
            ("draws of", near.to_owned()),
        ];
        choices.extend(said.map(|(what, how)| (what.to_owned(), how)));
        let record = FitRecord {
            method: stored(INFO.name, &chains),
            contents: format!(
                "slope and curvature of all rows at the mode, and the numbers of {rows} rows"
            ),
            choices,
            seconds: Seconds {
                start: begun,
                train: clock.elapsed().as_secs_f64(),
                ..Seconds::default()
            },
        };
        conclude(DrawsOf::Approximation, trace, record, density, run)
    }
}

impl Hmcecs {
    fn problem(&self) -> Option<String> {
        let few = self.subset_rows.filter(|rows| *rows < 2);
        let few = few.map(|rows| format!("expected a subset of 2 rows or more, found {rows}"));
        self.sampler.problem().or(few)
    }

    fn ecs(&self, draws: usize) -> Ecs {
        let usual = Ecs::default();
        Ecs {
            chains: self.sampler.chains.unwrap_or(usual.chains),
            draws,
            warm_up: self.sampler.warm_up.unwrap_or(usual.warm_up),
            target_acceptance: self
                .sampler
                .target_acceptance
                .unwrap_or(usual.target_acceptance),
        }
    }

    /// The rows that are summed, and how many others are sampled: at most half of them.
    fn stored(
        &self,
        density: &dyn Density,
        point: &StartingPoint,
        seed: u64,
    ) -> Result<StoredEcs, FitError> {
        let n_rows = density.n_rows();
        let summed = self.surrogate_rows.unwrap_or(SUMMED.min(n_rows / 4));
        let others = n_rows.saturating_sub(summed);
        let count = self.subset_rows.unwrap_or(SUBSET.min(others / 2));
        if count < 2 || count >= others {
            let problem = format!(
                "{count} of the {others} rows that are not summed were to be drawn, but 2 or more \
                 and not all are needed"
            );
            return Err(INFO.refuse(problem, "use hmc: the table is short"));
        }
        let mode = mode_of(&INFO, point)?;
        let remainder = Remainder {
            density,
            mode: &mode,
            whitening: &point.whitening,
            seed,
        };
        Ok(StoredEcs {
            summed: remainder.worst(summed),
            count,
            whitening: point.whitening.clone(),
            method: self.clone(),
            mode,
        })
    }
}

/// σ̂² over the draws.
struct VarianceSummary {
    median: f64,
    high: f64,
}

impl VarianceSummary {
    fn of(mut variances: Vec<f64>) -> VarianceSummary {
        variances.sort_by(f64::total_cmp);
        let at = |share: f64| variances[((variances.len() - 1) as f64 * share).round() as usize];
        VarianceSummary {
            median: at(0.5),
            high: at(0.95),
        }
    }

    fn words(&self) -> String {
        let (median, high) = (short(self.median), short(self.high));
        format!("median {median}, 95 % {high}")
    }

    /// The variance correction is exact only to leading order, so the variance must be small.
    fn doubts(&self) -> Vec<Failure> {
        let small = self.high <= MOST_VARIANCE;
        if small {
            return Vec::new();
        }
        let found = format!("an estimate of variance {}", self.words());
        let doubt = Failure::new(found, INFO.remedy);
        if self.median <= MOST_VARIANCE {
            vec![doubt]
        } else {
            vec![doubt.untrusted()]
        }
    }
}

/// Chains over latents and subsets that can be resumed.
#[derive(Serialize, Deserialize)]
struct StoredEcs {
    whitening: Whitening,
    mode: Mode,
    /// W, in the numbering of batches.
    summed: Vec<usize>,
    /// m
    count: usize,
    method: Hmcecs,
}

impl StoredEcs {
    fn perturbed<'d>(&'d self, density: &'d dyn Density) -> PerturbedDensity<'d> {
        let place = WhitenedDensity::new(density, &self.whitening);
        PerturbedDensity::new(place, &self.mode, &self.summed, self.count)
    }

    /// Runs the chains as a stage of a run.
    fn sampled(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<EcsTrace, FitError> {
        run.begin(Phase::CHAINS);
        let numbers = self.numbers(run);
        let (ecs, seed) = (self.method.ecs(run.draws), run.seed);
        let mut stage = ChainStage::new(run, &numbers)?;
        let found = ecs.run(&self.perturbed(density), seed, &mut stage);
        stage.finish()?;
        found.map_err(|error| refusal(&INFO, error))
    }

    /// Numbers that distinguish chains which must not share a checkpoint.
    fn numbers(&self, run: &Run<'_>) -> Vec<f64> {
        let own = encoded(self).into_iter().map(f64::from);
        own.chain([run.draws as f64, f64::from_bits(run.seed)])
            .collect()
    }
}

impl Sampler for StoredEcs {
    /// More draws of the perturbed posterior, on the rows that the density is bound to.
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        let least = self.count + self.summed.len() + 1;
        let last = self.summed.last().copied().unwrap_or(0);
        let same = self.mode.latents.len() == density.latents().size();
        if density.n_rows() < least.max(last + 1) || !same {
            let problem = format!(
                "the fit was made on {least} rows or more, and the table has {}",
                density.n_rows()
            );
            return Err(INFO.refuse(problem, "give the table of the fit"));
        }
        let watch = &mut |_: &ChainProgress| Wish::Continue;
        let ecs = self.method.ecs(count);
        let found = ecs.run(&self.perturbed(density), seed, watch);
        let trace = found.map(|found| found.trace);
        first_draws(&INFO, trace, count * density.latents().size())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Level;

    #[test]
    fn an_estimate_that_varies_too_much_is_warned_of() {
        let level = |variances: &[f64]| {
            let doubts = VarianceSummary::of(variances.to_vec()).doubts();
            doubts.first().map(|doubt| doubt.level)
        };
        assert_eq!(level(&[0.1, 0.2, 0.3]), None);
        assert_eq!(level(&[0.1, 0.2, 0.3, 9.0]), Some(Level::Doubtful));
        assert_eq!(level(&[2.0, 0.2, 5.0]), Some(Level::Untrusted));
    }
}
