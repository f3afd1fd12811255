//! Zeros with a separate probability, else counts.

use lehr_model::distribution::{Hurdle, Poisson};

use super::own::GATE;
use super::{FamilyInfo, Link, ResponseForm, logit};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "hurdle_poisson",
    aliases: &[],
    help: "zeros apart from counts above 0; log link; gate",
    link: Link::Log,
    form: ResponseForm::Count,
    own: &[GATE],
    observe: |of| {
        let base = Poisson::with_log_rate(of.at);
        let counts = Hurdle::with_gate_logit(base, logit(of.own[0]));
        of.observe(counts);
    },
};
