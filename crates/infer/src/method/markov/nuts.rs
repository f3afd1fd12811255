//! `nuts`: the No-U-Turn sampler on all rows.

use std::sync::Arc;

use lehr_density::Density;
use serde::{Deserialize, Serialize};

use super::{ChainMethod, SamplerSettings, Target, restore_chains};
use crate::bytes::encoded;
use crate::chains::{ChainError, NutsSampler, Trace, Watch};
use crate::error::FitError;
use crate::method::{Method, MethodInfo, RowAccess, markov};
use crate::posterior::Posterior;
use crate::run::Run;
use crate::setting::Setting;
use crate::start::{Start, setting};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "nuts",
    aliases: &[],
    help: "Markov chains on all rows: the No-U-Turn sampler",
    needs: "all rows in memory",
    cost: "all rows, a few to hundreds of times per draw",
    when: "the reference: hierarchies, and whatever is small enough",
    remedy: "write spreads non-centred, raise target-accept, or set walnuts",
    rows: RowAccess::Gradients,
    new: || Box::new(Nuts::default()),
    restore: restore_chains::<Nuts>,
};

/// The No-U-Turn sampler. Settings that are `None` are chosen by the rules of `docs/methods.md`.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Nuts {
    /// Chains, warm-up and acceptance.
    pub sampler: SamplerSettings,
    /// A trajectory has fewer than 2 to this power leapfrog steps.
    pub max_depth: Option<usize>,
    /// Whether steps are split where the energy error would be large: for funnels.
    pub walnuts: bool,
    /// The start of the chains.
    #[serde(skip)]
    pub start: Option<Arc<dyn Start>>,
}

impl Nuts {
    /// The sampler for a target. Standard deviations among the latents cause narrow regions, which
    /// need small steps.
    fn sampler(&self, target: &Target<'_>) -> NutsSampler {
        let usual = NutsSampler::within(target.whitening, target.log_density.size());
        let chains = self.sampler.chains.unwrap_or(usual.chains);
        let acceptance = if target.hierarchical {
            0.95
        } else {
            usual.target_acceptance
        };
        NutsSampler {
            chains,
            draws: target.draws.div_ceil(chains),
            warm_up: self.sampler.warm_up.unwrap_or(usual.warm_up),
            target_acceptance: self.sampler.target_acceptance.unwrap_or(acceptance),
            max_depth: self.max_depth.map_or(usual.max_depth, |depth| depth as u64),
            walnuts: self.walnuts,
            ..usual
        }
    }
}

impl ChainMethod for Nuts {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn start(&self) -> Option<&Arc<dyn Start>> {
        self.start.as_ref()
    }

    fn problem(&self) -> Option<String> {
        let flat = self.max_depth == Some(0);
        let depth = flat.then(|| "trajectories of depth 0 were asked for".into());
        self.sampler.problem().or(depth)
    }

    fn sample(&self, target: &Target<'_>, watch: &mut dyn Watch) -> Result<Trace, ChainError> {
        let sampler = self.sampler(target);
        match target.log_density.asked() {
            Some(all_rows) => {
                let found = sampler.run(&all_rows, target.seed, watch);
                all_rows.into_lost().map_or(found, |lost| Err(lost.into()))
            }
            None => sampler.run(&target.log_density, target.seed, watch),
        }
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}

impl Method for Nuts {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn usual_draws(&self, _: &dyn Density) -> usize {
        4000
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let walnuts = vec![
            ("no", "every leapfrog step is as long", false),
            (
                "yes",
                "steps are split where the energy error is large",
                true,
            ),
        ];
        let mut settings = self.sampler.settings();
        settings.extend([
            Setting::count(
                "max-depth",
                "doublings of a trajectory at the most",
                &mut self.max_depth,
            ),
            Setting::one_of(
                "walnuts",
                "steps of several lengths within a trajectory, for funnels",
                walnuts,
                &mut self.walnuts,
            ),
            setting(&mut self.start),
        ]);
        settings
    }

    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        markov::fit(self, density, run)
    }
}
