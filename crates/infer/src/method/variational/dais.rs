//! `dais`: annealed leapfrog steps on all rows.

use super::restore;
use super::row_chain::{RowChain, RowDrive};
use crate::annealed::Drive;
use crate::method::{MethodInfo, RowAccess};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "dais",
    aliases: &["uha"],
    help: "annealed leapfrog steps on all rows",
    needs: "all rows in memory",
    cost: "all N rows, K times",
    when: "small tables, or the reference for the others",
    remedy: "raise chain-steps",
    rows: RowAccess::Memory,
    new: || Box::new(Dais::default()),
    restore: restore::<AllRows>,
};

/// Annealed leapfrog steps on all rows.
pub type Dais = RowChain<AllRows>;

/// All rows at every step.
#[derive(Clone)]
pub struct AllRows;

impl RowDrive for AllRows {
    const INFO: &'static MethodInfo = &INFO;
    const LANES: usize = 1;
    /// A step costs all rows.
    const STEPS: usize = 4;

    fn drive(_: usize) -> Drive {
        Drive::FullData
    }
}
