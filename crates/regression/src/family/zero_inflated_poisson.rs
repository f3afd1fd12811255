//! Counts with excess zeros.

use lehr_model::distribution::{Poisson, ZeroInflated};

use super::own::GATE;
use super::{FamilyInfo, Link, ResponseForm, logit};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "zero_inflated_poisson",
    aliases: &["zip"],
    help: "counts with surplus zeros; log link; gate",
    link: Link::Log,
    form: ResponseForm::Count,
    own: &[GATE],
    observe: |of| {
        let base = Poisson::with_log_rate(of.at);
        let counts = ZeroInflated::with_gate_logit(base, logit(of.own[0]));
        of.observe(counts);
    },
};
