//! The normal distribution.

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::draw::standard_normal;
use super::elementwise::elementwise;
use super::family::ScalarFamily;
use super::{Distribution, Value};

/// N(loc, scale²).
#[derive(Clone, Debug)]
pub struct Normal<'g> {
    loc: Value<'g>,
    scale: Value<'g>,
}

impl<'g> Normal<'g> {
    /// The normal distribution with mean `loc` and standard deviation `scale`.
    pub fn new(loc: impl Into<Value<'g>>, scale: impl Into<Value<'g>>) -> Self {
        Normal {
            loc: loc.into(),
            scale: scale.into(),
        }
    }
}

/// ½ ln 2π.
pub(super) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// −½((x − loc)/scale)² − ln scale − ½ ln 2π
pub(crate) fn normal_log_density<'g>(x: Expr<'g>, loc: Expr<'g>, scale: Expr<'g>) -> Expr<'g> {
    // The reciprocal is taken once of a scale that all rows share.
    let z = (x - loc) * scale.recip();
    z.square() * -0.5 - (scale.ln() + HALF_LN_TAU)
}

impl<'g> Distribution<'g> for Normal<'g> {
    elementwise!(FAMILY, ResponseKind::Real, Some(Support::Real), loc: finite, scale: positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        normal_log_density(x, self.loc.on(graph), self.scale.on(graph))
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.loc.on(graph).broadcast(self.shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.scale.on(graph).square().broadcast(self.shape()))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Normal",
    draw: |p, rng| p[0] + p[1] * standard_normal(rng),
};
