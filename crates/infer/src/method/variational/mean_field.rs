//! `mean-field`: independent Gaussians.

use std::sync::Arc;

use lehr_density::Density;

use crate::guide::{self, Base};
use crate::method::{MethodInfo, VariationalMethod, VariationalSettings, restore_gaussian};
use crate::setting::Setting;

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "mean-field",
    aliases: &["mf"],
    help: "independent Gaussians; blind to correlations",
    needs: "",
    cost: "one mini-batch",
    when: "a first look, or tens of thousands of latents",
    remedy: "try sl-dais",
    reads_all_rows: false,
    new: || Box::new(MeanField::default()),
    restore: restore_gaussian,
};

/// Independent Gaussians.
#[derive(Clone, Default)]
pub struct MeanField {
    /// The Gaussian, with its start.
    pub guide: guide::MeanField,
    /// What all variational methods have.
    pub variational: VariationalSettings,
}

impl VariationalMethod for MeanField {
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
