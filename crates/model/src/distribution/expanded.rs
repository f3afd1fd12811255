//! Independent copies of a distribution.

use lehr_density::{Family, ResponseKind, Support};
use lehr_graph::{Expr, Graph, Shape};

use super::value::{joined, leading};
use super::{Distribution, ParameterError};

/// A distribution with a larger batch shape, made by [`Distribution::expand`].
#[derive(Clone, Debug)]
pub struct Expanded<D> {
    base: D,
    batch: Shape,
}

impl<D> Expanded<D> {
    pub(super) fn new(base: D, batch: Shape) -> Expanded<D> {
        Expanded { base, batch }
    }

    /// The distribution that was expanded.
    pub fn base(&self) -> &D {
        &self.base
    }
}

impl<'g, D: Distribution<'g>> Expanded<D> {
    fn event(&self) -> Shape {
        let shape = self.base.shape();
        Shape::new(&shape.dims()[self.base.batch_shape().rank()..])
    }
}

impl<'g, D: Distribution<'g>> Distribution<'g> for Expanded<D> {
    fn shape(&self) -> Shape {
        joined(self.batch, self.event())
    }

    fn event_rank(&self) -> usize {
        self.base.event_rank()
    }

    fn kind(&self) -> ResponseKind {
        self.base.kind()
    }

    fn support(&self) -> Option<Support> {
        self.base.support()
    }

    fn log_density(&self, x: Expr<'g>) -> Expr<'g> {
        let density = self.base.log_density(x);
        let batch = leading(x.shape(), self.event_rank());
        match batch.broadcast(self.batch) {
            Some(shape) => density.broadcast(shape),
            None => density.broadcast(self.batch),
        }
    }

    fn mean(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.base.mean(graph)?.broadcast(self.shape()))
    }

    fn variance(&self, graph: &'g Graph) -> Option<Expr<'g>> {
        Some(self.base.variance(graph)?.broadcast(self.shape()))
    }

    fn parameters(&self, graph: &'g Graph) -> Vec<(&'static str, Expr<'g>)> {
        let batch_rank = self.base.batch_shape().rank();
        let repeat = |(name, expr): (&'static str, Expr<'g>)| {
            let own = Shape::new(&expr.shape().dims()[batch_rank..]);
            (name, expr.broadcast(joined(self.batch, own)))
        };
        let parameters = self.base.parameters(graph);
        parameters.into_iter().map(repeat).collect()
    }

    fn family(&self) -> &'static dyn Family {
        self.base.family()
    }

    fn check(&self) -> Result<(), ParameterError> {
        self.base.check()?;
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
