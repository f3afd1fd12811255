//! A control variate for the data term: each row's expansion at the mode.

use std::sync::Arc;

use lehr_density::job::{LikelihoodGradient, all_rows};
use lehr_density::{Density, Point, Rows};
use lehr_graph::Expr;
use lehr_rows::{RowsError, fold};

use crate::expansion::{Curvature, ExpansionPoint, TaylorOrder, row_expansion};
use crate::guide::{Context, Guide};
use crate::program::SCORE;
use crate::surrogate::FixedRows;

/// The expansion Σₙ tₙ(z) = L* + g·d + ½ dᵀH d of the log likelihood at z*, d = z − z*, summed over
/// all rows in one pass.  A mini-batch then estimates only Σₙ (log p(yₙ | z) − tₙ(z)), which is
/// small near the mode. To first order (without H) the remainder is of the size of the posterior's
/// standard deviations, and needs no product with a matrix: for models with many latents. The
/// estimate stays unbiased for any z*, and θ may change: both parts use the same rows' expansion,
/// which is built from the model itself by forward derivatives.
#[derive(Clone)]
pub struct ControlVariate {
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
    /// Rows whose remainder is summed instead of estimated.
    pub summed: Option<ExactRows>,
}

/// Rows that are part of every step, in addition to its batch.
///
/// If a few rows have nearly all of the remainder, a batch that contains one of them by chance
/// would count it N/B times.
#[derive(Clone)]
pub struct ExactRows {
    /// Their numbers in batches, increasing.
    numbers: Arc<[usize]>,
    rows: FixedRows,
}

impl ExactRows {
    /// These rows, by their increasing numbers in batches.
    ///
    /// # Panics
    /// If a row is outside the table.
    pub fn new(density: &dyn Density, numbers: &[usize]) -> ExactRows {
        ExactRows {
            rows: FixedRows::in_batch_order(density, numbers),
            numbers: numbers.into(),
        }
    }
}

impl ControlVariate {
    /// To first order around a centre, by one pass.
    ///
    /// # Errors
    /// If rows cannot be reached.
    pub fn first_order(
        centre: &ExpansionPoint,
        density: &dyn Density,
    ) -> Result<ControlVariate, RowsError> {
        let job = LikelihoodGradient::new(density, &centre.latents, &centre.params);
        let sums = fold(&*all_rows(density), &job)?;
        Ok(ControlVariate {
            mode: centre.latents.as_slice().into(),
            value: sums.value,
            gradient: sums.latents.into(),
            hessian: None,
            params: centre.params.as_slice().into(),
            summed: None,
        })
    }

    /// To second order around a centre.
    pub fn second_order(centre: &ExpansionPoint, curvature: &Curvature) -> ControlVariate {
        ControlVariate {
            mode: centre.latents.as_slice().into(),
            value: curvature.log_likelihood,
            gradient: curvature.gradient.as_slice().into(),
            hessian: Some(curvature.hessian.as_slice().into()),
            params: Arc::from(centre.params.as_slice()),
            summed: None,
        }
    }

    /// The data term: the expansion of all rows plus N/B times the remainder of `rows`.
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
        // Two separate nodes, because the expansion is differentiated at the mode while the
        // direction stays fixed.
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

    fn order(&self) -> TaylorOrder {
        match self.hessian {
            Some(_) => TaylorOrder::Second,
            None => TaylorOrder::First,
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
