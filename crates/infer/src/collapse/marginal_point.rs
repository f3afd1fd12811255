//! The effects at one θ, and the collapsed density there.

use super::best::State;
use super::cross::Effects;
use super::gap::Measured;
use super::given::Given;
use super::likelihood::Averages;

/// The effects at one θ; the workspace holds their factor.
pub(crate) struct Evaluated {
    pub(crate) value: f64,
    pub(super) given: Given,
    pub(super) mean: Effects,
    pub(super) detail: Detail,
}

/// The quantities from which slopes are computed.
pub(super) enum Detail {
    /// cᵀΛ⁻¹c
    Normal(f64),
    Other(Box<OtherAt>),
}

/// The Gaussian variational approximation at one θ.
pub(super) struct OtherAt {
    pub(super) state: State,
    pub(super) averages: Averages,
    pub(super) gaps: Shortfall,
}

/// The variational gap.
pub(super) enum Shortfall {
    Measured(Measured),
    /// The total predicted from nearby gaps.
    Told(f64),
}

impl OtherAt {
    /// The variational gap in nats.
    pub(super) fn gap(&self) -> f64 {
        match &self.gaps {
            Shortfall::Measured(gaps) => gaps.blocks.iter().flatten().map(|gap| gap.value).sum(),
            Shortfall::Told(gap) => *gap,
        }
    }

    pub(super) fn measured(&self) -> Option<&Measured> {
        match &self.gaps {
            Shortfall::Measured(gaps) => Some(gaps),
            Shortfall::Told(_) => None,
        }
    }
}
