//! Successes among trials: binomial regression.

use lehr_model::distribution::Binomial;

use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "binomial",
    aliases: &[],
    help: "successes among trials; logit link",
    link: Link::Logit,
    form: ResponseForm::Successes,
    own: &[],
    observe: |of| of.observe(Binomial::with_logit(of.trials(), of.at)),
};
