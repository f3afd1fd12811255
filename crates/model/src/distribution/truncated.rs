//! Numbers that are only seen between limits.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::check::Check;
use super::draw::{standard_exponential, uniform};
use super::tail::{Limits, Tailed};
use super::value::joint_shape;
use super::{Distribution, ParameterError, Value};

/// Draws of the whole distribution that are tried before one between the limits is made.
const TRIES: usize = 16;
/// Proposals that are tried at the most; one in ten is taken, or more.
const MOST_PROPOSALS: usize = 10_000;

/// A distribution given that its draw lies between limits, both included.
#[derive(Clone, Debug)]
pub struct Truncated<'g, D> {
    base: D,
    limits: Limits<'g>,
}

impl<'g, D: Tailed<'g>> Truncated<'g, D> {
    /// A draw of `base` that is `low` or more and `high` or less. Infinite numbers are no limits.
    pub fn new(base: D, low: impl Into<Value<'g>>, high: impl Into<Value<'g>>) -> Self {
        Truncated {
            base,
            limits: Limits::new(low.into(), high.into()),
        }
    }

    /// Its limits, infinite where there is none.
    fn ends(&self) -> [Value<'g>; 2] {
        let end = |limit: &Option<Value<'g>>, none: f64| {
            let known = limit.clone();
            known.unwrap_or(Value::Number(none))
        };
        [
            end(&self.limits.low, f64::NEG_INFINITY),
            end(&self.limits.high, f64::INFINITY),
        ]
    }
}

impl<'g, D: Tailed<'g>> Distribution<'g> for Truncated<'g, D> {
    fn name(&self) -> &'static str {
        self.base.truncated().name
    }

    fn shape(&self) -> Shape {
        let [low, high] = self.ends();
        let base = self.base.shape();
        let own = joint_shape(&[&low, &high]);
        own.broadcast(base).unwrap_or(base)
    }

    fn kind(&self) -> ResponseKind {
        self.base.kind()
    }

    /// Between limits that are numbers; what rows limit is observed.
    fn support(&self) -> Option<Support> {
        self.base.support()?;
        match self.ends().map(|end| end.constants()) {
            [low, high] if low.len() == 1 && high.len() == 1 => {
                let is_finite = low[0].is_finite() && high[0].is_finite();
                is_finite.then(|| Support::Interval(low[0], high[0]))
            }
            _ => None,
        }
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        self.base.log_density(x) - self.limits.log_mass(x.graph(), &self.base)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let [mean, _] = self.base.moments_within(graph, &self.limits);
        Some(mean.broadcast(self.shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let [_, variance] = self.base.moments_within(graph, &self.limits);
        Some(variance.broadcast(self.shape()))
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let [low, high] = self.ends().map(|end| end.on(graph));
        let mut parameters = self.base.parameters(graph);
        parameters.extend([("low", low), ("high", high)]);
        for (_, expr) in &mut parameters {
            *expr = expr.broadcast(self.shape());
        }
        parameters
    }

    fn family(&self) -> &'static dyn Family {
        self.base.truncated()
    }

    fn check(&self) -> Result<(), ParameterError> {
        self.base.check()?;
        let [low, high] = self.ends();
        let check = Check::of(self.name());
        match (&low.constants()[..], &high.constants()[..]) {
            ([low], [high]) if low.partial_cmp(high) != Some(std::cmp::Ordering::Less) => check
                .fail(
                    format!("low must be below high, found {low} and {high}"),
                    "",
                ),
            _ => check,
        }
        .done()
    }
}

/// Draws between limits from the parameters of a distribution.
type Within = fn(&[&[f64]], [f64; 2], &mut dyn Rng) -> f64;

/// Draws between limits, which are the last two parameters.
pub struct TruncatedFamily {
    pub(super) name: &'static str,
    pub(super) base: &'static dyn Family,
    /// A draw between limits that few draws of the base reach.
    pub(super) within: Within,
}

impl Family for TruncatedFamily {
    fn name(&self) -> &str {
        self.name
    }

    fn draw(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let (own, ends) = parameters.split_at(parameters.len() - 2);
        let ends = [ends[0][0], ends[1][0]];
        for _ in 0..TRIES {
            self.base.draw(own, rng, out);
            if out[0].is_nan() || (ends[0]..=ends[1]).contains(&out[0]) {
                return;
            }
        }
        let drawn = (self.within)(own, ends, rng);
        out[0] = drawn.clamp(ends[0], ends[1]);
    }
}

/// A draw of N(0, 1) between limits (Robert 1995): in a tail from the exponential distribution that
/// touches it, else from the uniform one.
pub(super) fn normal_within([low, high]: [f64; 2], rng: &mut dyn Rng) -> f64 {
    if low + high < 0.0 {
        return -normal_within([-high, -low], rng);
    }
    for _ in 0..MOST_PROPOSALS {
        let (x, log_share) = if low > 0.5 {
            let x = low + exponential_within(low, high - low, rng);
            (x, -0.5 * (x - low).powi(2))
        } else {
            // Few draws of the whole came here, so it is narrow or its far end hardly counts.
            let x = low + (high.min(low.max(0.0) + 8.0) - low) * uniform(rng);
            (x, -0.5 * (x * x - low.max(0.0).powi(2)))
        };
        if standard_exponential(rng) > -log_share {
            return x;
        }
    }
    low.max(0.0)
}

/// A draw below `width` of the exponential distribution with this rate.
pub(super) fn exponential_within(rate: f64, width: f64, rng: &mut dyn Rng) -> f64 {
    let all = -(-rate * width).exp_m1();
    -(-uniform(rng) * all).ln_1p() / rate
}

/// A draw between limits of the Poisson distribution, by its probabilities around the likeliest.
pub(super) fn poisson_within(rate: f64, [low, high]: [f64; 2], rng: &mut dyn Rng) -> f64 {
    let (low, high) = (low.max(0.0).ceil(), high.floor());
    let peak = rate.floor().clamp(low, high);
    let mut weights = vec![(peak, 1.0)];
    let (mut at, mut weight) = (peak, 1.0);
    while at < high && weight > 1e-18 {
        at += 1.0;
        weight *= rate / at;
        weights.push((at, weight));
    }
    (at, weight) = (peak, 1.0);
    while at > low && weight > 1e-18 {
        weight *= at / rate;
        at -= 1.0;
        weights.push((at, weight));
    }
    let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
    let mut left = uniform(rng) * total;
    for (at, weight) in &weights {
        left -= weight;
        if left <= 0.0 {
            return *at;
        }
    }
    peak
}
