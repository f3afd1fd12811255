//! `low-rank`: a Gaussian with a few directions of correlation.

use super::gaussian::{GaussianMethod, NamedGaussian};
use crate::guide;
use crate::method::{MethodInfo, RowAccess, restore_gaussian};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "low-rank",
    aliases: &["lr"],
    help: "a Gaussian with a few directions of correlation",
    needs: "",
    cost: "one mini-batch and D × rank numbers",
    when: "correlations matter and D is too large for full rank",
    remedy: "try sl-dais",
    rows: RowAccess::Passes,
    new: || Box::new(LowRank::default()),
    restore: restore_gaussian,
};

/// A Gaussian with a few directions of correlation.
pub type LowRank = GaussianMethod<guide::LowRank>;

impl NamedGaussian for guide::LowRank {
    const INFO: &'static MethodInfo = &INFO;
}
