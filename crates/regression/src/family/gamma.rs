//! Positive numbers of constant coefficient of variation.

use lehr_model::distribution::Gamma;

use super::own::SHAPE;
use super::{FamilyInfo, Form, Link};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "gamma",
    aliases: &[],
    help: "positive numbers; log link; shape",
    link: Link::Log,
    form: Form::Positive,
    own: &[SHAPE],
    observe: |of| of.observe(Gamma::with_log_mean(of.at, of.own[0])),
};
