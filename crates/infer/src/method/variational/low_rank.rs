//! `low-rank`: a Gaussian with a few directions of correlation.

use std::sync::Arc;

use lehr_density::Density;

use crate::guide::{self, Base};
use crate::method::{MethodInfo, VariationalMethod, VariationalSettings, restore_gaussian};
use crate::setting::Setting;

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "low-rank",
    aliases: &["lr"],
    help: "a Gaussian with a few directions of correlation",
    needs: "",
    cost: "one mini-batch and D × rank numbers",
    when: "correlations matter and D is too large for full rank",
    remedy: "try sl-dais",
    reads_all_rows: false,
    new: || Box::new(LowRank::default()),
    restore: restore_gaussian,
};

/// A Gaussian with a few directions of correlation.
#[derive(Clone, Default)]
pub struct LowRank {
    /// The Gaussian, with its start.
    pub guide: guide::LowRank,
    /// What all variational methods have.
    pub variational: VariationalSettings,
}

impl VariationalMethod for LowRank {
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
