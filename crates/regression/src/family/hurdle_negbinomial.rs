//! Zeros with a separate probability, else overdispersed counts.

use lehr_model::distribution::{Hurdle, NegativeBinomial};

use super::own::{GATE, SHAPE};
use super::{FamilyInfo, Link, ResponseForm, logit};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "hurdle_negbinomial",
    aliases: &["hurdle_negative_binomial"],
    help: "zeros apart from overdispersed counts above 0; log link; shape, gate",
    link: Link::Log,
    form: ResponseForm::Count,
    own: &[SHAPE, GATE],
    observe: |of| {
        let base = NegativeBinomial::with_log_mean(of.at, of.own[0]);
        let counts = Hurdle::with_gate_logit(base, logit(of.own[1]));
        of.observe(counts);
    },
};
