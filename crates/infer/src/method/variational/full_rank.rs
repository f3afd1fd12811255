//! `full-rank`: a Gaussian with all correlations.

use std::sync::Arc;

use lehr_density::Density;

use crate::guide::{self, Base};
use crate::method::{MethodInfo, VariationalMethod, VariationalSettings, restore_gaussian};
use crate::setting::Setting;

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "full-rank",
    aliases: &["mvn", "fr"],
    help: "a Gaussian with all correlations",
    needs: "D up to a few hundred",
    cost: "one mini-batch and D² numbers",
    when: "the posterior is close to Gaussian",
    remedy: "try sl-dais",
    reads_all_rows: false,
    new: || Box::new(FullRank::default()),
    restore: restore_gaussian,
};

/// A Gaussian with all correlations.
#[derive(Clone, Default)]
pub struct FullRank {
    /// The Gaussian, with its start.
    pub guide: guide::FullRank,
    /// What all variational methods have.
    pub variational: VariationalSettings,
}

impl VariationalMethod for FullRank {
    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn common(&self) -> &VariationalSettings {
        &self.variational
    }

    fn common_mut(&mut self) -> &mut VariationalSettings {
        &mut self.variational
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.variational.settings()
    }

    fn base(&self, _: &dyn Density) -> Arc<dyn Base> {
        Arc::new(self.guide)
    }
}
