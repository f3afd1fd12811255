//! The setting of a search for points of the hyperparameters: the marginal density, its mode, and
//! the axes through that.

use crate::axes::AxisProposal;
use crate::collapsed::MarginalDensity;
use crate::option::MixedOptions;
use crate::sample::{Making, Proposed, Weighing};
use crate::search::MarginalMode;

/// A search for points of the hyperparameters around their mode.
pub struct MixedSearch<'a> {
    pub(crate) collapsed: &'a MarginalDensity<'a>,
    pub(crate) mode: MarginalMode,
    pub(crate) axes: AxisProposal,
    pub(crate) options: MixedOptions,
}

impl<'a> MixedSearch<'a> {
    /// The search around a mode. Evaluates the axes through it.
    pub fn new(
        collapsed: &'a MarginalDensity<'a>,
        mode: MarginalMode,
        options: MixedOptions,
    ) -> MixedSearch<'a> {
        MixedSearch {
            axes: AxisProposal::new(collapsed, &mode),
            collapsed,
            mode,
            options,
        }
    }

    /// The density of the hyperparameters.
    pub fn marginal(&self) -> &'a MarginalDensity<'a> {
        self.collapsed
    }

    /// Its mode.
    pub fn mode(&self) -> &MarginalMode {
        &self.mode
    }

    /// The axes through the mode.
    pub fn axes(&self) -> &AxisProposal {
        &self.axes
    }

    /// The kind of draws at points.
    pub(crate) fn making(&self) -> Making {
        self.collapsed.making(&self.options)
    }

    pub(crate) fn weighing<'b>(&'b self, proposed: Proposed<'b>) -> Weighing<'b> {
        Weighing {
            collapsed: self.collapsed,
            proposed,
            near: &self.mode.near,
            making: self.making(),
            seed: self.options.seed,
        }
    }
}
