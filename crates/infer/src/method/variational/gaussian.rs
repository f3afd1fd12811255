//! The Gaussian methods: the common part of `mean-field`, `full-rank` and `low-rank`.

use std::sync::Arc;

use lehr_density::Density;

use crate::guide::Base;
use crate::method::{ChainSettings, MethodInfo, VariationalMethod, VariationalSettings};
use crate::setting::Setting;

/// A Gaussian that is a method by itself.
pub trait NamedGaussian: Base + Copy + Default + 'static {
    /// The row of the method.
    const INFO: &'static MethodInfo;
}

/// A Gaussian that is trained.
#[derive(Clone, Default)]
pub struct GaussianMethod<G> {
    /// The Gaussian, with its start.
    pub guide: G,
    /// The settings common to all variational methods.
    pub variational: VariationalSettings,
}

impl<G: NamedGaussian> VariationalMethod for GaussianMethod<G> {
    fn info(&self) -> &'static MethodInfo {
        G::INFO
    }

    fn shared(&self) -> (&VariationalSettings, Option<&ChainSettings>) {
        (&self.variational, None)
    }

    fn shared_mut(&mut self) -> (&mut VariationalSettings, Option<&mut ChainSettings>) {
        (&mut self.variational, None)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        self.variational.settings()
    }

    fn base(&self, _: &dyn Density) -> Arc<dyn Base> {
        Arc::new(self.guide)
    }
}
