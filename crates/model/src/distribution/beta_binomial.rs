//! The beta-binomial distribution, by its mean.

use lehr_graph::{Expr, Graph};

use super::binomial::{hits_of, sample_binomial};
use super::draw::{beta_logit, sigmoid};
use super::elementwise::{elementwise, of_values};
use super::family::ScalarFamily;
use super::gamma_ratio::log_gamma_ratio;
use super::{Distribution, Outcome};

of_values! {
    /// Hits among a number of trials whose probability is itself a draw of a beta distribution.  For
    /// large `precision` this approaches the binomial distribution without loss of digits.
    BetaBinomial,
    /// Hits among `trials` of mean probability m = 1/(1 + e^−logit), drawn from
    /// Beta(m·precision, (1 − m)·precision).
    with_logit_mean(trials, logit, precision)
}

/// The shapes of the beta distribution and their sum.
struct Shapes<'g> {
    a: Expr<'g>,
    b: Expr<'g>,
    sum: Expr<'g>,
}

impl<'g> BetaBinomial<'g> {
    fn shape_parameters(&self, graph: &'g Graph) -> Shapes<'g> {
        let (logit, sum) = (self.logit.on_graph(graph), self.precision.on_graph(graph));
        // Keeps a mean that has underflowed away from the pole of the gamma function.
        let least = graph.scalar(f64::MIN_POSITIVE);
        Shapes {
            a: (logit.sigmoid() * sum).max(least),
            b: ((-logit).sigmoid() * sum).max(least),
            sum,
        }
    }
}

impl<'g> Distribution<'g> for BetaBinomial<'g> {
    elementwise!(trials: require_count, logit: require_finite, precision: require_positive);

    fn outcome(&self) -> Outcome {
        Outcome::new(&FAMILY, hits_of(&self.trials), None)
    }

    /// ln (n choose y) + ln (a)ᵧ + ln (b)ₙ₋ᵧ − ln (a + b)ₙ, with rising factorials (x)ₖ
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let n = self.trials.on_graph(x.graph());
        let Shapes { a, b, sum } = self.shape_parameters(x.graph());
        let ways = (n + 1.0).lgamma() - (x + 1.0).lgamma() - (n - x + 1.0).lgamma();
        let rising = log_gamma_ratio(a, x) + log_gamma_ratio(b, n - x);
        ways + (rising - log_gamma_ratio(sum, n))
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let mean = self.trials.on_graph(graph) * self.logit.on_graph(graph).sigmoid();
        Some(mean.broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        let (n, p) = (
            self.trials.on_graph(graph),
            self.logit.on_graph(graph).sigmoid(),
        );
        let surplus = (n - 1.0) / (self.precision.on_graph(graph) + 1.0);
        Some(n * p * (1.0 - p) * (surplus + 1.0))
    }
}

pub(super) static FAMILY: ScalarFamily = ScalarFamily {
    name: "BetaBinomial",
    draw: |p, rng| {
        let (a, b) = (sigmoid(p[1]) * p[2], sigmoid(-p[1]) * p[2]);
        let least = f64::MIN_POSITIVE;
        let logit = beta_logit(a.max(least), b.max(least), rng);
        sample_binomial(p[0], sigmoid(logit), rng)
    },
};
