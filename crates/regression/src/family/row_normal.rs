//! Counts and successes whose linear predictor varies from row to row by a normal.

use lehr_model::distribution::{Binomial, Normal, Poisson};

use super::own::LOG_SIGMA;
use super::{FamilyInfo, binomial, poisson};
use crate::column_name::ROW_EFFECT;

pub(super) const POISSON: FamilyInfo = FamilyInfo {
    name: "poisson_lognormal",
    aliases: &["plnorm"],
    help: "counts, overdispersed by a normal in each row; log link; sigma",
    own: &[LOG_SIGMA],
    observe: |of| {
        let effect = of.row.local(ROW_EFFECT, Normal::new(0.0, of.own[0]));
        of.observe(Poisson::with_log_rate(of.at + effect));
    },
    ..poisson::INFO
};

pub(super) const BINOMIAL: FamilyInfo = FamilyInfo {
    name: "binomial_logitnormal",
    help: "successes among trials, overdispersed by a normal in each row; logit link; sigma",
    own: &[LOG_SIGMA],
    observe: |of| {
        let effect = of.row.local(ROW_EFFECT, Normal::new(0.0, of.own[0]));
        let trials = of.trials();
        of.observe(Binomial::with_logit(trials, of.at + effect));
    },
    ..binomial::INFO
};
