//! Truncated numbers, which are observed only between limits.

use lehr_density::Support;
use lehr_graph::{Expr, Graph, Shape};

use super::check::ParameterCheck;
use super::tail::{CumulativeDistribution, Limits};
use super::value::{joint_shape, spread_parameters};
use super::{Distribution, Outcome, ParameterError, Value};

/// A distribution given that its draw lies between limits, both included.
#[derive(Clone, Debug)]
pub struct TruncatedDistribution<'g, D> {
    base: D,
    limits: Limits<'g>,
}

impl<'g, D: CumulativeDistribution<'g>> TruncatedDistribution<'g, D> {
    /// A draw of `base` from `low` to `high`, both included. Infinite numbers mean no limit.
    pub fn new(base: D, low: impl Into<Value<'g>>, high: impl Into<Value<'g>>) -> Self {
        TruncatedDistribution {
            base,
            limits: Limits::new(low.into(), high.into()),
        }
    }

    /// The limits, infinite if there is none.
    fn truncation_bounds(&self) -> [Value<'g>; 2] {
        let Limits { low, high } = self.limits.clone();
        [
            low.unwrap_or(Value::Number(f64::NEG_INFINITY)),
            high.unwrap_or(Value::Number(f64::INFINITY)),
        ]
    }
}

impl<'g, D: CumulativeDistribution<'g>> Distribution<'g> for TruncatedDistribution<'g, D> {
    fn value_shape(&self) -> Shape {
        let [low, high] = self.truncation_bounds();
        let base = self.base.value_shape();
        let own = joint_shape(&[low.shape(), high.shape()]);
        own.broadcast(base).unwrap_or(base)
    }

    /// A site needs constant limits; limits that vary by row are for observed columns only.
    fn outcome(&self) -> Outcome {
        let base = self.base.outcome();
        let support = match self.truncation_bounds().map(|end| end.constant_values()) {
            [low, high] if low.len() == 1 && high.len() == 1 => {
                let is_finite = low[0].is_finite() && high[0].is_finite();
                is_finite.then(|| Support::Interval(low[0], high[0]))
            }
            _ => None,
        };
        let support = base.support.and(support);
        Outcome::new(&self.base.tails().truncated, base.response, support)
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        self.base.log_density(x) - self.limits.log_mass(x.graph(), &self.base)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let [mean, _] = self.base.moments_within(graph, &self.limits);
        Some(mean.broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let [_, variance] = self.base.moments_within(graph, &self.limits);
        Some(variance.broadcast(self.value_shape()))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let [low, high] = self.truncation_bounds().map(|end| end.on_graph(graph));
        let own = self.base.named_parameters(graph).into_iter();
        spread_parameters(
            own.chain([("low", low), ("high", high)]),
            self.value_shape(),
        )
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        self.base.check_parameters()?;
        let [low, high] = self.truncation_bounds();
        let check = ParameterCheck::for_distribution(self.name());
        match (&low.constant_values()[..], &high.constant_values()[..]) {
            ([low], [high]) if low.partial_cmp(high) != Some(std::cmp::Ordering::Less) => check
                .add_error(
                    format!("low must be below high, found {low} and {high}"),
                    "",
                ),
            _ => check,
        }
        .into_result()
    }
}
