//! Two outcomes: logistic regression.

use lehr_model::distribution::Bernoulli;

use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "bernoulli",
    aliases: &["logistic", "logit", "binary"],
    help: "two outcomes; logit link",
    link: Link::Logit,
    form: ResponseForm::Two,
    own: &[],
    observe: |of| match of.marginal() {
        Some(noisy) => of.observe(noisy.bernoulli()),
        None => of.observe(Bernoulli::with_logit(of.at)),
    },
};
