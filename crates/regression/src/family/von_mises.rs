//! Angles around a mean direction: von Mises regression.

use lehr_model::distribution::VonMises;

use super::own::KAPPA;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "von_mises",
    aliases: &["vonmises", "circular"],
    help: "angles from -pi to pi, the predictor is the tangent of half the mean direction; kappa",
    link: Link::TanHalf,
    form: ResponseForm::Direction,
    own: &[KAPPA],
    observe: |of| of.observe(VonMises::new(of.at.atan() * 2.0, of.own[0])),
};
