//! Real numbers with normal noise.

use lehr_model::distribution::Normal;

use super::own::SIGMA;
use super::{FamilyInfo, Form, Link, Observation};
use crate::column_name::RESPONSE;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "gaussian",
    aliases: &["normal", "linear"],
    help: "real numbers, normal noise; sigma",
    link: Link::Identity,
    form: Form::Real,
    own: &[SIGMA],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    match of.marginal() {
        Some(noisy) => of.row.observe(RESPONSE, noisy.normal(of.own[0])),
        None => of.bounded(Normal::new(of.at, of.own[0])),
    }
}
