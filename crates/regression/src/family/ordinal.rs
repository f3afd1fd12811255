//! One of several classes in order.

use lehr_model::distribution::OrderedLogistic;

use super::own::CUTPOINT;
use super::{FamilyInfo, Form, Link, Observation};
use crate::program::RESPONSE;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "ordinal",
    aliases: &["ordered", "ordered_logistic", "cumulative"],
    help: "ordered classes; cumulative logits; cutpoints",
    link: Link::Logit,
    form: Form::Ordered,
    own: &[CUTPOINT],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    of.row
        .observe(RESPONSE, OrderedLogistic::new(of.at, of.own[0]));
}
