//! `bnaf`: a Gaussian bent by a block neural autoregressive flow, the paper's Flow.

use std::sync::Arc;

use lehr_density::Density;

use crate::bytes::{decoded, encoded};
use crate::error::FitError;
use crate::estimate::Choices;
use crate::guide::{Base, Bent, BlockNeural};
use crate::method::{
    Groundwork, GuideParts, MethodInfo, VariationalMethod, VariationalSettings, gaussian_below,
    restore_guide,
};
use crate::setting::{Setting, parsed};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "bnaf",
    aliases: &[],
    help: "a Gaussian bent by a block neural autoregressive flow",
    needs: "",
    cost: "one mini-batch and a network of 16 D hidden units",
    when: "for comparison: the paper's Flow; iaf has a better bound in less time",
    remedy: "use iaf or nuts",
    reads_all_rows: false,
    new: || Box::new(Bnaf::default()),
    restore: |bytes| {
        restore_guide(bytes, |bytes, _| {
            let bent: Bent<BlockNeural> = decoded(bytes)?;
            Ok(Box::new(bent))
        })
    },
};

/// A Gaussian bent by a block neural autoregressive flow.
#[derive(Clone)]
pub struct Bnaf {
    /// The flow.
    pub flow: BlockNeural,
    /// What all variational methods have.
    pub variational: VariationalSettings,
}

impl Default for Bnaf {
    fn default() -> Bnaf {
        Bnaf {
            flow: BlockNeural::default(),
            variational: VariationalSettings::new(16, 2e-3),
        }
    }
}

impl VariationalMethod for Bnaf {
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
        let BlockNeural { units, gated } = &mut self.flow;
        let gates = vec![
            (
                "yes",
                "starts at the Gaussian within 2 %, linear tails",
                true,
            ),
            ("no", "the paper's form, which starts at random", false),
        ];
        let mut settings = vec![
            Setting::new(
                "flow-units",
                "N",
                "hidden units of each latent in both layers",
                move |text| {
                    *units = parsed(text, "a whole number")?;
                    Ok(())
                },
            ),
            Setting::one_of(
                "flow-gate",
                "whether a gate mixes the flow with the identity",
                gates,
                gated,
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
        (self.flow.units == 0).then(|| "a flow without units was asked for".into())
    }

    fn guide(
        &self,
        ground: &Groundwork<'_>,
        choices: &mut Choices,
    ) -> Result<GuideParts, FitError> {
        let (base, flow) = (ground.base.clone(), self.flow);
        choices.push(("flow units".into(), flow.units.to_string()));
        let gate = if flow.gated { "yes" } else { "no" };
        choices.push(("flow gate".into(), gate.into()));
        let bent = Bent { base, flow };
        let bytes = encoded(&bent);
        Ok(GuideParts::new(bent, bytes))
    }
}
