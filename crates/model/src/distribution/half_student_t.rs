//! The half Student's t distribution.

use std::f64::consts::{FRAC_1_PI, LN_2};

use lehr_density::{ResponseKind, Support};
use lehr_graph::{Expr, Graph};

use super::Distribution;
use super::draw::student_t;
use super::elementwise::{defined, elementwise, of_values};
use super::family::ScalarFamily;
use super::gamma_ratio::log_gamma_ratio;
use super::student_t::standard_log_density;

of_values! {
    /// The absolute value of a scaled draw of Student's t.
    HalfStudentT,
    /// The positive half of Student's t with `df` degrees of freedom.
    new(df, scale)
}

impl<'g> Distribution<'g> for HalfStudentT<'g> {
    elementwise!(
        FAMILY, ResponseKind::NonNegative, Some(Support::Positive),
        df: require_positive, scale: require_positive,
    );

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let (df, scale) = (self.df.on_graph(x.graph()), self.scale.on_graph(x.graph()));
        standard_log_density(x * scale.recip(), df) - (scale.ln() - LN_2)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let (df, scale) = (self.df.on_graph(graph), self.scale.on_graph(graph));
        let ratio = log_gamma_ratio(df * 0.5, graph.scalar(0.5)).exp();
        let mean = scale * (df * FRAC_1_PI).sqrt() * 2.0 * ratio / (df - 1.0);
        defined(graph.scalar(1.0).less(df), mean)
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let (df, scale) = (self.df.on_graph(graph), self.scale.on_graph(graph));
        let second = scale.square() * (df / (df - 2.0));
        let variance = second - self.mean(graph)?.square();
        defined(graph.scalar(2.0).less(df), variance)
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "HalfStudentT",
    draw: |p, rng| p[1] * student_t(p[0], rng).abs(),
};
