//! Real numbers with normal noise: linear regression.

use lehr_model::distribution::Normal;

use super::own::SIGMA;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "gaussian",
    aliases: &["normal", "linear"],
    help: "real numbers, normal noise; sigma",
    link: Link::Identity,
    form: ResponseForm::Real,
    own: &[SIGMA],
    observe: |of| match of.marginal() {
        Some(noisy) => of.observe(noisy.normal(of.own[0])),
        None => of.bounded(Normal::new(of.at, of.own[0])),
    },
};
