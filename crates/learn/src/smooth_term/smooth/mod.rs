//! Gaussian-process terms: their fitted range, multipliers and periods.

mod learner;

use lehr_formula::{ColumnExpr, KernelName, SmoothTerm, TermBasis};
use serde::{Deserialize, Serialize};

use crate::error::LearnError;

use learner::MOST_PLACES;
pub(crate) use learner::SmoothLearner;

/// A Gaussian-process term with the constants learned from the fitted table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Smooth {
    /// `gp(day)`, `gp(lon, lat)`.
    pub label: String,
    /// The inputs of the function.
    pub inputs: Vec<ColumnExpr>,
    /// The kernel of its covariance.
    pub kernel: KernelName,
    /// The period of a periodic kernel.
    pub period: Option<f64>,
    /// The number of latents of one function, if it was given.
    pub k: Option<usize>,
    /// The smallest and the largest value of each input.
    pub ranges: Vec<[f64; 2]>,
    /// The multiplier or the levels, if any.
    pub by: Dependence,
    /// The inputs of some rows, input after input.
    pub places: Vec<Vec<f64>>,
    /// The number of distinct places, up to the counting limit.
    pub distinct: usize,
    /// Whether its latents are values at inducing points.
    pub is_induced: bool,
}

/// The column that a Gaussian process depends on besides its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Dependence {
    /// It depends on nothing else.
    Nothing,
    /// A multiplying column, divided by its root mean square.
    Multiplied {
        /// The column.
        column: String,
        /// Its root mean square.
        scale: f64,
    },
    /// Each level of a column has its own function.
    PerLevel(TermBasis),
}

impl Smooth {
    fn new(term: &SmoothTerm) -> Smooth {
        Smooth {
            label: term.term_label(),
            inputs: term.inputs.clone(),
            kernel: term.kernel,
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
    pub fn input_names(&self) -> Vec<String> {
        self.inputs.iter().map(ToString::to_string).collect()
    }

    /// The levels with a function each; empty if there is one function.
    pub fn levels(&self) -> Vec<String> {
        match &self.by {
            Dependence::PerLevel(basis) => basis.factors[0].level_names(),
            _ => Vec::new(),
        }
    }

    /// Whether it is one function without a multiplier.
    pub fn is_plain(&self) -> bool {
        self.by == Dependence::Nothing
    }

    /// The column that multiplies it.
    pub fn multiplier(&self) -> Option<&str> {
        match &self.by {
            Dependence::Multiplied { column, .. } => Some(column),
            _ => None,
        }
    }

    /// The divisor of the multiplier.
    pub fn multiplier_scale(&self) -> f64 {
        match self.by {
            Dependence::Multiplied { scale, .. } => scale,
            _ => 1.0,
        }
    }

    /// The function by inducing points, and all others.
    pub fn parted(smooths: Vec<Smooth>) -> Result<(Option<Smooth>, Vec<Smooth>), LearnError> {
        let (mut induced, others): (Vec<Smooth>, Vec<Smooth>) =
            smooths.into_iter().partition(|smooth| smooth.is_induced);
        let one = induced.pop();
        if let (Some(one), Some(other)) = (&one, induced.pop()) {
            return Err(LearnError::column(
                &one.label,
                "at most one function by inducing points",
                format!("{} as well", other.label),
                "write how = basis for functions of one or two columns, or one function of all columns",
            ));
        }
        Ok((one, others))
    }

    /// The same with as few of the rows behind the inducing points as a plot needs.
    pub fn with_few_places(mut self) -> Smooth {
        let every = self.places[0].len().div_ceil(MOST_PLACES).max(1);
        for own in &mut self.places {
            *own = own.iter().step_by(every).copied().collect();
        }
        self
    }

    /// The names under which a lengthscale can have a prior, the most specific first, and the name
    /// under which it is reported.
    pub fn lengthscale_names(&self) -> Vec<Vec<String>> {
        let shared = format!("{}.lengthscale", self.label);
        match self.inputs.len() {
            1 => vec![vec![shared]],
            _ => (self.inputs.iter())
                .map(|input| vec![format!("{shared}[{input}]"), shared.clone()])
                .collect(),
        }
    }

    /// The name of its scale.
    pub fn scale_name(&self) -> String {
        format!("{}.scale", self.label)
    }

    /// The units of lengthscales: half the range of each column, or half the period.
    pub fn units(&self) -> Vec<f64> {
        match self.period {
            Some(period) => vec![0.5 * period],
            None => (self.ranges.iter())
                .map(|[low, high]| 0.5 * (high - low))
                .collect(),
        }
    }
}
