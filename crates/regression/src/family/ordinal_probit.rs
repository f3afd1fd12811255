//! One of several classes in order, with normal noise.

use lehr_model::distribution::OrderedProbit;

use super::own::CUTPOINT;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "ordinal_probit",
    aliases: &["ordered_probit", "cumulative_probit"],
    help: "ordered classes; cumulative probits; cutpoints",
    link: Link::Probit,
    form: ResponseForm::Ordered,
    own: &[CUTPOINT],
    observe: |of| of.observe(OrderedProbit::new(of.at, of.own[0])),
};
