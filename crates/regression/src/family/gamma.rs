//! Positive numbers of constant coefficient of variation: gamma regression.

use lehr_model::distribution::Gamma;

use super::own::SHAPE;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "gamma",
    aliases: &[],
    help: "positive numbers; log link; shape",
    link: Link::Log,
    form: ResponseForm::Positive,
    own: &[SHAPE],
    observe: |of| of.observe(Gamma::with_log_mean(of.at, of.own[0])),
};
