//! Successes among trials whose log odds vary from row to row by a normal.

use lehr_model::distribution::{Binomial, Normal};

use super::own::LOG_SIGMA;
use super::{FamilyInfo, Link, ResponseForm};
use crate::column_name::ROW_EFFECT;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "binomial_logitnormal",
    aliases: &[],
    help: "successes among trials, overdispersed by a normal in each row; logit link; sigma",
    link: Link::Logit,
    form: ResponseForm::Successes,
    own: &[LOG_SIGMA],
    observe: |of| {
        let effect = of.row.local(ROW_EFFECT, Normal::new(0.0, of.own[0]));
        let trials = of.trials();
        of.observe(Binomial::with_logit(trials, of.at + effect));
    },
};
