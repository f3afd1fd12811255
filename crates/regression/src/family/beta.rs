//! Proportions between 0 and 1: beta regression.

use lehr_model::distribution::Beta;

use super::own::PRECISION;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "beta",
    aliases: &[],
    help: "numbers strictly between 0 and 1; logit link; precision",
    link: Link::Logit,
    form: ResponseForm::Share,
    own: &[PRECISION],
    observe: |of| of.observe(Beta::with_logit_mean(of.at, of.own[0])),
};
