//! Outcomes whose logit has Gaussian noise, which is integrated out.

use std::f64::consts::{PI, TAU};

use lehr_density::ResponseKind;
use lehr_graph::{Expr, Graph};

use super::Distribution;
use super::draw::{sample_bernoulli, standard_normal};
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;
use super::noisy_student_t::lifted;

/// The nodes of the integral over the mixing variable: their number, the first and the last, in a
/// geometric sequence.
const NODES: usize = 20;
const FIRST: f64 = 0.23;
const LAST: f64 = 4.5;

of_values! {
    /// Outcomes 1 and 0, each with its own logit, which is drawn from N(loc, variance) and integrated
    /// out.
    ///
    /// A logistic variable is a normal one with random standard deviation 2k, where k has the limiting
    /// distribution of the Kolmogorov–Smirnov statistic (Andrews and Mallows 1974), so that
    ///
    /// ```text
    /// p(1) = ∫ Φ(loc/√(variance + 4k²)) f(k) dk        f(k) = 8k Σⱼ (−1)ʲ⁺¹ j² e^(−2j²k²)
    /// ```
    ///
    /// The integral is computed by the trapezoidal rule in ln k. The error of ln p is at most 10⁻⁸ for
    /// |loc| ≤ 10, 2·10⁻⁵ up to 20 and 2·10⁻³ up to 30, for any variance. Gauss–Hermite nodes on the
    /// logit would instead turn wide noise into a staircase with spurious optima.
    NoisyBernoulli,
    /// An outcome with logit ~ N(loc, variance).
    new(loc, variance)
}

impl<'g> NoisyBernoulli<'g> {
    /// ln p of the outcomes with these signs. The nodes lie along an additional last axis. The sign
    /// multiplies loc before the reshape: otherwise the product of matrices would no longer be
    /// recognised as the predictor of the rows.
    fn log_probability(&self, sign: Expr<'g>) -> Expr<'g> {
        let graph = sign.graph();
        let (squares, logs) = logistic_mixture();
        let spread = lifted(self.variance.on_graph(graph)) + graph.constant([NODES], &squares);
        let at = lifted(sign * self.loc.on_graph(graph)) * spread.sqrt().recip();
        let terms = at.normal_log_cdf() + graph.constant([NODES], &logs);
        terms.log_sum_exp(terms.shape().rank() - 1)
    }

    fn probability(&self, graph: &'g Graph) -> Expr<'g> {
        self.log_probability(graph.scalar(1.0)).exp()
    }
}

/// The variances 4k² of the normal components of a logistic variable, and the logarithms of their
/// weights.
fn logistic_mixture() -> (Vec<f64>, Vec<f64>) {
    let step = (LAST / FIRST).ln() / (NODES - 1) as f64;
    let nodes = (0..NODES).map(|place| FIRST * (step * place as f64).exp());
    nodes
        .map(|k| (4.0 * k * k, (step * k * kolmogorov_density(k)).ln()))
        .unzip()
}

/// The density of Kolmogorov's distribution, by the series that converges faster.
fn kolmogorov_density(k: f64) -> f64 {
    const TERMS: i32 = 8;
    /// Below this the reciprocal series is used.
    const SMALL: f64 = 0.6;
    if k < SMALL {
        let power = |j: i32| f64::from(2 * j - 1).powi(2) * PI * PI / (8.0 * k * k);
        let terms = (1..=TERMS).map(power);
        let sum: f64 = terms.map(|a| (-a).exp() * (2.0 * a - 1.0)).sum();
        return TAU.sqrt() / (k * k) * sum;
    }
    let term = |j: i32| {
        let square = f64::from(j * j);
        let sign = if j % 2 == 1 { 1.0 } else { -1.0 };
        sign * square * (-2.0 * square * k * k).exp()
    };
    let sum: f64 = (1..=TERMS).map(term).sum();
    8.0 * k * sum
}

impl<'g> Distribution<'g> for NoisyBernoulli<'g> {
    elementwise!(FAMILY, ResponseKind::Binary, None, loc: require_finite, variance: require_positive);

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        self.log_probability(x * 2.0 - 1.0)
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.probability(graph).broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let p = self.probability(graph);
        Some((p * (1.0 - p)).broadcast(self.value_shape()))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "NoisyBernoulli",
    draw: |p, rng| {
        let logit = p[0] + p[1].sqrt() * standard_normal(rng);
        sample_bernoulli(logit, rng)
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_series_of_a_density_are_the_same_where_they_meet() {
        let [below, above] = [0.6_f64.next_down(), 0.6].map(kolmogorov_density);
        assert!((below / above - 1.0).abs() < 1e-12, "{below} {above}");
        let (_, logs) = logistic_mixture();
        let mass: f64 = logs.iter().map(|log| log.exp()).sum();
        assert!((mass - 1.0).abs() < 1e-10, "{mass}");
    }
}
