//! Overdispersed counts: negative binomial regression.

use lehr_model::distribution::NegativeBinomial;

use super::own::SHAPE;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "negbinomial",
    aliases: &[
        "nb",
        "nbinom",
        "nbinom2",
        "negative_binomial",
        "neg_binomial",
    ],
    help: "overdispersed counts; log link; shape",
    link: Link::Log,
    form: ResponseForm::Count,
    own: &[SHAPE],
    observe: |of| of.observe(NegativeBinomial::with_log_mean(of.at, of.own[0])),
};
