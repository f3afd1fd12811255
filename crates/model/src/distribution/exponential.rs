//! The exponential distribution.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::draw::standard_exponential;
use super::elementwise::elementwise;
use super::family::ScalarFamily;
use super::{Distribution, Value};

/// Waiting times of a steady stream of events.
#[derive(Clone, Debug)]
pub struct Exponential<'g> {
    rate: Value<'g>,
}

impl<'g> Exponential<'g> {
    /// The exponential distribution with mean 1/`rate`.
    pub fn new(rate: impl Into<Value<'g>>) -> Self {
        Exponential { rate: rate.into() }
    }
}

impl<'g> Distribution<'g> for Exponential<'g> {
    elementwise!(FAMILY, ResponseKind::NonNegative, Some(Support::Positive), rate: positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let rate = self.rate.on(x.graph());
        rate.ln() - rate * x
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.rate.on(graph).recip())
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.rate.on(graph).recip().square())
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Exponential",
    draw: |p, rng| standard_exponential(rng) / p[0],
};
