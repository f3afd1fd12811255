//! The normal distribution.

use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;
use rand_distr::{Distribution as _, StandardNormal};

use super::check::Check;
use super::value::{joint_shape, spread};
use super::{Distribution, Family, ParameterError, Support, Value};

/// ½ ln 2π.
pub(super) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

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

/// −½((x − loc)/scale)² − ln scale − ½ ln 2π
pub(super) fn normal_log_density<'g>(x: Expr<'g>, loc: Expr<'g>, scale: Expr<'g>) -> Expr<'g> {
    // The reciprocal is taken once of a scale that all rows share.
    let z = (x - loc) * scale.recip();
    z.square() * -0.5 - (scale.ln() + HALF_LN_TAU)
}

impl<'g> Distribution<'g> for Normal<'g> {
    fn name(&self) -> &'static str {
        NormalFamily.name()
    }

    fn shape(&self) -> Shape {
        joint_shape(&[&self.loc, &self.scale])
    }

    fn support(&self) -> Support {
        Support::Real
    }

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

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let named = [("loc", &self.loc), ("scale", &self.scale)];
        spread(graph, self.shape(), named)
    }

    fn family(&self) -> &'static dyn Family {
        &NormalFamily
    }

    fn check(&self) -> Result<(), ParameterError> {
        Check::of(self.name())
            .finite("loc", &self.loc)
            .positive("scale", &self.scale)
            .done()
    }
}

struct NormalFamily;

impl Family for NormalFamily {
    fn name(&self) -> &'static str {
        "Normal"
    }

    fn draw(&self, parameters: &[f64], rng: &mut dyn Rng, out: &mut [f64]) {
        out[0] = parameters[0] + parameters[1] * standard_normal(rng);
    }
}

/// A draw of N(0, 1).
pub(super) fn standard_normal(rng: &mut dyn Rng) -> f64 {
    StandardNormal.sample(rng)
}
