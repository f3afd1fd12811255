//! The effects at one θ, and what the collapsed density is there.

use super::best::State;
use super::cross::Effects;
use super::gap::Measured;
use super::given::Given;
use super::likelihood::Averages;

/// The effects at one θ; the bench holds their factor.
pub(crate) struct Evaluated {
    pub(crate) value: f64,
    pub(super) given: Given,
    pub(super) mean: Effects,
    pub(super) detail: Detail,
}

/// What slopes are taken from.
pub(super) enum Detail {
    /// cᵀΛ⁻¹c
    Normal(f64),
    Other(Box<OtherAt>),
}

/// The best Gaussian at one θ.
pub(super) struct OtherAt {
    pub(super) state: State,
    pub(super) averages: Averages,
    pub(super) gaps: Shortfall,
}

/// What the best Gaussian is short of.
pub(super) enum Shortfall {
    Measured(Measured),
    /// What gaps nearby tell, in all.
    Told(f64),
}

impl OtherAt {
    /// Nats that the best Gaussian is short of.
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
