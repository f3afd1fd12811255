//! Independent copies of a distribution.

use lehr_graph::{Expr, Graph, Shape};

use super::value::{join_shapes, leading_shape};
use super::{Distribution, Outcome, ParameterError};

/// A distribution with a larger batch shape, made by [`Distribution::expand`].
#[derive(Clone, Debug)]
pub struct ExpandedDistribution<D> {
    base: D,
    batch: Shape,
}

impl<D> ExpandedDistribution<D> {
    pub(super) fn new(base: D, batch: Shape) -> ExpandedDistribution<D> {
        ExpandedDistribution { base, batch }
    }
}

impl<'g, D: Distribution<'g>> ExpandedDistribution<D> {
    fn event_shape(&self) -> Shape {
        let shape = self.base.value_shape();
        Shape::new(&shape.dims()[self.base.batch_shape().rank()..])
    }
}

impl<'g, D: Distribution<'g>> Distribution<'g> for ExpandedDistribution<D> {
    fn value_shape(&self) -> Shape {
        join_shapes(self.batch, self.event_shape())
    }

    fn event_rank(&self) -> usize {
        self.base.event_rank()
    }

    fn outcome(&self) -> Outcome {
        self.base.outcome()
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let density = self.base.log_density(x);
        let batch = leading_shape(x.shape(), self.event_rank());
        match batch.broadcast(self.batch) {
            Some(shape) => density.broadcast(shape),
            None => density.broadcast(self.batch),
        }
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.base.mean(graph)?.broadcast(self.value_shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.base.variance(graph)?.broadcast(self.value_shape()))
    }

    fn named_parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let batch_rank = self.base.batch_shape().rank();
        let repeat = |(name, expr): (&'static str, Expr<'g>)| {
            let own = Shape::new(&expr.shape().dims()[batch_rank..]);
            (name, expr.broadcast(join_shapes(self.batch, own)))
        };
        let parameters = self.base.named_parameters(graph);
        parameters.into_iter().map(repeat).collect()
    }

    fn check_parameters(&self) -> Result<(), ParameterError> {
        self.base.check_parameters()?;
        let own = self.base.batch_shape();
        if own.broadcast(self.batch) == Some(self.batch) {
            return Ok(());
        }
        Err(ParameterError {
            distribution: self.name(),
            message: format!(
                "expand expects a shape to which {own} broadcasts, found {}",
                self.batch
            ),
            hint: "expand names the whole batch shape, the axes of the parameters included",
        })
    }
}
