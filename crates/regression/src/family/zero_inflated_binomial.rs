//! Successes among trials with excess zeros.

use lehr_model::distribution::{Binomial, ZeroInflated};

use super::own::GATE;
use super::{FamilyInfo, Link, ResponseForm, logit};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "zero_inflated_binomial",
    aliases: &["zib"],
    help: "successes among trials with surplus zeros; logit link; gate",
    link: Link::Logit,
    form: ResponseForm::Successes,
    own: &[GATE],
    observe: |of| {
        let base = Binomial::with_logit(of.trials(), of.at);
        let hits = ZeroInflated::with_gate_logit(base, logit(of.own[0]));
        of.observe(hits);
    },
};
