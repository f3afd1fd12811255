//! Successes among trials whose probability varies from row to row.

use lehr_model::distribution::BetaBinomial;

use super::own::PRECISION;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "beta_binomial",
    aliases: &["betabinomial"],
    help: "successes among trials, overdispersed; logit link; precision",
    link: Link::Logit,
    form: ResponseForm::Successes,
    own: &[PRECISION],
    observe: |of| {
        let trials = of.trials();
        of.observe(BetaBinomial::with_logit_mean(trials, of.at, of.own[0]));
    },
};
