//! `iaf`: an inverse autoregressive flow, a Gaussian transformed by masked networks.

use super::flow::{FlowMethod, NamedFlow, restore_flow};
use crate::estimate::Choices;
use crate::guide::Autoregressive;
use crate::method::{MethodInfo, RowAccess};
use crate::setting::Setting;

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "iaf",
    aliases: &["flow"],
    help: "a Gaussian bent by an inverse autoregressive flow",
    needs: "",
    cost: "one mini-batch and two networks of 64 hidden units",
    when: "skewed posteriors and funnels of a few hundred latents",
    remedy: "raise flow-layers, or use nuts",
    rows: RowAccess::Batches,
    new: || Box::new(Iaf::default()),
    restore: restore_flow::<Autoregressive>,
};

/// A Gaussian transformed by an inverse autoregressive flow.
pub type Iaf = FlowMethod<Autoregressive>;

impl NamedFlow for Autoregressive {
    const INFO: &'static MethodInfo = &INFO;

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let Autoregressive { layers, width } = self;
        vec![
            Setting::size("flow-layers", "layers of the flow", layers),
            Setting::size("flow-width", "hidden units of each layer", width),
        ]
    }

    fn problem(&self) -> Option<String> {
        let empty = self.layers == 0 || self.width == 0;
        empty.then(|| "a flow without layers or units was asked for".into())
    }

    fn choices(&self) -> Choices {
        vec![("flow layers".into(), self.layers.to_string())]
    }
}
