//! The exponential distribution.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::Distribution;
use super::draw::standard_exponential;
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;
use super::tail::{CumulativeDistribution, Limits, log_hit};
use super::tail_family::{TailFamilies, exponential_within};

of_values! {
    /// Waiting times of a steady stream of events.
    Exponential,
    /// The exponential distribution with mean 1/`rate`.
    new(rate)
}

impl<'g> Distribution<'g> for Exponential<'g> {
    elementwise!(FAMILY, ResponseKind::NonNegative, Some(Support::Positive), rate: require_positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let rate = self.rate.on_graph(x.graph());
        rate.ln() - rate * x
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.rate.on_graph(graph).recip())
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.rate.on_graph(graph).recip().square())
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Exponential",
    draw: |p, rng| standard_exponential(rng) / p[0],
};

impl<'g> CumulativeDistribution<'g> for Exponential<'g> {
    fn log_below(&self, x: Expr<'g>) -> Expr<'g> {
        log_hit(self.rate.on_graph(x.graph()).ln() + x.ln())
    }

    fn log_above(&self, x: Expr<'g>) -> Expr<'g> {
        -(self.rate.on_graph(x.graph()) * x)
    }

    /// The distribution is memoryless: P(low < y ≤ high) = P(y > low) P(y ≤ high − low).
    fn log_between(&self, low: Expr<'g>, high: Expr<'g>) -> Expr<'g> {
        self.log_above(low) + self.log_below(high - low)
    }

    /// With w = high − low and m the mean: low + m − w/(eʷᐟᵐ − 1) and
    /// m² − w²eʷᐟᵐ/(eʷᐟᵐ − 1)²
    fn moments_within(&self, graph: &'g Graph, limits: &Limits<'g>) -> [Expr<'g>; 2] {
        let rate = self.rate.on_graph(graph);
        let mean = rate.recip();
        let [low, high] = limits.on_graph(graph);
        let low = low.unwrap_or_else(|| graph.scalar(0.0));
        let Some(high) = high else {
            return [low + mean, mean.square()];
        };
        let width = high - low;
        let times = rate * width;
        let cut = width / times.expm1();
        let spread = mean.square() - cut * (width / -(-times).expm1());
        [low + mean - cut, spread]
    }

    fn tails(&self) -> &'static TailFamilies {
        &TAILS
    }
}

pub(super) static TAILS: TailFamilies = TailFamilies::of(
    &FAMILY,
    ["Censored Exponential", "Truncated Exponential"],
    |own, [low, high], rng| {
        let low = low.max(0.0);
        low + exponential_within(own[0][0], high - low, rng)
    },
);
