//! `ns-dais`: annealed leapfrog steps on one mini-batch per chain.

use crate::annealed::Drive;
use crate::method::variational::restore;
use crate::method::{MethodInfo, RowAccess, RowChain, RowDrive};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "ns-dais",
    aliases: &[],
    help: "annealed leapfrog steps on one mini-batch per chain",
    needs: "",
    cost: "B rows, K times",
    when: "comparison: tends to a mixture of batch posteriors",
    remedy: "raise chain-steps or batch, or try sl-dais",
    rows: RowAccess::Batches,
    new: || Box::new(NsDais::default()),
    restore: restore::<OneBatch>,
};

/// Annealed leapfrog steps on one mini-batch per chain.
pub type NsDais = RowChain<OneBatch>;

/// One mini-batch for the whole chain.
#[derive(Clone)]
pub struct OneBatch;

impl RowDrive for OneBatch {
    const INFO: &'static MethodInfo = &INFO;

    fn drive(size: usize) -> Drive {
        Drive::Batch { size }
    }
}
