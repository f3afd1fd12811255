//! A Gaussian transformed by a flow: the common part of `iaf` and `bnaf`.

use std::sync::Arc;

use crate::bytes::{decoded, encoded};
use crate::error::FitError;
use crate::estimate::Choices;
use crate::guide::{Flow, FlowBase};
use crate::method::{
    ChainSettings, GuideInputs, GuideParts, MethodInfo, Sampler, VariationalMethod,
    VariationalSettings, restore_guide,
};
use crate::setting::Setting;

/// A flow that is a method.
pub trait NamedFlow: Flow {
    /// The row of the method.
    const INFO: &'static MethodInfo;

    /// The settings of the flow by name.
    fn settings(&mut self) -> Vec<Setting<'_>>;

    /// The mistake in the settings, if there is one.
    fn problem(&self) -> Option<String>;

    /// The settings that a fit reports.
    fn choices(&self) -> Choices;
}

/// A Gaussian transformed by a flow.
#[derive(Clone)]
pub struct FlowMethod<F> {
    /// The flow.
    pub flow: F,
    /// The settings common to all variational methods.
    pub variational: VariationalSettings,
}

impl<F: NamedFlow> Default for FlowMethod<F> {
    fn default() -> FlowMethod<F> {
        FlowMethod {
            flow: F::default(),
            variational: VariationalSettings::new(16, 2e-3),
        }
    }
}

impl<F: NamedFlow> VariationalMethod for FlowMethod<F> {
    fn info(&self) -> &'static MethodInfo {
        F::INFO
    }

    fn shared(&self) -> (&VariationalSettings, Option<&ChainSettings>) {
        (&self.variational, None)
    }

    fn shared_mut(&mut self) -> (&mut VariationalSettings, Option<&mut ChainSettings>) {
        (&mut self.variational, None)
    }

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let mut settings = self.flow.settings();
        settings.extend(self.variational.settings());
        settings
    }

    fn has_layers(&self) -> bool {
        true
    }

    fn problem(&self) -> Option<String> {
        self.flow.problem()
    }

    fn guide(
        &self,
        ground: &GuideInputs<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        choices.extend(self.flow.choices());
        let (base, flow) = (ground.base.clone(), self.flow);
        let flowed = FlowBase { base, flow };
        let bytes = encoded(&flowed);
        Ok(GuideParts::new(Arc::new(flowed), bytes))
    }
}

/// Reads back a fit by such a flow.
pub(crate) fn restore_flow<F: NamedFlow>(bytes: &[u8]) -> Result<Box<dyn Sampler>, FitError> {
    restore_guide(bytes, |bytes, _| {
        let flowed: FlowBase<F> = decoded(bytes)?;
        Ok(Box::new(flowed))
    })
}
