//! The negative binomial distribution, by its mean.

use lehr_density::ResponseKind;
use lehr_graph::{Expr, Graph};

use super::draw::{log_gamma, sample_poisson};
use super::elementwise::elementwise;
use super::family::ScalarFamily;
use super::gamma_ratio::log_gamma_ratio;
use super::value::{PositiveValue, spread_parameters};
use super::{Distribution, Outcome, Value};

/// Overdispersed counts: the variance is mean + mean²/dispersion.
///
/// For large `dispersion` this approaches the Poisson distribution without loss of digits.
#[derive(Clone, Debug)]
pub struct NegativeBinomial<'g> {
    mean: PositiveValue<'g>,
    dispersion: Value<'g>,
}

impl<'g> NegativeBinomial<'g> {
    /// Counts with this mean and variance mean + mean²/`dispersion`.
    pub fn new(mean: impl Into<Value<'g>>, dispersion: impl Into<Value<'g>>) -> Self {
        NegativeBinomial {
            mean: PositiveValue::Number(mean.into()),
            dispersion: dispersion.into(),
        }
    }

    /// As [`NegativeBinomial::new`] with mean e to the power `log_mean`.
    pub fn with_log_mean(log_mean: impl Into<Value<'g>>, dispersion: impl Into<Value<'g>>) -> Self {
        NegativeBinomial {
            mean: PositiveValue::Log(log_mean.into()),
            dispersion: dispersion.into(),
        }
    }
}

impl<'g> Distribution<'g> for NegativeBinomial<'g> {
    elementwise!(derived mean: require_positive_value, dispersion: require_positive);

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, ResponseKind::Count, None)
    }

    /// ln Γ(y + φ) − ln Γ(φ) − ln y! + y t − (y + φ) softplus(t), with t = ln(mean/φ)
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let phi = self.dispersion.on_graph(x.graph());
        let log_odds = self.mean.with_log(x.graph())[1] - phi.ln();
        let ways = log_gamma_ratio(phi, x) - (x + 1.0).lgamma();
        ways + (x * log_odds - (x + phi) * log_odds.softplus())
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.mean.with_log(graph)[0].broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let mean = self.mean.with_log(graph)[0];
        Some(mean + mean.square() / self.dispersion.on_graph(graph))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let [mean, _] = self.mean.with_log(graph);
        let phi = self.dispersion.on_graph(graph);
        spread_parameters([("mean", mean), ("dispersion", phi)], self.value_shape())
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "NegativeBinomial",
    draw: |p, rng| sample_poisson(p[0] * (log_gamma(p[1], rng) - p[1].ln()).exp(), rng),
};
