//! The evidence lower bound as one expression.

mod control_variate;

pub use control_variate::{ControlVariate, ExactRows};

use lehr_density::Point;
use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use crate::guide::{Context, Gradient, Guide, GuideDraw, RowInput};

/// The objective that is maximised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Objective {
    /// The mean of the lanes' log weights.
    #[default]
    Elbo,
    /// The log of the mean of the lanes' weights, which is tighter with every lane (Burda et al.
    /// 2016).
    ImportanceWeighted,
}

/// The rows that score a draw.
#[derive(Clone)]
pub struct Score {
    /// The rows I of the last line of the algorithms.
    pub rows: RowInput,
    /// Expansion of the data term at the mode, if there is one.
    pub control: Option<ControlVariate>,
}

/// A draw and its log weight, one per lane.
#[derive(Clone, Copy, Debug)]
pub struct WeightedDraw<'g> {
    /// z
    pub latents: Expr<'g>,
    /// log p̂(D, z) − log q, the evidence lower bound of one draw.
    pub log_weight: Expr<'g>,
}

/// The evidence lower bound of one draw. For a chain on a surrogate the mini-batch appears only
/// here, so the estimate is unbiased in the rows.
pub fn weigh<'g>(
    context: &Context<'g, '_>,
    guide: &dyn Guide,
    gradient: Gradient,
    score: &Score,
) -> WeightedDraw<'g> {
    let (weighed, at) = weigh_at(context, guide, gradient);
    WeightedDraw {
        log_weight: weighed.log_weight + data_term(context, guide, &at, score),
        ..weighed
    }
}

/// A draw weighed without its data term, which is added later, one row block after another.
pub(crate) fn weigh_prior<'g>(
    context: &Context<'g, '_>,
    guide: &dyn Guide,
    gradient: Gradient,
) -> WeightedDraw<'g> {
    weigh_at(context, guide, gradient).0
}

fn weigh_at<'g>(
    context: &Context<'g, '_>,
    guide: &dyn Guide,
    gradient: Gradient,
) -> (WeightedDraw<'g>, Point<'g>) {
    let drawn: GuideDraw<'g> = guide.draw(context, gradient);
    let at = context.at(drawn.latents);
    let prior = context.density().log_prior(&at);
    let weighed = WeightedDraw {
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

impl Objective {
    /// One number from the lanes' log weights.
    pub fn of(self, log_weight: Expr<'_>) -> Expr<'_> {
        match self {
            Objective::Elbo => log_weight.mean_lanes(),
            Objective::ImportanceWeighted => {
                // Subtracting and adding the same number only prevents overflow.
                let level = near_largest(log_weight.stop_gradient());
                (log_weight - level).exp().mean_lanes().ln() + level
            }
        }
    }
}

/// A number at most the largest lane and near it, by sums over lanes alone.  T ln mean e^(w/T) lies
/// at most T ln L below the largest of L lanes. With T the standard deviation of the lanes nothing
/// in it can overflow, since no lane is further than √L standard deviations from their mean. Each
/// further round uses the largest T that cannot overflow above the present level.
fn near_largest(log_weight: Expr<'_>) -> Expr<'_> {
    /// Exponents up to this are safe.
    const LARGEST: f64 = 500.0;
    /// Enough for standard deviations of a million nats over a thousand lanes.
    const ROUNDS: usize = 4;
    let mean = log_weight.mean_lanes();
    let mut spread = (log_weight - mean).square().mean_lanes().sqrt() + 1.0;
    let mut level = mean;
    let log_count = log_weight.graph().lane_count().ln() + 1.0;
    for _ in 0..ROUNDS {
        level = ((log_weight - level) / spread).exp().mean_lanes().ln() * spread + level;
        spread = spread * log_count * (1.0 / LARGEST);
    }
    level
}
