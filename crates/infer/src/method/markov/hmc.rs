//! `hmc`: Hamiltonian Monte Carlo on all rows, many chains in lockstep.

use std::sync::Arc;

use lehr_density::Density;
use serde::{Deserialize, Serialize};

use super::{ChainMethod, SamplerSettings, Target, restore_chains};
use crate::bytes::encoded;
use crate::chains::{self, ChainError, Trace, Watch};
use crate::error::FitError;
use crate::method::{Method, MethodInfo, RowAccess, markov};
use crate::posterior::Posterior;
use crate::run::Run;
use crate::setting::Setting;
use crate::start::{Start, setting};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "hmc",
    aliases: &[],
    help: "Markov chains on all rows, in lockstep, whitened",
    needs: "all rows in memory",
    cost: "all rows, three to five times per draw",
    when: "exact answers where the posterior is near a Gaussian",
    remedy: "use nuts",
    rows: RowAccess::Memory,
    new: || Box::new(Hmc::default()),
    restore: restore_chains::<Hmc>,
};

/// Hamiltonian Monte Carlo in lockstep. Settings that are `None` are chosen by the rules of
/// `docs/methods.md`.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Hmc {
    /// Chains, warm-up and acceptance.
    pub sampler: SamplerSettings,
    /// The start of the chains.
    #[serde(skip)]
    pub start: Option<Arc<dyn Start>>,
}

impl ChainMethod for Hmc {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn start(&self) -> Option<&Arc<dyn Start>> {
        self.start.as_ref()
    }

    fn lanes(&self) -> usize {
        self.sampler.chains.unwrap_or(chains::CHAINS)
    }

    fn problem(&self) -> Option<String> {
        self.sampler.problem()
    }

    fn sample(&self, target: &Target<'_>, watch: &mut dyn Watch) -> Result<Trace, ChainError> {
        let hmc = self.sampler.hmc(target.draws);
        hmc.run(&target.log_density, target.seed, watch)
    }

    fn bytes(&self) -> Vec<u8> {
        encoded(self)
    }
}

impl Method for Hmc {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn usual_draws(&self, _: &dyn Density) -> usize {
        chains::Hmc::default().draws
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let mut settings = self.sampler.settings();
        settings.push(setting(&mut self.start));
        settings
    }

    fn fit(&self, density: &dyn Density, run: &mut Run<'_>) -> Result<Posterior, FitError> {
        markov::fit(self, density, run)
    }
}
