//! A control variate for the data term: each row's expansion at the mode.

use std::sync::Arc;

use lehr_density::{Density, Point, Rows};
use lehr_graph::Expr;

use super::{Score, Task, TrainSettings};
use crate::guide::{Context, Guide, Learned};
use crate::surrogate::FixedRows;
use lehr_numeric::batch::BatchError;

/// The expansion Σₙ tₙ(z) = L* + g·d + ½ dᵀH d of the log likelihood at z*, d = z − z*, summed
/// over all rows in one pass.
///
/// A mini-batch then estimates only Σₙ (log p(yₙ | z) − tₙ(z)), which is small near the mode.
/// To first order (without H) what is left is of the size of the posterior's own spread, and
/// costs no product with a matrix: for models with many latents.
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
    /// H, row-major; `None` for an expansion to first order.
    pub hessian: Option<Arc<[f64]>>,
    /// θ at which the expansion was taken.
    pub params: Arc<[f64]>,
    /// Rows whose remainder is not estimated but summed.
    pub summed: Option<Summed>,
}

/// The purpose of the batches that score a step.
pub(crate) const SCORE: &str = "score";

/// Rows that enter every step, besides its batch.
///
/// Where a few rows have nearly all of the remainder, a batch that has one of them by chance
/// would count it N/B times.
#[derive(Clone)]
pub struct Summed {
    /// Their numbers in batches, increasing.
    numbers: Arc<[usize]>,
    rows: FixedRows,
}

impl Summed {
    /// These rows, by their increasing numbers in batches.
    ///
    /// # Panics
    /// If a row is outside the table.
    pub fn new(density: &dyn Density, numbers: &[usize]) -> Summed {
        Summed {
            rows: FixedRows::in_batch_order(density, numbers),
            numbers: numbers.into(),
        }
    }
}

impl Control {
    /// The data term: the expansion of all rows plus N/B times what is left of `rows`.
    pub(crate) fn data_term<'g>(
        &self,
        context: &Context<'g, '_>,
        guide: &dyn Guide,
        at: &Point<'g>,
        rows: &Rows<'g>,
    ) -> Expr<'g> {
        let density = context.density();
        let share = density.n_rows() as f64 / rows.len() as f64;
        let size = self.mode.len();
        let mode = context.fixed("control_mode", [size], &self.mode);
        let params = context.fixed("control_params", [self.params.len()], &self.params);
        let offset = at.latents - mode;
        // The expansion moves away from the mode while the direction stays: two names for it.
        let at_mode = Point::new(mode.anchor(), params);
        let remainder = |rows: &Rows<'g>| {
            let expansion = row_expansion(density, &at_mode, rows, offset, self.order());
            guide.log_likelihood(context, at, rows) - expansion
        };
        let left = remainder(rows);
        let whole = self.whole(context, offset);
        let Some(summed) = &self.summed else {
            return left.sum() * share + whole;
        };
        let others = context.others(SCORE, rows.len(), &summed.numbers);
        let exact = remainder(&summed.rows.rows(context)).sum();
        (left * others).sum() * share + exact + whole
    }

    fn order(&self) -> Order {
        match self.hessian {
            Some(_) => Order::Second,
            None => Order::First,
        }
    }

    fn whole<'g>(&self, context: &Context<'g, '_>, offset: Expr<'g>) -> Expr<'g> {
        let size = self.mode.len();
        let gradient = context.fixed("control_gradient", [size], &self.gradient);
        let linear = (offset * gradient).sum() + self.value;
        match &self.hessian {
            None => linear,
            Some(hessian) => {
                let hessian = context.fixed("control_hessian", [size, size], hessian);
                linear + 0.5 * (offset * hessian.dot(offset)).sum()
            }
        }
    }
}

/// How far each row is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    First,
    Second,
}

/// log p(yₙ | z) − tₙ(z), one per row: what the expansion at `mode` leaves out at `at`, which is
/// `offset` away from it.
pub(crate) fn row_remainder<'g>(
    density: &dyn Density,
    [mode, at]: [&Point<'g>; 2],
    rows: &Rows<'g>,
    offset: Expr<'g>,
    order: Order,
) -> Expr<'g> {
    let expansion = row_expansion(density, mode, rows, offset, order);
    density.log_likelihood(at, rows) - expansion
}

/// tₙ(z) = log p(yₙ|z*) + ∂_d log p + ½∂²_d log p, one per row, by forward derivatives. The
/// direction d must not be a function of `mode` itself.
fn row_expansion<'g>(
    density: &dyn Density,
    mode: &Point<'g>,
    rows: &Rows<'g>,
    offset: Expr<'g>,
    order: Order,
) -> Expr<'g> {
    let graph = mode.graph();
    let at_mode = density.log_likelihood(mode, rows);
    let first = graph.jvp(&[at_mode], &[mode.latents], &[offset])[0];
    if order == Order::First {
        return at_mode + first;
    }
    let second = graph.jvp(&[first], &[mode.latents], &[offset])[0];
    at_mode + first + 0.5 * second
}

/// What the control variate of a task gains: the variance of a step's gradient, summed over the
/// learned quantities, relative to that without it. Draws vary as well as rows in both, as they
/// do in training.
///
/// # Errors
/// If a batch is larger than the table.
pub fn variance_ratio(
    task: &Task<'_>,
    learned: &Learned,
    settings: &TrainSettings,
) -> Result<f64, BatchError> {
    let plain = Score {
        control: None,
        ..task.score.clone()
    };
    let without = Task {
        score: &plain,
        ..*task
    };
    Ok(gradient_variance(task, learned, settings)?
        / gradient_variance(&without, learned, settings)?)
}

fn gradient_variance(
    task: &Task<'_>,
    learned: &Learned,
    settings: &TrainSettings,
) -> Result<f64, BatchError> {
    const STEPS: u32 = 32;
    let mut program = task.program(learned, settings)?;
    program.set_learned(&learned.values);
    let size = learned.values.len();
    let (mut slope, mut mean, mut squares) = (vec![0.0; size], vec![0.0; size], 0.0);
    for step in 0..STEPS {
        program.fill(task.density.source(), step.into());
        program.run();
        program.gather(1..=learned.blocks().len(), &mut slope);
        // Welford's update, all quantities at once.
        for (mean, slope) in mean.iter_mut().zip(&slope) {
            let before = slope - *mean;
            *mean += before / f64::from(step + 1);
            squares += before * (slope - *mean);
        }
    }
    Ok(squares / f64::from(STEPS - 1))
}
