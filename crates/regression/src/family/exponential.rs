//! Waiting times at a constant hazard: exponential regression.

use lehr_model::distribution::{Exponential, Gamma};

use super::{FamilyInfo, Link, ResponseForm};
use crate::bounds::Bounds;

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "exponential",
    aliases: &[],
    help: "waiting times at a constant rate; log link",
    link: Link::Log,
    form: ResponseForm::Positive,
    own: &[],
    observe: |of| match of.bounds {
        // An exponential distribution is a gamma distribution of shape 1.
        Bounds::Exact => of.observe(Gamma::with_log_mean(of.at, 1.0)),
        _ => of.bounded(Exponential::new((-of.at).exp())),
    },
};
