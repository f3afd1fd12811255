//! One of several ordered classes: cumulative logit and probit regression.

use lehr_graph::Expr;
use lehr_model::distribution::{OrderedLogistic, OrderedProbit};

use super::own::CUTPOINT;
use super::{FamilyInfo, Link, ResponseForm};

pub(super) const INFO: FamilyInfo = FamilyInfo {
    name: "ordinal",
    aliases: &[
        "ordered",
        "ordered_logistic",
        "cumulative",
        "cumulative_logit",
        "polr",
    ],
    help: "ordered classes; cumulative logits; cutpoints",
    link: Link::Logit,
    form: ResponseForm::Ordered,
    own: &[CUTPOINT],
    observe: |of| of.observe(OrderedLogistic::new(of.at, of.own[0])),
};

pub(super) const PROBIT: FamilyInfo = FamilyInfo {
    name: "ordinal_probit",
    aliases: &["ordered_probit", "cumulative_probit"],
    help: "ordered classes; cumulative probits; cutpoints",
    link: Link::Probit,
    observe: |of| of.observe(OrderedProbit::new(of.at, of.own[0])),
    ..INFO
};

/// The link of the cumulative proportions; both tails are sums, so nothing cancels.
pub(crate) fn cutpoints(link: Link, proportion: Expr<'_>, classes: usize) -> Expr<'_> {
    let graph = proportion.graph();
    let is_below = |k: usize, class: usize| f64::from(u8::from(class <= k));
    let sums = |part: &dyn Fn(usize, usize) -> f64| {
        let cells = (0..classes - 1).flat_map(|k| (0..classes).map(move |class| (k, class)));
        let cells: Vec<f64> = cells.map(|(k, class)| part(k, class)).collect();
        graph
            .constant([classes - 1, classes], &cells)
            .dot(proportion)
    };
    let (below, above) = (sums(&is_below), sums(&|k, class| 1.0 - is_below(k, class)));
    match link {
        Link::Probit => {
            let lower = below.less(above);
            let tail = lower.select(below, above).normal_quantile();
            lower.select(tail, -tail)
        }
        _ => below.ln() - above.ln(),
    }
}
