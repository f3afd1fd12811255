//! Student's t distribution.

use std::f64::consts::PI;

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::Distribution;
use super::draw::student_t;
use super::elementwise::{defined, elementwise, of_values};
use super::family::ScalarFamily;
use super::gamma_ratio::log_gamma_ratio;

of_values! {
    /// Student's t with location and scale.
    StudentT,
    /// Student's t with `df` degrees of freedom; `scale` is the standard deviation of the limiting
    /// normal.
    new(df, loc, scale)
}

/// −½(df + 1) ln(1 + z²/df) + ln Γ(½df + ½) − ln Γ(½df) − ½ ln(π df)
///
/// `log1p` keeps both the centre, where z²/df vanishes, and the far tails.
pub(super) fn standard_log_density<'g>(z: Expr<'g>, df: Expr<'g>) -> Expr<'g> {
    let half = df.graph().scalar(0.5);
    let constant = log_gamma_ratio(df * 0.5, half) - (df.ln() + PI.ln()) * 0.5;
    let kernel = (z.square() * df.recip()).log1p() * ((df + 1.0) * -0.5);
    kernel + constant
}

impl<'g> Distribution<'g> for StudentT<'g> {
    elementwise!(
        FAMILY, ResponseKind::Real, Some(Support::Real),
        df: require_positive, loc: require_finite, scale: require_positive,
    );

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (graph, scale) = (x.graph(), self.scale.on_graph(x.graph()));
        let z = (x - self.loc.on_graph(graph)) * scale.recip();
        standard_log_density(z, self.df.on_graph(graph)) - scale.ln()
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let exists = graph.scalar(1.0).less(self.df.on_graph(graph));
        let loc = self.loc.on_graph(graph);
        defined(exists, loc.broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let (df, scale) = (self.df.on_graph(graph), self.scale.on_graph(graph));
        let variance = scale.square() * (df / (df - 2.0));
        let exists = graph.scalar(2.0).less(df);
        defined(exists, variance.broadcast(self.value_shape()))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "StudentT",
    draw: |p, rng| p[1] + p[2] * student_t(p[0], rng),
};
