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
    pub(crate) gaps: GapTotal,
}

/// The variational gap.
pub(crate) enum GapTotal {
    Measured(MeasuredGaps),
    /// The total predicted from nearby gaps.
    Predicted(f64),
}

impl NonGaussianPoint {
    /// The variational gap in nats.
    pub(crate) fn gap(&self) -> f64 {
        match &self.gaps {
            GapTotal::Measured(gaps) => gaps.blocks.iter().flatten().map(|gap| gap.value).sum(),
            GapTotal::Predicted(gap) => *gap,
        }
    }

    pub(crate) fn measured(&self) -> Option<&MeasuredGaps> {
        match &self.gaps {
            GapTotal::Measured(gaps) => Some(gaps),
            GapTotal::Predicted(_) => None,
        }
    }
}
