//! A control variate for the data term: each row's second-order expansion at the mode.

use std::sync::Arc;

use lehr_density::{Point, Rows};
use lehr_graph::Expr;

use crate::context::Context;

/// The expansion Σₙ tₙ(z) = L* + g·d + ½ dᵀH d of the log likelihood at z*, d = z − z*, summed
/// over all rows in one pass.
///
/// A mini-batch then estimates only Σₙ (log p(yₙ | z) − tₙ(z)), which is small near the mode.
/// The estimate stays unbiased whatever z* is, and θ may move: both parts use the same rows'
/// expansion, which is built from the model itself by forward derivatives.
#[derive(Clone)]
pub struct Control {
    /// z*
    pub mode: Arc<[f64]>,
    /// L*
    pub value: f64,
    /// g
    pub gradient: Arc<[f64]>,
    /// H, row-major.
    pub hessian: Arc<[f64]>,
    /// θ at which the expansion was taken.
    pub params: Arc<[f64]>,
}

impl Control {
    /// The data term: the expansion of all rows plus `share` times the remainder of `rows`.
    pub(crate) fn data_term<'g>(
        &self,
        context: &Context<'g, '_>,
        at: &Point<'g>,
        rows: &Rows<'g>,
        share: f64,
    ) -> Expr<'g> {
        let density = context.density();
        let size = self.mode.len();
        let mode = context.fixed("control_mode", [size], &self.mode);
        let params = context.fixed("control_params", [self.params.len()], &self.params);
        let offset = at.latents - mode;
        // The expansion moves away from the mode while the direction stays: two names for it.
        let expansion = row_expansion(density, Point::new(mode.anchor(), params), offset, rows);
        let exact = density.log_likelihood(at, rows);
        (exact - expansion).sum() * share + self.whole(context, offset)
    }

    fn whole<'g>(&self, context: &Context<'g, '_>, offset: Expr<'g>) -> Expr<'g> {
        let size = self.mode.len();
        let gradient = context.fixed("control_gradient", [size], &self.gradient);
        let hessian = context.fixed("control_hessian", [size, size], &self.hessian);
        let curved = offset * hessian.dot(offset);
        (offset * gradient).sum() + 0.5 * curved.sum() + self.value
    }
}

/// tₙ(z) = log p(yₙ|z*) + ∂_d log p + ½∂²_d log p, one per row, by two forward derivatives.
fn row_expansion<'g>(
    density: &dyn lehr_density::Density,
    mode: Point<'g>,
    offset: Expr<'g>,
    rows: &Rows<'g>,
) -> Expr<'g> {
    let graph = mode.graph();
    let at_mode = density.log_likelihood(&mode, rows);
    let first = graph.jvp(&[at_mode], &[mode.latents], &[offset])[0];
    let second = graph.jvp(&[first], &[mode.latents], &[offset])[0];
    at_mode + first + 0.5 * second
}
