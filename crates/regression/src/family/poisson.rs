//! Counts.

use lehr_model::distribution::Poisson;

use super::{FamilyInfo, Form, Link, Observation};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "poisson",
    aliases: &["count", "counts"],
    help: "counts; log link",
    link: Link::Log,
    form: Form::Count,
    own: &[],
    observe,
};

fn observe(of: &Observation<'_, '_, '_>) {
    of.bounded(Poisson::with_log_rate(of.at));
}
