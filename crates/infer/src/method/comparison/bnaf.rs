//! `bnaf`: a Gaussian transformed by a block neural autoregressive flow, the paper's Flow.

use crate::estimate::Choices;
use crate::guide::BlockNeural;
use crate::method::variational::{FlowMethod, NamedFlow, restore_flow};
use crate::method::{MethodInfo, RowAccess};
use crate::setting::Setting;

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "bnaf",
    aliases: &[],
    help: "a Gaussian bent by a block neural autoregressive flow",
    needs: "",
    cost: "one mini-batch and a network of 16 D hidden units",
    when: "comparison: the paper's Flow; prefer iaf",
    remedy: "use iaf or nuts",
    rows: RowAccess::Batches,
    new: || Box::new(Bnaf::default()),
    restore: restore_flow::<BlockNeural>,
};

/// A Gaussian transformed by a block neural autoregressive flow.
pub type Bnaf = FlowMethod<BlockNeural>;

impl NamedFlow for BlockNeural {
    const INFO: &'static MethodInfo = &INFO;

    fn settings(&mut self) -> Vec<Setting<'_>> {
        let gates = vec![
            (
                "yes",
                "starts at the Gaussian within 2 %, linear tails",
                true,
            ),
            ("no", "the paper's form, which starts at random", false),
        ];
        let BlockNeural { units, gated } = self;
        vec![
            Setting::size(
                "flow-units",
                "hidden units of each latent in both layers",
                units,
            ),
            Setting::one_of(
                "flow-gate",
                "whether a gate mixes the flow with the identity",
                gates,
                gated,
            ),
        ]
    }

    fn problem(&self) -> Option<String> {
        (self.units == 0).then(|| "a flow without units was asked for".into())
    }

    fn choices(&self) -> Choices {
        let gate = if self.gated { "yes" } else { "no" };
        vec![
            ("flow units".into(), self.units.to_string()),
            ("flow gate".into(), gate.into()),
        ]
    }
}
