//! One of two arrays, element by element.

use super::layout::at_broadcast;
use super::{Application, Event, Op};
use crate::expr::Expr;
use crate::shape::Shape;
use crate::simplify;

impl<'g> Expr<'g> {
    /// `a` where `self` is not zero, else `b`. Neither arm's slope leaks into the other.
    #[must_use]
    #[track_caller]
    pub fn select(self, a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
        let shape = self
            .shape()
            .broadcast(a.shape())
            .and_then(|s| s.broadcast(b.shape()));
        let Some(shape) = shape else {
            return self.graph().fail(format!(
                "select: shapes {}, {} and {} do not broadcast",
                self.shape(),
                a.shape(),
                b.shape()
            ));
        };
        simplify::simplify_select(self, a, b, shape)
            .unwrap_or_else(|| self.graph().build(Op::Select, &[self, a, b], shape))
    }
}

pub(super) fn pullback<'g>(
    site: &Application<'_, 'g>,
    adjoint: Expr<'g>,
    k: usize,
) -> Option<Expr<'g>> {
    let zero = adjoint.graph().scalar(0.0);
    let condition = site.inputs[0];
    let chosen = match k {
        1 => condition.select(adjoint, zero),
        2 => condition.select(zero, adjoint),
        _ => return None,
    };
    let whole = chosen.broadcast(site.out.shape());
    Some(whole.sum_to(site.inputs[k].shape()))
}

pub(super) fn pushforward<'g>(
    site: &Application<'_, 'g>,
    tangents: &[Option<Expr<'g>>],
) -> Option<Expr<'g>> {
    if tangents[1].is_none() && tangents[2].is_none() {
        return None;
    }
    let zero = site.out.graph().scalar(0.0);
    let (a, b) = (tangents[1].unwrap_or(zero), tangents[2].unwrap_or(zero));
    Some(site.inputs[0].select(a, b).broadcast(site.out.shape()))
}

pub(super) fn reference_values(inputs: &[Event<'_>], shape: Shape) -> Vec<f64> {
    let pick = |i| match at_broadcast(inputs[0], shape, i) {
        0.0 => at_broadcast(inputs[2], shape, i),
        _ => at_broadcast(inputs[1], shape, i),
    };
    (0..shape.size()).map(pick).collect()
}
