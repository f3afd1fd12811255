//! One of several unordered classes: multinomial logistic regression.

use lehr_model::distribution::Categorical;

use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "categorical",
    aliases: &["multiclass", "softmax"],
    help: "unordered classes; a logit for each class but the first",
    link: Link::Logit,
    form: ResponseForm::Unordered,
    own: &[],
    observe: |of| {
        let graph = of.at.graph();
        let reference = graph.full(of.row.batch_shape(&[1]), 0.0);
        let logits = graph.concat(&[reference, of.at], 1);
        of.observe(Categorical::with_logits(logits));
    },
};
