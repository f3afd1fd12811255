//! Smooth functions of columns: where they were fitted, and what multiplies or repeats them.

mod centring;
mod induced;
mod learner;
mod plan;
mod projected;
mod shape;

use lehr_formula::{Expr, KernelName, SmoothTerm, TermBasis};
use lehr_model::gp::Kernel;
use serde::{Deserialize, Serialize};

use crate::error::RegressionError;
use crate::source::Source;

pub(crate) use centring::{Centring, row_information};
pub(crate) use induced::InducedPlan;
pub(crate) use learner::SmoothLearner;
pub(crate) use plan::{SmoothPlan, SmoothSites};
pub(crate) use projected::InducedDraws;
pub(crate) use shape::{CURVE, FunctionDraws, dot, even, per_place};

/// A smooth function as it was learnt of the fitted table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Smooth {
    /// `gp(day)`, `gp(lon, lat)`.
    pub(crate) label: String,
    inputs: Vec<Expr>,
    kernel: Kernel,
    period: Option<f64>,
    /// Latents of one function, where they were asked for.
    k: Option<usize>,
    /// From the least to the largest value of each input.
    pub(crate) ranges: Vec<[f64; 2]>,
    by: Dependence,
    /// The inputs of some rows, input after input.
    pub(crate) places: Vec<Vec<f64>>,
    /// How many places are distinct, as far as they were counted.
    distinct: usize,
    /// Whether its latents are values at inducing points.
    pub(crate) is_induced: bool,
}

/// What a smooth function depends on besides its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Dependence {
    Nothing,
    /// It is multiplied by a column, here divided by its root mean square.
    Multiplied {
        column: String,
        scale: f64,
    },
    /// Each level of a column has a function of its own.
    PerLevel(TermBasis),
}

/// The model's columns of a smooth function.
pub(crate) struct SmoothColumns {
    /// The functions of the basis, row after row.
    pub(crate) features: Vec<f64>,
    /// The level of each row, where each has a function of its own.
    pub(crate) levels: Option<Vec<u32>>,
    /// Rows outside the fitted range.
    pub(crate) outside: usize,
}

impl Smooth {
    fn new(term: &SmoothTerm) -> Smooth {
        Smooth {
            label: term.label(),
            inputs: term.inputs.clone(),
            kernel: match term.kernel {
                KernelName::Rbf => Kernel::Rbf,
                KernelName::Matern32 => Kernel::Matern32,
                KernelName::Matern52 => Kernel::Matern52,
            },
            period: term.period,
            k: term.k,
            ranges: Vec::new(),
            by: Dependence::Nothing,
            places: Vec::new(),
            distinct: 0,
            is_induced: term.is_induced(),
        }
    }

    /// The names of its inputs.
    pub(crate) fn input_names(&self) -> Vec<String> {
        self.inputs.iter().map(ToString::to_string).collect()
    }

    /// The levels that have a function each; empty where there is one function.
    pub(crate) fn levels(&self) -> Vec<String> {
        match &self.by {
            Dependence::PerLevel(basis) => basis.factors[0].levels(),
            _ => Vec::new(),
        }
    }

    /// Whether it is one function that is added as it is.
    pub(crate) fn is_plain(&self) -> bool {
        self.by == Dependence::Nothing
    }

    /// The column by which it is multiplied.
    pub(crate) fn multiplier(&self) -> Option<&str> {
        match &self.by {
            Dependence::Multiplied { column, .. } => Some(column),
            _ => None,
        }
    }

    /// By what the multiplier is divided.
    pub(crate) fn multiplier_scale(&self) -> f64 {
        match self.by {
            Dependence::Multiplied { scale, .. } => scale,
            _ => 1.0,
        }
    }

    /// The model's columns for rows of a table. Refuses rows where the function is not defined.
    pub(crate) fn columns(
        &self,
        plan: &SmoothPlan,
        source: &Source<'_>,
    ) -> Result<SmoothColumns, RegressionError> {
        let inputs: Result<Vec<Vec<f64>>, RegressionError> = self
            .inputs
            .iter()
            .map(|input| source.evaluate(input))
            .collect();
        let inputs = inputs?;
        let outside = self.outside(plan, &inputs, source)?;
        let mut features = plan.features(&inputs);
        let mut levels = None;
        match &self.by {
            Dependence::Nothing => {}
            Dependence::Multiplied { column, scale } => {
                let values = source.evaluate(&Expr::Column(column.clone()))?;
                let rows = features.chunks_exact_mut(plan.basis.width());
                for (row, value) in rows.zip(&values) {
                    for one in row {
                        *one *= value / scale;
                    }
                }
            }
            Dependence::PerLevel(basis) => {
                levels = Some(basis.factors[0].codes(&|name| source.read(name))?);
            }
        }
        Ok(SmoothColumns {
            features,
            levels,
            outside,
        })
    }

    /// How many rows lie outside the fitted range. Refuses rows beyond the walls of the basis.
    fn outside(
        &self,
        plan: &SmoothPlan,
        inputs: &[Vec<f64>],
        source: &Source<'_>,
    ) -> Result<usize, RegressionError> {
        let mut outside = vec![false; source.n_rows()];
        for ((axis, values), input) in plan.basis.axes().iter().zip(inputs).zip(&self.inputs) {
            let Some(boundary) = axis.boundary else {
                continue;
            };
            let reach = boundary * axis.unit;
            for (row, value) in values.iter().enumerate() {
                let at = axis.place(*value).abs();
                if at > boundary {
                    let row = source.first + row + 1;
                    let (low, high) = (axis.centre - reach, axis.centre + reach);
                    return Err(beyond(&self.label, input, row, *value, [low, high]));
                }
                // The ends themselves may be a rounding away from 1.
                outside[row] |= at > 1.0 + 1e-9;
            }
        }
        Ok(outside.iter().filter(|is_outside| **is_outside).count())
    }
}

fn beyond(
    label: &str,
    input: &Expr,
    row: usize,
    value: f64,
    [low, high]: [f64; 2],
) -> RegressionError {
    use crate::law::short;
    RegressionError::Column {
        at: format!("{label}, row {row}"),
        expected: format!("{input} from {} to {}", short(low), short(high)),
        found: value.to_string(),
        hint: "so far from the fitted rows the function is not known: leave such rows out, or fit with rows of that kind".into(),
    }
}
