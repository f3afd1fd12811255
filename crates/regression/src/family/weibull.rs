//! Waiting times whose hazard rises or falls with time: Weibull regression.

use lehr_model::distribution::Weibull;

use super::own::HAZARD_SHAPE;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "weibull",
    aliases: &[],
    help: "waiting times; log link; shape",
    link: Link::Log,
    form: ResponseForm::Positive,
    own: &[HAZARD_SHAPE],
    observe: |of| of.bounded(Weibull::with_log_mean(of.at, of.own[0])),
};
