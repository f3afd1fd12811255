//! Counts with excess zeros of a separate probability: added to those of another family
//! (zero-inflated), or in place of them (hurdle).

use lehr_model::distribution::{Binomial, Hurdle, NegativeBinomial, Poisson, ZeroInflated};

use super::own::{GATE, SHAPE};
use super::{FamilyInfo, binomial, logit, negbinomial, poisson};

pub(super) const POISSON: FamilyInfo = FamilyInfo {
    name: "zero_inflated_poisson",
    aliases: &["zip"],
    help: "counts with surplus zeros; log link; gate",
    own: &[GATE],
    observe: |of| {
        let base = Poisson::with_log_rate(of.at);
        of.observe(ZeroInflated::with_gate_logit(base, logit(of.own[0])));
    },
    ..poisson::INFO
};

pub(super) const NEGBINOMIAL: FamilyInfo = FamilyInfo {
    name: "zero_inflated_negbinomial",
    aliases: &["zinb", "zero_inflated_negative_binomial"],
    help: "overdispersed counts with surplus zeros; log link; shape, gate",
    own: &[SHAPE, GATE],
    observe: |of| {
        let base = NegativeBinomial::with_log_mean(of.at, of.own[0]);
        of.observe(ZeroInflated::with_gate_logit(base, logit(of.own[1])));
    },
    ..negbinomial::INFO
};

pub(super) const BINOMIAL: FamilyInfo = FamilyInfo {
    name: "zero_inflated_binomial",
    aliases: &["zib"],
    help: "successes among trials with surplus zeros; logit link; gate",
    own: &[GATE],
    observe: |of| {
        let base = Binomial::with_logit(of.trials(), of.at);
        of.observe(ZeroInflated::with_gate_logit(base, logit(of.own[0])));
    },
    ..binomial::INFO
};

pub(super) const HURDLE_POISSON: FamilyInfo = FamilyInfo {
    name: "hurdle_poisson",
    aliases: &[],
    help: "zeros apart from counts above 0; log link; gate",
    observe: |of| {
        let base = Poisson::with_log_rate(of.at);
        of.observe(Hurdle::with_gate_logit(base, logit(of.own[0])));
    },
    ..POISSON
};

pub(super) const HURDLE_NEGBINOMIAL: FamilyInfo = FamilyInfo {
    name: "hurdle_negbinomial",
    aliases: &["hurdle_negative_binomial"],
    help: "zeros apart from overdispersed counts above 0; log link; shape, gate",
    observe: |of| {
        let base = NegativeBinomial::with_log_mean(of.at, of.own[0]);
        of.observe(Hurdle::with_gate_logit(base, logit(of.own[1])));
    },
    ..NEGBINOMIAL
};
