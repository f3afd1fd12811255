//! `ns2-dais`: annealed leapfrog steps, a fresh mini-batch at each.

use crate::annealed::Drive;
use crate::method::variational::restore;
use crate::method::{MethodInfo, RowAccess, RowChain, RowDrive};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "ns2-dais",
    aliases: &["ns'-dais", "ns′-dais"],
    help: "annealed leapfrog steps, a fresh mini-batch at each",
    needs: "",
    cost: "K mini-batches",
    when: "comparison with ns-dais",
    remedy: "raise chain-steps or batch, or try sl-dais",
    rows: RowAccess::Batches,
    new: || Box::new(Ns2Dais::default()),
    restore: restore::<FreshBatches>,
};

/// Annealed leapfrog steps, a fresh mini-batch at each (NS′-DAIS).
pub type Ns2Dais = RowChain<FreshBatches>;

/// A fresh mini-batch at every step.
#[derive(Clone)]
pub struct FreshBatches;

impl RowDrive for FreshBatches {
    const INFO: &'static MethodInfo = &INFO;

    fn drive(size: usize) -> Drive {
        Drive::FreshBatch { size }
    }
}
