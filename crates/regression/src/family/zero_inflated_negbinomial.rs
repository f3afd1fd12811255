//! Overdispersed counts with excess zeros.

use lehr_model::distribution::{NegativeBinomial, ZeroInflated};

use super::own::{GATE, SHAPE};
use super::{FamilyInfo, Link, ResponseForm, logit};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "zero_inflated_negbinomial",
    aliases: &["zinb", "zero_inflated_negative_binomial"],
    help: "overdispersed counts with surplus zeros; log link; shape, gate",
    link: Link::Log,
    form: ResponseForm::Count,
    own: &[SHAPE, GATE],
    observe: |of| {
        let base = NegativeBinomial::with_log_mean(of.at, of.own[0]);
        let counts = ZeroInflated::with_gate_logit(base, logit(of.own[1]));
        of.observe(counts);
    },
};
