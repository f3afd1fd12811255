//! The categorical distribution.

use lehr_density::{Family, ResponseKind};
use lehr_graph::{Expr, Graph, Shape};
use rand::Rng;

use super::check::ParameterCheck;
use super::draw::sample_uniform;
use super::elementwise::of_values;
use super::one_hot::pick_entries;
use super::value::leading_shape;
use super::{Distribution, Outcome, ParameterError};

of_values! {
    /// One of the outcomes 0, 1, …, C − 1, which are labels and have no mean.
    Categorical,
    /// Outcomes with probabilities proportional to e^logit along the last axis: `[C]` for all
    /// rows or `[n, C]` for each.
    with_logits(logits)
}

impl Categorical<'_> {
    fn categories(&self) -> usize {
        self.logits.shape().dims().last().copied().unwrap_or(0)
    }
}

impl<'g> Distribution<'g> for Categorical<'g> {
    fn value_shape(&self) -> Shape {
        leading_shape(self.logits.shape(), 1)
    }

    fn outcome(&self) -> Outcome {
        Outcome::new(
            &CategoricalFamily,
            ResponseKind::Category(self.categories()),
            None,
        )
    }

    /// logit of the outcome − ln Σ e^logit
    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let logits = self.logits.on_graph(x.graph());
        let Some(last) = logits.shape().rank().checked_sub(1) else {
            return x.graph().full(x.shape(), f64::NAN);
        };
        pick_entries(logits, x) - logits.log_sum_exp(last)
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        vec![("logits", self.logits.on_graph(graph))]
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        let check =
            ParameterCheck::for_distribution(self.name()).require_finite("logits", &self.logits);
        match self.categories() {
            0 | 1 => check.add_error(
                format!(
                    "logits must end in an axis of at least 2 outcomes, found shape {}",
                    self.logits.shape()
                ),
                "one logit per outcome, along the last axis",
            ),
            _ => check,
        }
        .into_result()
    }
}

pub(super) struct CategoricalFamily;

impl Family for CategoricalFamily {
    fn name(&self) -> &'static str {
        "Categorical"
    }

    fn draw_value(&self, parameters: &[&[f64]], rng: &mut dyn Rng, out: &mut [f64]) {
        let logits = parameters[0];
        let peak = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = logits.iter().map(|l| (l - peak).exp()).sum();
        let mut rest = sample_uniform(rng) * total;
        let passed = logits.iter().take_while(|&l| {
            rest -= (l - peak).exp();
            rest > 0.0
        });
        let place = passed.count().min(logits.len().saturating_sub(1));
        out[0] = if total.is_finite() {
            place as f64
        } else {
            f64::NAN
        };
    }

    fn category_probabilities(&self, parameters: &[&[f64]], into: &mut [f64]) {
        let logits = parameters[0];
        let peak = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = logits.iter().map(|l| (l - peak).exp()).sum();
        for (probability, logit) in into.iter_mut().zip(logits) {
            *probability = (logit - peak).exp() / total;
        }
    }
}
