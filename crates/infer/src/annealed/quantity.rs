//! The chain's learned quantities: step sizes, temperatures, refreshment, momentum variance.

use lehr_graph::Expr;
use serde::{Deserialize, Serialize};

use crate::guide::{Block, Context};

/// η_max, the largest step size.
pub const MAX_STEP_SIZE: f64 = 0.25;

/// The coordinates of the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Momentum {
    /// The coordinates of the latents, with a learned diagonal momentum variance: the paper's form.
    Diagonal,
    /// Coordinates in which q₀ is standard normal: the momentum variance is the precision of q₀
    /// times a learned diagonal, so that ill-conditioned posteriors need no tuning. A base without a
    /// square factor (low rank) keeps the coordinates of the latents.
    #[default]
    Whitened,
}

/// The starting values of the chain's quantities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnnealedStart {
    /// η̃, the step size before its growth with temperature.
    pub step_size: f64,
    /// κ, the growth of the step size with the inverse temperature.
    pub step_growth: f64,
    /// γ, the share of the momentum that survives a step.
    pub refreshment: f64,
    /// The diagonal of M: a variance, v ~ N(0, M).
    pub momentum_variance: f64,
    /// η_max.
    pub max_step_size: f64,
}

impl Default for AnnealedStart {
    fn default() -> Self {
        AnnealedStart {
            step_size: 1e-2,
            step_growth: 0.0,
            refreshment: 0.9,
            momentum_variance: 1.0,
            max_step_size: MAX_STEP_SIZE,
        }
    }
}

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

impl AnnealedStart {
    pub(crate) fn blocks(&self, size: usize, steps: usize) -> Vec<Block> {
        let share = logit(self.step_size / self.max_step_size);
        vec![
            Block::filled("step_size", &[], share),
            Block::filled("step_growth", &[], self.step_growth),
            Block::filled("temperature_increments", &[steps], 0.0),
            Block::filled("refreshment", &[], logit(self.refreshment)),
            Block::filled(
                "momentum_log_variance",
                &[size],
                self.momentum_variance.ln(),
            ),
        ]
    }
}

/// The chain's quantities on their own scales, as expressions.
pub(crate) struct Quantities<'g> {
    step_size: Expr<'g>,
    step_growth: Expr<'g>,
    max_step_size: f64,
    /// β₁ < … < β_K = 1
    inverse_temperatures: Expr<'g>,
    /// γ
    pub(crate) kept: Expr<'g>,
    /// √(1 − γ²)
    pub(crate) renewed: Expr<'g>,
    /// M^(−½): the momentum is kept in units of its own standard deviation, p = M^(−½) v, in
    /// which the drift M⁻¹v is M^(−½)p and a kick by g is M^(−½)g.
    pub(crate) per_deviation: Expr<'g>,
}

impl<'g> Quantities<'g> {
    pub(crate) fn new(
        start: &AnnealedStart,
        context: &Context<'g, '_>,
        size: usize,
        steps: usize,
    ) -> Quantities<'g> {
        let blocks = start.blocks(size, steps);
        let learned: Vec<Expr<'g>> = blocks.iter().map(|b| context.learned(b)).collect();
        Quantities::of(&learned, start.max_step_size)
    }

    /// The quantities from these learned blocks, in their order.
    pub(crate) fn of(learned: &[Expr<'g>], max_step_size: f64) -> Quantities<'g> {
        let cumulative = learned[2].exp().cumulative_sum();
        let kept = learned[3].sigmoid();
        Quantities {
            step_size: max_step_size * learned[0].sigmoid(),
            step_growth: learned[1],
            max_step_size,
            inverse_temperatures: cumulative / cumulative.entry(cumulative.shape().size() - 1),
            kept,
            renewed: (1.0 - kept.square()).sqrt(),
            per_deviation: (learned[4] * -0.5).exp(),
        }
    }

    /// β_k
    pub(crate) fn inverse_temperature(&self, k: usize) -> Expr<'g> {
        self.inverse_temperatures.entry(k)
    }

    /// η_k = clip(η̃ + κβ_k, 0, η_max)
    pub(crate) fn step_size(&self, beta: Expr<'g>) -> Expr<'g> {
        (self.step_size + self.step_growth * beta).clip(0.0, self.max_step_size)
    }
}
