//! The point at which effects are drawn, and the draws.

use super::best::{Problem, Theta};
use super::cross::Effects;
use super::curve::Grids;
use super::gap::Local;

/// The point at which effects are drawn: a θ, the mean there, and the block A.
pub(super) struct Drawing<'a> {
    pub(super) problem: Problem<'a>,
    pub(super) at: Theta<'a>,
    pub(super) mean: &'a Effects,
    pub(super) local: &'a Local,
    pub(super) grids: &'a Grids,
}

/// F = L_g⁻ᵀ of every group of A.
pub(super) struct Roots {
    pub(super) values: Vec<f64>,
    /// Σ ln |F|
    pub(super) volume: f64,
}

/// Effects with the log of their weight, without that of θ.
pub(super) struct Weighed {
    pub(super) effects: Effects,
    pub(super) log_weight: f64,
}
