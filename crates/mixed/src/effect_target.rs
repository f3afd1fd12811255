//! The target of draws of the effects, and weighted draws.

use crate::cross_products::Effects;
use crate::group_grid::GridNodes;
use crate::group_integral::GroupRows;
use crate::variational_gaussian::{EffectProblem, ThetaPrior};

/// The point at which effects are drawn: a θ, the mean there, and the block A.
pub(crate) struct EffectTarget<'a> {
    pub(crate) problem: EffectProblem<'a>,
    pub(crate) at: ThetaPrior<'a>,
    pub(crate) mean: &'a Effects,
    pub(crate) group_rows: &'a GroupRows,
    pub(crate) grids: &'a GridNodes,
}

/// F = L_g⁻ᵀ of every group of A.
pub(crate) struct GroupRoots {
    pub(crate) values: Vec<f64>,
    /// Σ ln |F|
    pub(crate) volume: f64,
}

/// Effects with the log of their weight, without that of θ.
pub(crate) struct WeightedEffects {
    pub(crate) effects: Effects,
    pub(crate) log_weight: f64,
}
