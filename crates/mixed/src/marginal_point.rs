//! The marginal density at one θ, and the effects there.

use crate::cross_products::Effects;
use crate::group_integral::MeasuredGaps;
use crate::prior::EffectPrior;
use crate::row_averages::RowAverages;
use crate::variational_gaussian::{ThetaPrior, VariationalGaussian};

/// The effects at one θ; the workspace holds their factor.
pub struct MarginalPoint {
    /// θ
    pub(crate) theta: Vec<f64>,
    /// log p(D, θ)
    pub value: f64,
    pub(crate) prior: EffectPrior,
    pub(crate) mean: Effects,
    pub(crate) detail: Detail,
}

impl MarginalPoint {
    /// θ, and the prior there.
    pub(crate) fn theta_prior(&self) -> ThetaPrior<'_> {
        ThetaPrior {
            theta: &self.theta,
            prior: &self.prior,
        }
    }
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
