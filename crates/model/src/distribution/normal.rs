//! The normal distribution.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::Distribution;
use super::draw::standard_normal;
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;
use super::tail::{CumulativeDistribution, Limits, log_difference};
use super::tail_family::{TailFamilies, normal_within};

of_values! {
    /// N(loc, scale²).
    Normal,
    /// The normal distribution with mean `loc` and standard deviation `scale`.
    new(loc, scale)
}

/// ½ ln 2π.
pub(super) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// −½((x − loc)/scale)² − ln scale − ½ ln 2π
pub(crate) fn normal_log_density<'g>(x: Expr<'g>, loc: Expr<'g>, scale: Expr<'g>) -> Expr<'g> {
    // A scale that all rows share is inverted once.
    let z = (x - loc) * scale.recip();
    z.square() * -0.5 - (scale.ln() + HALF_LN_TAU)
}

impl<'g> Distribution<'g> for Normal<'g> {
    elementwise!(FAMILY, ResponseKind::Real, Some(Support::Real), loc: require_finite, scale: require_positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        normal_log_density(x, self.loc.on_graph(graph), self.scale.on_graph(graph))
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.loc.on_graph(graph).broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let variance = self.scale.on_graph(graph).square();
        Some(variance.broadcast(self.value_shape()))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Normal",
    draw: |p, rng| p[0] + p[1] * standard_normal(rng),
};

impl<'g> Normal<'g> {
    fn standardise_value(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        (x - self.loc.on_graph(graph)) * self.scale.on_graph(graph).recip()
    }
}

impl<'g> CumulativeDistribution<'g> for Normal<'g> {
    fn log_below(&self, x: Expr<'g>) -> Expr<'g> {
        self.standardise_value(x).normal_log_cdf()
    }

    fn log_above(&self, x: Expr<'g>) -> Expr<'g> {
        (-self.standardise_value(x)).normal_log_cdf()
    }

    /// ln(Φ(b) − Φ(a)), reflected to the lower tail, where neither term is nearly 1.
    fn log_between(&self, low: Expr<'g>, high: Expr<'g>) -> Expr<'g> {
        let (a, b) = (self.standardise_value(low), self.standardise_value(high));
        let is_upper = low.graph().scalar(0.0).less(a + b);
        let far = is_upper.select(-b, a).normal_log_cdf();
        log_difference(is_upper.select(-a, b).normal_log_cdf(), far)
    }

    /// With d = φ(end)/P(within) at either end: loc + scale (d − d′) and
    /// scale² (1 + a d − b d′ − (d − d′)²)
    fn moments_within(&self, graph: &'g Graph, limits: &Limits<'g>) -> [Expr<'g>; 2] {
        let log_mass = limits.log_mass(graph, self);
        let zero = graph.scalar(0.0);
        let end = |limit: Option<Expr<'g>>| {
            limit.map_or((zero, zero), |limit| {
                let z = self.standardise_value(limit);
                let density = (z.square() * -0.5 - HALF_LN_TAU - log_mass).exp();
                (density, z * density)
            })
        };
        let [low, high] = limits.on_graph(graph).map(end);
        let (loc, scale) = (self.loc.on_graph(graph), self.scale.on_graph(graph));
        let shift = low.0 - high.0;
        let spread = (low.1 - high.1 + 1.0 - shift.square()).max(zero);
        [loc + scale * shift, scale.square() * spread]
    }

    fn tails(&self) -> &'static TailFamilies {
        &TAILS
    }
}

pub(super) static TAILS: TailFamilies = TailFamilies::of(
    &FAMILY,
    ["Censored Normal", "Truncated Normal"],
    |own, ends, rng| {
        let (loc, scale) = (own[0][0], own[1][0]);
        loc + scale * normal_within(ends.map(|end| (end - loc) / scale), rng)
    },
);
