//! The evidence lower bound as one expression.

mod control_variate;

pub use control_variate::{ControlVariate, ExactRows};

use lehr_density::Point;
use lehr_graph::Expr;

use crate::guide::{Context, Guide, GuideDraw, RowInput};

/// The rows that score a draw.
#[derive(Clone)]
pub struct Score {
    /// The rows I of the last line of the algorithms.
    pub rows: RowInput,
    /// Expansion of the data term at the mode, if there is one.
    pub control: Option<ControlVariate>,
}

/// A draw z, weighed by log p̂(D, z) − log q: the evidence lower bound of one draw. For a chain on a
/// surrogate the mini-batch appears only here, so the estimate is unbiased in the rows.
pub fn weigh<'g>(context: &Context<'g, '_>, guide: &dyn Guide, score: &Score) -> GuideDraw<'g> {
    let (weighed, at) = weigh_prior(context, guide);
    GuideDraw {
        log_weight: weighed.log_weight + data_term(context, guide, &at, score),
        ..weighed
    }
}

/// A draw weighed without its data term, which is added later, one row block after another; and the
/// point of the draw.
pub(crate) fn weigh_prior<'g>(
    context: &Context<'g, '_>,
    guide: &dyn Guide,
) -> (GuideDraw<'g>, Point<'g>) {
    let drawn = guide.draw(context);
    let at = context.at(drawn.latents);
    let prior = context.density().log_prior(&at);
    let weighed = GuideDraw {
        latents: at.latents,
        log_weight: drawn.log_weight + context.whitening().log_volume() + prior,
    };
    (weighed, at)
}

/// (N/B) times the sum of the rows' scores, with the control variate if there is one.
fn data_term<'g>(
    context: &Context<'g, '_>,
    guide: &dyn Guide,
    at: &Point<'g>,
    score: &Score,
) -> Expr<'g> {
    let rows = context.rows("score", &score.rows);
    if let Some(control) = &score.control {
        return control.data_term(context, guide, at, &rows);
    }
    let share = context.density().n_rows() as f64 / rows.len() as f64;
    guide.log_likelihood(context, at, &rows).sum() * share
}
