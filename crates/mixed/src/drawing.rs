//! The point at which effects are drawn, and the draws.

use crate::best::{Problem, Theta};
use crate::cross::Effects;
use crate::curve::Grids;
use crate::gap::Local;

/// The point at which effects are drawn: a θ, the mean there, and the block A.
pub(crate) struct Drawing<'a> {
    pub(crate) problem: Problem<'a>,
    pub(crate) at: Theta<'a>,
    pub(crate) mean: &'a Effects,
    pub(crate) local: &'a Local,
    pub(crate) grids: &'a Grids,
}

/// F = L_g⁻ᵀ of every group of A.
pub(crate) struct Roots {
    pub(crate) values: Vec<f64>,
    /// Σ ln |F|
    pub(crate) volume: f64,
}

/// Effects with the log of their weight, without that of θ.
pub(crate) struct Weighed {
    pub(crate) effects: Effects,
    pub(crate) log_weight: f64,
}
