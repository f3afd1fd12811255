//! Real numbers with Student's heavy-tailed noise: robust regression.

use lehr_model::distribution::StudentT;

use super::own::{DF, SIGMA};
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "student",
    aliases: &["student_t", "t", "robust"],
    help: "real numbers, heavy-tailed noise; sigma, df",
    link: Link::Identity,
    form: ResponseForm::Real,
    own: &[SIGMA, DF],
    observe: |of| {
        let (scale, df) = (of.own[0], of.own[1]);
        match of.marginal() {
            Some(noisy) => of.observe(noisy.student_t(df, scale)),
            None => of.observe(StudentT::new(df, of.at, scale)),
        }
    },
};
