//! `dais`: annealed leapfrog steps on all rows.

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
    name: "dais",
    aliases: &["uha"],
    help: "annealed leapfrog steps on all rows",
    needs: "all rows in memory",
    cost: "all N rows, K times",
    when: "small tables, or the reference for the others",
    remedy: "raise chain-steps",
    reads_all_rows: true,
    new: || Box::new(Dais::default()),
    restore: |bytes| restore_guide(bytes, guide),
};

/// Annealed leapfrog steps on all rows.
#[derive(Clone)]
pub struct Dais {
    /// The chain.
    pub chain: ChainSettings,
    /// What all variational methods have.
    pub variational: VariationalSettings,
}

impl Default for Dais {
    fn default() -> Dais {
        Dais {
            chain: ChainSettings::default(),
            variational: VariationalSettings::new(1, 2e-3),
        }
    }
}

impl VariationalMethod for Dais {
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
        // A step costs all rows.
        let shape = self.chain.shape(ground.base.clone(), 4, choices);
        let bytes = encoded(&shape);
        Ok(GuideParts::new(shape.on(Drive::FullData), bytes))
    }
}

fn guide(bytes: &[u8], _: &dyn Density) -> Result<Box<dyn Guide>, FitError> {
    let shape: ChainShape = decoded(bytes)?;
    Ok(Box::new(shape.on(Drive::FullData)))
}
