//! Positive numbers whose logarithm is normal.

use lehr_model::distribution::LogNormal;

use super::own::LOG_SIGMA;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "lognormal",
    aliases: &["log_normal"],
    help: "positive numbers, the predictor is the mean of their logarithm; sigma",
    link: Link::Log,
    form: ResponseForm::Positive,
    own: &[LOG_SIGMA],
    observe: |of| of.bounded(LogNormal::new(of.at, of.own[0])),
};
