//! Counts in which each event triggers further ones.

use lehr_model::distribution::GeneralizedPoisson;

use super::own::DISPERSION;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "generalized_poisson",
    aliases: &["genpoisson", "genpois"],
    help: "counts, overdispersed in proportion to the mean; log link; dispersion",
    link: Link::Log,
    form: ResponseForm::Count,
    own: &[DISPERSION],
    observe: |of| of.observe(GeneralizedPoisson::with_log_mean(of.at, of.own[0])),
};
