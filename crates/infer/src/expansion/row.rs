//! The expansion of each row's log likelihood around a point, and its remainder.

use lehr_density::{Density, Point, Rows};
use lehr_graph::Expr;

/// The order of a row's expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaylorOrder {
    First,
    Second,
}

/// log p(yₙ | z) − tₙ(z), one per row: the remainder at `at` of the expansion at `mode`, which is
/// `offset` away.
pub(crate) fn row_remainder<'g>(
    density: &dyn Density,
    [mode, at]: [&Point<'g>; 2],
    rows: &Rows<'g>,
    offset: Expr<'g>,
    order: TaylorOrder,
) -> Expr<'g> {
    let expansion = row_expansion(density, mode, rows, offset, order);
    density.log_likelihood(at, rows) - expansion
}

/// tₙ(z) = log p(yₙ|z*) + ∂_d log p + ½∂²_d log p, one per row, by forward derivatives. The
/// direction d must not be a function of `mode` itself.
pub(crate) fn row_expansion<'g>(
    density: &dyn Density,
    mode: &Point<'g>,
    rows: &Rows<'g>,
    offset: Expr<'g>,
    order: TaylorOrder,
) -> Expr<'g> {
    let graph = mode.graph();
    let at_mode = density.log_likelihood(mode, rows);
    let first = graph.jvp(&[at_mode], &[mode.latents], &[offset])[0];
    if order == TaylorOrder::First {
        return at_mode + first;
    }
    let second = graph.jvp(&[first], &[mode.latents], &[offset])[0];
    at_mode + first + 0.5 * second
}
