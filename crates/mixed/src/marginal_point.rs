//! The marginal density at one θ, and the effects there.

use crate::cross_products::Effects;
use crate::group_integral::MeasuredGaps;
use crate::prior::EffectPrior;
use crate::row_averages::RowAverages;
use crate::variational_gaussian::VariationalGaussian;

/// The effects at one θ; the workspace holds their factor.
pub struct MarginalPoint {
    /// log p(D, θ)
    pub value: f64,
    pub(crate) prior: EffectPrior,
    pub(crate) mean: Effects,
    pub(crate) detail: Detail,
}

/// The quantities from which slopes are computed.
pub(crate) enum Detail {
    /// cᵀΛ⁻¹c
    Normal(f64),
    Other(Box<NonGaussianPoint>),
}

/// The Gaussian variational approximation at one θ.
pub(crate) struct NonGaussianPoint {
    pub(crate) state: VariationalGaussian,
    pub(crate) averages: RowAverages,
    /// The variational gap in nats.
    pub(crate) gap: f64,
    /// The gaps of all blocks, unless their sum is predicted from nearby gaps.
    pub(crate) gaps: Option<MeasuredGaps>,
}
