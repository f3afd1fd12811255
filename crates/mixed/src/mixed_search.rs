//! A search for points of the hyperparameters: the marginal density, its mode, and the axes through
//! the mode.

use crate::axis_proposal::AxisProposal;
use crate::effect_draws::DrawPlan;
use crate::integration_points::{DrawContents, PointSampler, PointSource};
use crate::marginal::MarginalDensity;
use crate::mode::MarginalMode;
use crate::option::MixedOptions;

/// A search for points of the hyperparameters around their mode.
pub struct MixedSearch<'a> {
    /// The density of the hyperparameters.
    pub marginal: &'a MarginalDensity<'a>,
    /// Its mode.
    pub mode: MarginalMode,
    /// The axes through the mode.
    pub axes: AxisProposal,
    pub(crate) options: MixedOptions,
}

impl<'a> MixedSearch<'a> {
    /// The search around a mode. Evaluates the axes through it.
    pub fn new(
        marginal: &'a MarginalDensity<'a>,
        mode: MarginalMode,
        options: MixedOptions,
    ) -> MixedSearch<'a> {
        MixedSearch {
            axes: AxisProposal::new(marginal, &mode),
            marginal,
            mode,
            options,
        }
    }

    /// The kind of draws at points.
    pub(crate) fn draw_contents(&self) -> DrawContents {
        self.marginal.draw_contents(&self.options)
    }

    pub(crate) fn weighing<'b>(&'b self, proposed: PointSource<'b>) -> PointSampler<'b> {
        PointSampler {
            marginal: self.marginal,
            proposed,
            warm_start: &self.mode.warm_start,
            draw_contents: self.draw_contents(),
            seed: self.options.seed,
            how: DrawPlan::default(),
        }
    }
}
