//! Numbers between 0 and 1.

use lehr_model::distribution::Beta;

use super::own::PRECISION;
use super::{FamilyInfo, Form, Link, Observation};
use crate::column_name::RESPONSE;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "beta",
    aliases: &[],
    help: "numbers strictly between 0 and 1; logit link; precision",
    link: Link::Logit,
    form: Form::Share,
    own: &[PRECISION],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    of.row
        .observe(RESPONSE, Beta::with_logit_mean(of.at, of.own[0]));
}
