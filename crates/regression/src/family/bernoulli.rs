//! Two outcomes.

use lehr_model::distribution::Bernoulli;

use super::{FamilyInfo, Form, Link, Observation};
use crate::column_name::RESPONSE;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "bernoulli",
    aliases: &["logistic", "logit", "binary"],
    help: "two outcomes; logit link",
    link: Link::Logit,
    form: Form::Two,
    own: &[],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    match of.marginal() {
        Some(noisy) => of.row.observe(RESPONSE, noisy.bernoulli()),
        None => of.row.observe(RESPONSE, Bernoulli::with_logit(of.at)),
    }
}
