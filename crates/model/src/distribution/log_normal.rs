//! The log-normal distribution.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::draw::{positive, standard_normal};
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;
use super::normal::normal_log_density;
use super::tail::{CumulativeDistribution, Limits};
use super::tail_family::{TailFamilies, normal_within};
use super::{Distribution, Normal};

of_values! {
    /// A positive number whose logarithm is N(loc, scale²).
    LogNormal,
    /// The distribution of eᶻ with z normal, of mean `loc` and standard deviation `scale`.
    new(loc, scale)
}

impl<'g> Distribution<'g> for LogNormal<'g> {
    elementwise!(FAMILY, ResponseKind::Positive, Some(Support::Positive), loc: require_finite, scale: require_positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (graph, log) = (x.graph(), x.ln());
        normal_log_density(log, self.loc.on_graph(graph), self.scale.on_graph(graph)) - log
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let variance = self.scale.on_graph(graph).square();
        let mean = (self.loc.on_graph(graph) + variance * 0.5).exp();
        Some(mean.broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let variance = self.scale.on_graph(graph).square();
        Some(variance.expm1() * (self.loc.on_graph(graph) * 2.0 + variance).exp())
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "LogNormal",
    draw: |p, rng| positive((p[0] + p[1] * standard_normal(rng)).exp()),
};

impl<'g> LogNormal<'g> {
    /// The distribution of the logarithm, with its mean moved by `variances` times its variance.
    fn log_scale_normal(&self, graph: &'g Graph, variances: f64) -> Normal<'g> {
        let scale = self.scale.on_graph(graph);
        Normal::new(self.loc.on_graph(graph) + scale.square() * variances, scale)
    }
}

impl<'g> CumulativeDistribution<'g> for LogNormal<'g> {
    fn log_below(&self, x: Expr<'g>) -> Expr<'g> {
        self.log_scale_normal(x.graph(), 0.0).log_below(x.ln())
    }

    fn log_above(&self, x: Expr<'g>) -> Expr<'g> {
        self.log_scale_normal(x.graph(), 0.0).log_above(x.ln())
    }

    fn log_between(&self, low: Expr<'g>, high: Expr<'g>) -> Expr<'g> {
        (self.log_scale_normal(low.graph(), 0.0)).log_between(low.ln(), high.ln())
    }

    /// E yᵏ within the limits is the untruncated moment times the mass between the limits, after
    /// the logarithm is shifted by k variances.
    fn moments_within(&self, graph: &'g Graph, limits: &Limits<'g>) -> [Expr<'g>; 2] {
        let logs = limits.map(graph, Expr::ln);
        let (loc, variance) = (
            self.loc.on_graph(graph),
            self.scale.on_graph(graph).square(),
        );
        let log_mass = |k: f64| logs.log_mass(graph, &self.log_scale_normal(graph, k));
        let moment = |k: f64| {
            let whole = loc * k + variance * (0.5 * k * k);
            (whole + log_mass(k) - log_mass(0.0)).exp()
        };
        let mean = moment(1.0);
        let spread = moment(2.0) - mean.square();
        [mean, spread.max(graph.scalar(0.0))]
    }

    fn tails(&self) -> &'static TailFamilies {
        &TAILS
    }
}

pub(super) static TAILS: TailFamilies = TailFamilies::of(
    &FAMILY,
    ["Censored LogNormal", "Truncated LogNormal"],
    |own, ends, rng| {
        let (loc, scale) = (own[0][0], own[1][0]);
        let ends = ends.map(|end| (end.max(0.0).ln() - loc) / scale);
        (loc + scale * normal_within(ends, rng)).exp()
    },
);
