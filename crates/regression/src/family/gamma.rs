//! Positive numbers of constant coefficient of variation.

use lehr_model::distribution::Gamma;

use super::own::SHAPE;
use super::{FamilyInfo, Form, Link, Observation};
use crate::column_name::RESPONSE;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "gamma",
    aliases: &[],
    help: "positive numbers; log link; shape",
    link: Link::Log,
    form: Form::Positive,
    own: &[SHAPE],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    of.row
        .observe(RESPONSE, Gamma::with_log_mean(of.at, of.own[0]));
}
