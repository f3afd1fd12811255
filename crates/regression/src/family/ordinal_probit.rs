//! One of several classes in order, with normal noise.

use lehr_model::distribution::OrderedProbit;

use super::own::CUTPOINT;
use super::{FamilyInfo, Form, Link, Observation};
use crate::column_name::RESPONSE;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "ordinal_probit",
    aliases: &["ordered_probit", "cumulative_probit"],
    help: "ordered classes; cumulative probits; cutpoints",
    link: Link::Probit,
    form: Form::Ordered,
    own: &[CUTPOINT],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    of.row
        .observe(RESPONSE, OrderedProbit::new(of.at, of.own[0]));
}
