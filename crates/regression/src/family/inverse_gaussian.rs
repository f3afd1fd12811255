//! Positive numbers of heavy skew.

use lehr_model::distribution::InverseGaussian;

use super::own::SHAPE;
use super::{FamilyInfo, Form, Link, Observation};
use crate::column_name::RESPONSE;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "inverse_gaussian",
    aliases: &["wald"],
    help: "positive numbers, heavy skew; log link; shape",
    link: Link::Log,
    form: Form::Positive,
    own: &[SHAPE],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    let numbers = InverseGaussian::with_log_mean(of.at, of.own[0]);
    of.row.observe(RESPONSE, numbers);
}
