//! The evidence lower bound as one expression.

use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use crate::context::{Context, Feed};
use crate::control::Control;
use crate::guide::{Drawn, Gradient, Guide};

/// What is maximised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Objective {
    /// The mean of the lanes' log weights.
    #[default]
    Elbo,
    /// The log of the mean of the lanes' weights: tighter with every lane (Burda et al. 2016).
    ImportanceWeighted,
}

/// Which rows score a draw.
#[derive(Clone)]
pub struct Score {
    /// The rows I of the last line of the algorithms.
    pub rows: Feed,
    /// Expansion of the data term at the mode, if there is one.
    pub control: Option<Control>,
}

/// A draw and its log weight, one per lane.
#[derive(Clone, Copy, Debug)]
pub struct Weighed<'g> {
    /// z
    pub latents: Expr<'g>,
    /// log p̂(D, z) − log q, the evidence lower bound of one draw.
    pub log_weight: Expr<'g>,
}

/// The evidence lower bound of one draw. The mini-batch enters here and nowhere else for a
/// chain that ran on a surrogate, so the estimate is unbiased in the rows.
pub fn weigh<'g>(
    context: &Context<'g, '_>,
    guide: &dyn Guide,
    gradient: Gradient,
    score: &Score,
) -> Weighed<'g> {
    let Drawn {
        latents,
        log_weight,
    } = guide.draw(context, gradient);
    let density = context.density();
    let prior = density.log_prior(&context.at(latents));
    let data = data_term(context, latents, score);
    Weighed {
        latents,
        log_weight: log_weight + prior + data,
    }
}

/// (N/B) Σ over the rows of log p(yₙ | z, xₙ), by way of the expansion if there is one.
fn data_term<'g>(context: &Context<'g, '_>, latents: Expr<'g>, score: &Score) -> Expr<'g> {
    let density = context.density();
    let rows = context.rows("score", &score.rows);
    let share = density.n_rows() as f64 / rows.len() as f64;
    match &score.control {
        Some(control) => control.data_term(context, latents, &rows, share),
        None => density.log_likelihood(&context.at(latents), &rows).sum() * share,
    }
}

impl Objective {
    /// One number from the lanes' log weights.
    pub fn of<'g>(self, log_weight: Expr<'g>) -> Expr<'g> {
        match self {
            Objective::Elbo => log_weight.mean_lanes(),
            Objective::ImportanceWeighted => {
                // Subtracting any number and adding it back changes nothing but overflow.
                let level = log_weight.stop_gradient().mean_lanes();
                (log_weight - level).exp().mean_lanes().ln() + level
            }
        }
    }
}
