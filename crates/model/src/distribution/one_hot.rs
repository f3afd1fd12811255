//! Selects entries of an axis by outcomes.

use lehr_graph::Expr;

/// The entry of `table`'s last axis at each place. `table` is shared (one axis) or has the
/// axes of `places` before its last. Places outside the axis give zero.
pub(super) fn pick_entries<'g>(table: Expr<'g>, places: Expr<'g>) -> Expr<'g> {
    let shape = table.shape();
    let length = shape.dims().last().copied().unwrap_or(1);
    let graph = places.graph();
    let column = [places.shape().dims(), &[1]].concat();
    let hit = places.reshape(&column[..]).equal(graph.iota(length));
    let chosen = hit.select(table, graph.scalar(0.0));
    chosen.sum_axis(chosen.shape().rank() - 1)
}
