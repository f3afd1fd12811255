//! Counts each of whose events sets off others.

use lehr_model::distribution::GeneralizedPoisson;

use super::own::DISPERSION;
use super::{FamilyInfo, Form, Link, Observation};
use crate::column_name::RESPONSE;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "generalized_poisson",
    aliases: &["genpoisson", "genpois"],
    help: "counts, overdispersed in proportion to the mean; log link; dispersion",
    link: Link::Log,
    form: Form::Count,
    own: &[DISPERSION],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    let counts = GeneralizedPoisson::with_log_mean(of.at, of.own[0]);
    of.row.observe(RESPONSE, counts);
}
