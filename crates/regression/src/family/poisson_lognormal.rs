//! Counts whose rates vary from row to row by a normal on the log scale.

use lehr_model::distribution::{Normal, Poisson};

use super::own::LOG_SIGMA;
use super::{FamilyInfo, Link, ResponseForm};
use crate::column_name::ROW_EFFECT;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "poisson_lognormal",
    aliases: &["plnorm"],
    help: "counts, overdispersed by a normal in each row; log link; sigma",
    link: Link::Log,
    form: ResponseForm::Count,
    own: &[LOG_SIGMA],
    observe: |of| {
        let effect = of.row.local(ROW_EFFECT, Normal::new(0.0, of.own[0]));
        of.observe(Poisson::with_log_rate(of.at + effect));
    },
};
