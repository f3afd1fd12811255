//! The effects at one θ, and the collapsed density there.

use crate::best::State;
use crate::cross::Effects;
use crate::gap::Measured;
use crate::given::Given;
use crate::likelihood::Averages;

/// The effects at one θ; the workspace holds their factor.
pub struct MarginalPoint {
    /// log p(D, θ)
    pub value: f64,
    pub(crate) given: Given,
    pub(crate) mean: Effects,
    pub(crate) detail: Detail,
}

/// The quantities from which slopes are computed.
pub(crate) enum Detail {
    /// cᵀΛ⁻¹c
    Normal(f64),
    Other(Box<OtherAt>),
}

/// The Gaussian variational approximation at one θ.
pub(crate) struct OtherAt {
    pub(crate) state: State,
    pub(crate) averages: Averages,
    pub(crate) gaps: Shortfall,
}

/// The variational gap.
pub(crate) enum Shortfall {
    Measured(Measured),
    /// The total predicted from nearby gaps.
    Told(f64),
}

impl OtherAt {
    /// The variational gap in nats.
    pub(crate) fn gap(&self) -> f64 {
        match &self.gaps {
            Shortfall::Measured(gaps) => gaps.blocks.iter().flatten().map(|gap| gap.value).sum(),
            Shortfall::Told(gap) => *gap,
        }
    }

    pub(crate) fn measured(&self) -> Option<&Measured> {
        match &self.gaps {
            Shortfall::Measured(gaps) => Some(gaps),
            Shortfall::Told(_) => None,
        }
    }
}
