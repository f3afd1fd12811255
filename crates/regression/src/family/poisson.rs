//! Counts: Poisson regression.

use lehr_model::distribution::Poisson;

use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "poisson",
    aliases: &["count", "counts"],
    help: "counts; log link",
    link: Link::Log,
    form: ResponseForm::Count,
    own: &[],
    observe: |of| of.bounded(Poisson::with_log_rate(of.at)),
};
