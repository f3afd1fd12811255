//! The log-normal distribution.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::draw::{positive, standard_normal};
use super::elementwise::elementwise;
use super::family::ScalarFamily;
use super::normal::normal_log_density;
use super::{Distribution, Value};

/// A positive number whose logarithm is N(loc, scale²).
#[derive(Clone, Debug)]
pub struct LogNormal<'g> {
    loc: Value<'g>,
    scale: Value<'g>,
}

impl<'g> LogNormal<'g> {
    /// The distribution of eᶻ with z normal, of mean `loc` and standard deviation `scale`.
    pub fn new(loc: impl Into<Value<'g>>, scale: impl Into<Value<'g>>) -> Self {
        LogNormal {
            loc: loc.into(),
            scale: scale.into(),
        }
    }
}

impl<'g> Distribution<'g> for LogNormal<'g> {
    elementwise!(FAMILY, ResponseKind::Positive, Some(Support::Positive), loc: finite, scale: positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (graph, log) = (x.graph(), x.ln());
        normal_log_density(log, self.loc.on(graph), self.scale.on(graph)) - log
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let variance = self.scale.on(graph).square();
        let mean = (self.loc.on(graph) + variance * 0.5).exp();
        Some(mean.broadcast(self.shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let variance = self.scale.on(graph).square();
        Some(variance.expm1() * (self.loc.on(graph) * 2.0 + variance).exp())
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "LogNormal",
    draw: |p, rng| positive((p[0] + p[1] * standard_normal(rng)).exp()),
};
