//! `full-rank`: a Gaussian with all correlations.

use super::gaussian::{GaussianMethod, NamedGaussian};
use crate::guide;
use crate::method::{MethodInfo, RowAccess, restore_gaussian};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "full-rank",
    aliases: &["mvn", "fr"],
    help: "a Gaussian with all correlations",
    needs: "D up to a few hundred",
    cost: "one mini-batch and D² numbers",
    when: "the posterior is close to Gaussian",
    remedy: "try sl-dais",
    rows: RowAccess::Passes,
    new: || Box::new(FullRank::default()),
    restore: restore_gaussian,
};

/// A Gaussian with all correlations.
pub type FullRank = GaussianMethod<guide::FullRank>;

impl NamedGaussian for guide::FullRank {
    const INFO: &'static MethodInfo = &INFO;
}
