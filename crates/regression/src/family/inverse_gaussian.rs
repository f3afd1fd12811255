//! Positive numbers of heavy skew.

use lehr_model::distribution::InverseGaussian;

use super::own::SHAPE;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "inverse_gaussian",
    aliases: &["wald"],
    help: "positive numbers, heavy skew; log link; shape",
    link: Link::Log,
    form: ResponseForm::Positive,
    own: &[SHAPE],
    observe: |of| of.observe(InverseGaussian::with_log_mean(of.at, of.own[0])),
};
