//! `ns2-dais`: annealed leapfrog steps, a fresh mini-batch at each.

use std::sync::Arc;

use lehr_density::Density;

use super::chain::{ChainSettings, ChainShape};
use super::{MethodInfo, Setting};
use crate::annealed::Drive;
use crate::fit::{Choices, FitError};
use crate::guide::{Base, Guide};
use crate::train::{
    Groundwork, GuideParts, VariationalMethod, VariationalSettings, decoded, encoded, restore_guide,
};

/// The row of this method.
pub(super) static INFO: MethodInfo = MethodInfo {
    name: "ns2-dais",
    aliases: &["ns'-dais", "ns′-dais"],
    help: "annealed leapfrog steps, a fresh mini-batch at each",
    needs: "",
    cost: "K mini-batches",
    when: "for comparison with ns-dais",
    remedy: "raise chain-steps or batch, or try sl-dais",
    reads_all_rows: false,
    new: || Box::new(Ns2Dais::default()),
    restore: |bytes| restore_guide(bytes, guide),
};

/// Annealed leapfrog steps, a fresh mini-batch at each (NS′-DAIS).
#[derive(Clone)]
pub struct Ns2Dais {
    /// The chain.
    pub chain: ChainSettings,
    /// What all variational methods have.
    pub variational: VariationalSettings,
}

impl Default for Ns2Dais {
    fn default() -> Ns2Dais {
        Ns2Dais {
            chain: ChainSettings::default(),
            variational: VariationalSettings::new(4, 2e-3),
        }
    }
}

impl VariationalMethod for Ns2Dais {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn common(&self) -> &VariationalSettings {
        &self.variational
    }

    fn common_mut(&mut self) -> &mut VariationalSettings {
        &mut self.variational
    }

    fn chain_mut(&mut self) -> Option<&mut ChainSettings> {
        Some(&mut self.chain)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let mut settings = self.chain.settings();
        settings.extend(self.variational.settings());
        settings
    }

    fn base(&self, density: &dyn Density) -> Arc<dyn Base> {
        self.chain.base(density)
    }

    fn has_layers(&self) -> bool {
        true
    }

    fn problem(&self) -> Option<String> {
        self.chain.problem()
    }

    fn guide(
        &self,
        ground: &Groundwork<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        let shape = self.chain.shape(ground.base.clone(), 8, choices);
        let size = ground.batch;
        let bytes = encoded(&(&shape, size));
        Ok(GuideParts::new(shape.on(Drive::FreshBatch { size }), bytes))
    }
}

fn guide(bytes: &[u8], _: &dyn Density) -> Result<Box<dyn Guide>, FitError> {
    let (shape, size): (ChainShape, usize) = decoded(bytes)?;
    Ok(Box::new(shape.on(Drive::FreshBatch { size })))
}
