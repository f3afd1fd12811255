//! The Weibull distribution, by its mean.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::draw::{positive, standard_exponential};
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;
use super::tail::{CumulativeDistribution, Limits, log_difference, log_hit};
use super::tail_family::{TailFamilies, exponential_within};
use super::value::spread_parameters;
use super::{Distribution, Outcome};

of_values! {
    /// Waiting times whose hazard is proportional to time to the power `shape` − 1.
    Weibull,
    /// Waiting times whose mean is e to the power `log_mean`.
    with_log_mean(log_mean, shape)
}

impl<'g> Weibull<'g> {
    /// ln λ, where the mean is λ Γ(1 + 1/k).
    fn log_scale(&self, graph: &'g Graph) -> Expr<'g> {
        let shape = self.shape.on_graph(graph);
        self.log_mean.on_graph(graph) - (shape.recip() + 1.0).lgamma()
    }
}

impl<'g> Distribution<'g> for Weibull<'g> {
    elementwise!(derived log_mean: require_finite, shape: require_positive);

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, ResponseKind::Positive, Some(Support::Positive))
    }

    /// ln k − ln x + k t − eᵏᵗ, with t = ln(x/λ)
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let shape = self.shape.on_graph(x.graph());
        let log = x.ln();
        let power = shape * (log - self.log_scale(x.graph()));
        shape.ln() - log + power - power.exp()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let mean = self.log_mean.on_graph(graph).exp();
        Some(mean.broadcast(Distribution::value_shape(self)))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let inverse = self.shape.on_graph(graph).recip();
        let ratio = (inverse * 2.0 + 1.0).lgamma() - (inverse + 1.0).lgamma() * 2.0;
        Some((self.log_mean.on_graph(graph) * 2.0).exp() * ratio.expm1())
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let (scale, shape) = (self.log_scale(graph).exp(), self.shape.on_graph(graph));
        spread_parameters(
            [("scale", scale), ("shape", shape)],
            Distribution::value_shape(self),
        )
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Weibull",
    draw: |p, rng| positive(p[0] * standard_exponential(rng).powf(p[1].recip())),
};

impl<'g> Weibull<'g> {
    /// The logarithm of the cumulative hazard (x/λ)ᵏ.
    fn log_risk(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        self.shape.on_graph(graph) * (x.ln() - self.log_scale(graph))
    }

    /// ln E(yᵖ; within), the part of the moment between the limits, p = `power`.
    fn log_part(&self, graph: &'g Graph, limits: &Limits<'g>, power: f64) -> Expr<'g> {
        let inverse = self.shape.on_graph(graph).recip();
        let order = inverse * power + 1.0;
        let whole = self.log_scale(graph) * power + order.lgamma();
        let risks = limits
            .on_graph(graph)
            .map(|end| end.map(|end| self.log_risk(end)));
        let share = match risks {
            [None, None] => graph.scalar(0.0),
            [Some(low), None] => order.gamma_log_above(low),
            [None, Some(high)] => order.gamma_log_below(high),
            [Some(low), Some(high)] => {
                // Of both forms of the difference, the one of the smaller numbers.
                let is_upper = graph.scalar(0.0).less(low);
                let [of_low, of_high] = [low, high].map(|end| {
                    let (above, below) = (order.gamma_log_above(end), order.gamma_log_below(end));
                    is_upper.select(above, below)
                });
                let near = is_upper.select(of_low, of_high);
                log_difference(near, is_upper.select(of_high, of_low))
            }
        };
        whole + share
    }
}

impl<'g> CumulativeDistribution<'g> for Weibull<'g> {
    fn log_below(&self, x: Expr<'g>) -> Expr<'g> {
        log_hit(self.log_risk(x))
    }

    fn log_above(&self, x: Expr<'g>) -> Expr<'g> {
        -self.log_risk(x).exp()
    }

    fn log_between(&self, low: Expr<'g>, high: Expr<'g>) -> Expr<'g> {
        let more = log_difference(self.log_risk(high), self.log_risk(low));
        self.log_above(low) + log_hit(more)
    }

    fn moments_within(&self, graph: &'g Graph, limits: &Limits<'g>) -> [Expr<'g>; 2] {
        let log_mass = limits.log_mass(graph, self);
        let moment = |power: f64| (self.log_part(graph, limits, power) - log_mass).exp();
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
    ["Censored Weibull", "Truncated Weibull"],
    |own, ends, rng| {
        let (scale, shape) = (own[0][0], own[1][0]);
        let [low, high] = ends.map(|end| (end.max(0.0) / scale).powf(shape));
        let risk = low + exponential_within(1.0, high - low, rng);
        scale * risk.powf(shape.recip())
    },
);
