//! The common part of ordered outcomes, for any noise distribution.

use lehr_graph::{Expr, Graph, Shape};

use super::check::Check;
use super::value::joined;
use super::{ParameterError, Value};

/// A predictor, and the ascending cutpoints.
#[derive(Clone, Debug)]
pub(super) struct Cut<'g> {
    pub(super) predictor: Value<'g>,
    pub(super) cutpoints: Value<'g>,
}

impl<'g> Cut<'g> {
    /// The number of cutpoints: one less than that of outcomes.
    pub(super) fn count(&self) -> usize {
        self.cutpoints.shape().size()
    }

    /// Σ weight(k) P(y > k), where `exceed` gives that probability from the predictor less the
    /// cutpoint.
    pub(super) fn weighted(
        &self,
        graph: &'g Graph,
        exceed: fn(Expr<'g>) -> Expr<'g>,
        weight: fn(f64) -> f64,
    ) -> Expr<'g> {
        let weights: Vec<f64> = (0..self.count()).map(|k| weight(k as f64)).collect();
        let predictor = self.predictor.on(graph);
        let column = joined(predictor.shape(), Shape::from([1]));
        let beyond = exceed(predictor.reshape(column) - self.cutpoints.on(graph));
        let terms = beyond * graph.constant([self.count()], &weights);
        terms.sum_axis(terms.shape().rank() - 1)
    }

    /// E y = Σ P(y > k)
    pub(super) fn mean(&self, graph: &'g Graph, exceed: fn(Expr<'g>) -> Expr<'g>) -> Expr<'g> {
        self.weighted(graph, exceed, |_| 1.0)
    }

    /// y² = Σ (2k + 1) over k < y
    pub(super) fn variance(&self, graph: &'g Graph, exceed: fn(Expr<'g>) -> Expr<'g>) -> Expr<'g> {
        let square = self.weighted(graph, exceed, |k| 2.0 * k + 1.0);
        square - self.mean(graph, exceed).square()
    }

    /// The parameters in the form in which distributions list them.
    pub(super) fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let cutpoints = self.cutpoints.on(graph);
        let shape = joined(self.predictor.shape(), cutpoints.shape());
        vec![
            ("predictor", self.predictor.on(graph)),
            ("cutpoints", cutpoints.broadcast(shape)),
        ]
    }

    /// Refuses cutpoints that are not an ascending vector.
    pub(super) fn check(&self, name: &'static str) -> Result<(), ParameterError> {
        let check = Check::of(name).finite("predictor", &self.predictor);
        let found = self.cutpoints.shape();
        if found.rank() != 1 || found.size() == 0 {
            let message = format!("cutpoints must be a vector, found shape {found}");
            return check.fail(message, "one cut less than outcomes").done();
        }
        let cuts = self.cutpoints.constants();
        match cuts
            .windows(2)
            .find(|w| w[0].partial_cmp(&w[1]) != Some(std::cmp::Ordering::Less))
        {
            Some(w) => check.fail(
                format!("cutpoints must rise, found {} before {}", w[0], w[1]),
                "",
            ),
            None => check,
        }
        .done()
    }
}

/// The outcome for a latent number: how many cutpoints it exceeds.
pub(super) fn outcome(latent: f64, cutpoints: &[f64]) -> f64 {
    let passed = cutpoints.iter().filter(|&&cut| latent > cut).count();
    if latent.is_nan() {
        f64::NAN
    } else {
        passed as f64
    }
}
