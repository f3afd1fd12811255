//! `iaf`: an inverse autoregressive flow, a Gaussian bent by masked networks.

use std::sync::Arc;

use lehr_density::Density;

use crate::bytes::{decoded, encoded};
use crate::error::FitError;
use crate::estimate::Choices;
use crate::guide::{Autoregressive, Base, Bent};
use crate::method::{
    Groundwork, GuideParts, MethodInfo, VariationalMethod, VariationalSettings, gaussian_below,
    restore_guide,
};
use crate::setting::{Setting, parsed};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "iaf",
    aliases: &["flow"],
    help: "a Gaussian bent by an inverse autoregressive flow",
    needs: "",
    cost: "one mini-batch and two networks of 64 hidden units",
    when: "skewed posteriors and funnels with up to a few hundred latents",
    remedy: "raise flow-layers, or use nuts",
    reads_all_rows: false,
    new: || Box::new(Iaf::default()),
    restore: |bytes| {
        restore_guide(bytes, |bytes, _| {
            let bent: Bent<Autoregressive> = decoded(bytes)?;
            Ok(Box::new(bent))
        })
    },
};

/// A Gaussian bent by an inverse autoregressive flow.
#[derive(Clone)]
pub struct Iaf {
    /// The flow.
    pub flow: Autoregressive,
    /// What all variational methods have.
    pub variational: VariationalSettings,
}

impl Default for Iaf {
    fn default() -> Iaf {
        Iaf {
            flow: Autoregressive::default(),
            variational: VariationalSettings::new(16, 2e-3),
        }
    }
}

impl VariationalMethod for Iaf {
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
        let Autoregressive { layers, width } = &mut self.flow;
        let read = |to: &mut usize, text: &str| {
            *to = parsed(text, "a whole number")?;
            Ok(())
        };
        let mut settings = vec![
            Setting::new("flow-layers", "N", "layers of the flow", move |text| {
                read(layers, text)
            }),
            Setting::new(
                "flow-width",
                "N",
                "hidden units of each layer",
                move |text| read(width, text),
            ),
        ];
        settings.extend(self.variational.settings());
        settings
    }

    fn base(&self, density: &dyn Density) -> Arc<dyn Base> {
        gaussian_below(density)
    }

    fn has_layers(&self) -> bool {
        true
    }

    fn problem(&self) -> Option<String> {
        let empty = self.flow.layers == 0 || self.flow.width == 0;
        empty.then(|| "a flow without layers or units was asked for".into())
    }

    fn guide(
        &self,
        ground: &Groundwork<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        let (base, flow) = (ground.base.clone(), self.flow);
        choices.push(("flow layers".into(), flow.layers.to_string()));
        let bent = Bent { base, flow };
        let bytes = encoded(&bent);
        Ok(GuideParts::new(bent, bytes))
    }
}
