//! `mean-field`: independent Gaussians.

use super::gaussian::{GaussianMethod, NamedGaussian};
use crate::guide;
use crate::method::{MethodInfo, RowAccess, restore_gaussian};

/// The row of this method.
pub(crate) static INFO: MethodInfo = MethodInfo {
    name: "mean-field",
    aliases: &["mf"],
    help: "independent Gaussians; blind to correlations",
    needs: "",
    cost: "one mini-batch",
    when: "a first look, or tens of thousands of latents",
    remedy: "try sl-dais",
    rows: RowAccess::Passes,
    new: || Box::new(MeanField::default()),
    restore: restore_gaussian,
};

/// Independent Gaussians.
pub type MeanField = GaussianMethod<guide::MeanField>;

impl NamedGaussian for guide::MeanField {
    const INFO: &'static MethodInfo = &INFO;
}
