//! The binomial distribution.

use lehr_density::ResponseKind;
use lehr_graph::{Expr, Graph};
use rand::Rng;
use rand_distr::Distribution as _;

use super::draw::sigmoid;
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;
use super::{Distribution, Outcome, Value};

of_values! {
    /// Hits among a number of trials.
    Binomial,
    /// Hits among `trials`, each of probability 1/(1 + e^−logit).
    with_logit(trials, logit)
}

/// Which hits there may be among so many trials.
pub(super) fn hits_of(trials: &Value<'_>) -> ResponseKind {
    match trials {
        Value::Number(trials) => ResponseKind::CountUpTo(*trials as u64),
        _ => ResponseKind::Count,
    }
}

impl<'g> Distribution<'g> for Binomial<'g> {
    elementwise!(trials: require_count, logit: require_finite);

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, hits_of(&self.trials), None)
    }

    /// ln (n choose y) + y·logit − n·softplus(logit); −∞ with more hits than trials.
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let graph = x.graph();
        let (n, logit) = (self.trials.on_graph(graph), self.logit.on_graph(graph));
        let ways = (n + 1.0).lgamma() - (x + 1.0).lgamma() - (n - x + 1.0).lgamma();
        ways + (x * logit - n * logit.softplus())
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.trials.on_graph(graph) * self.logit.on_graph(graph).sigmoid())
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let p = self.logit.on_graph(graph).sigmoid();
        Some(self.trials.on_graph(graph) * p * (1.0 - p))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "Binomial",
    draw: |p, rng| sample_binomial(p[0], sigmoid(p[1]), rng),
};

/// A draw of the binomial distribution.
pub(super) fn sample_binomial(trials: f64, probability: f64, rng: &mut dyn Rng) -> f64 {
    if !(trials >= 0.0 && trials < u64::MAX as f64) {
        return f64::NAN;
    }
    match rand_distr::Binomial::new(trials as u64, probability) {
        Ok(binomial) => binomial.sample(rng) as f64,
        Err(_) => f64::NAN,
    }
}
