//! Successes among trials.

use lehr_model::distribution::Binomial;

use super::{FamilyInfo, Form, Link};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "binomial",
    aliases: &[],
    help: "successes among trials; logit link",
    link: Link::Logit,
    form: Form::Successes,
    own: &[],
    observe: |of| {
        let trials = of.trials();
        of.observe(Binomial::with_logit(trials, of.at));
    },
};
