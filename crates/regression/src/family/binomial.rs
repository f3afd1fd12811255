//! Successes among trials.

use lehr_model::distribution::Binomial;

use super::{FamilyInfo, Form, Link, Observation};
use crate::column_name::{RESPONSE, TRIALS};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "binomial",
    aliases: &[],
    help: "successes among trials; logit link",
    link: Link::Logit,
    form: Form::Successes,
    own: &[],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    let trials = of.row.number(TRIALS);
    of.row
        .observe(RESPONSE, Binomial::with_logit(trials, of.at));
}
