//! A fit with the random effects integrated out. It weighs points of the hyperparameters, draws the
//! effects at them, and keeps draws or moments.

use lehr_density::Layout;
use lehr_numeric::pareto::log_mean;
use lehr_numeric::summary::mean;

use crate::effect_draws::PointDraws;
use crate::effect_structure::MOST_AXES;
use crate::group_moments::GroupMoments;
use crate::integration_points::{DrawContents, HyperparameterPoints, PointSource, WeightedDraws};
use crate::mixed_search::MixedSearch;
use crate::moment_draws::{MomentDraws, group_moments, kept_layout};
use crate::option::{HyperparameterMethod, MixedError};
use crate::point_count::{has_converged, misses_mass};

/// The results of a fit.
pub struct MixedFit {
    /// The sites of which draws are kept.
    pub latents: Layout,
    /// Their draws, unconstrained, draw after draw.
    pub draws: Vec<f64>,
    /// One log weight per draw.
    pub log_weights: Vec<f64>,
    /// The moments of the largest block, if its draws are not kept.
    pub moments: Option<GroupMoments>,
    /// The points of the hyperparameters, from which draws can be repeated.
    pub points: HyperparameterPoints,
    /// The log of the mean weight of the points and its standard error: the log evidence, if the
    /// points are not draws of the marginal density itself.
    pub log_evidence: (f64, f64),
    /// The mean log weight at each point, whose mean is a bound on the log evidence.
    pub mean_log_weights: Vec<f64>,
    /// ½ ln |S| at each point by each Hutchinson probe, if probes are used.
    pub half_log_dets: Vec<Vec<f64>>,
    /// Whether the search for the mode converged, and the points determine the moments.
    pub converged: bool,
    /// Descriptions of the fit, for printing: name and value.
    pub remarks: Vec<(String, String)>,
}

impl MixedSearch<'_> {
    /// Weighs points along the axes; `None` if chains should draw the hyperparameters, because the
    /// points miss part of the density or there are too many axes.
    ///
    /// # Errors
    /// If the density is not finite at any point.
    pub fn weigh_points(&self) -> Result<Option<WeightedDraws>, MixedError> {
        let (marginal, options) = (self.marginal, &self.options);
        let chains = match options.hyperparameters {
            HyperparameterMethod::Chosen => marginal.size() > MOST_AXES,
            HyperparameterMethod::Points => false,
            HyperparameterMethod::Chains => marginal.size() > 0,
        };
        if chains {
            return Ok(None);
        }
        let drawn = self.next_points()?;
        let asked =
            options.points.is_some() || options.hyperparameters == HyperparameterMethod::Points;
        let serve = has_converged(&drawn, marginal) && !misses_mass(&drawn);
        Ok((asked || serve || !marginal.is_quick()).then_some(drawn))
    }

    /// Draws the effects at draws of the marginal density, θ after θ.
    pub fn weigh_draws(&self, thetas: &[f64]) -> WeightedDraws {
        let count = thetas.len() / self.marginal.size();
        (self.weighing(PointSource::Chains(thetas))).weigh(count, (1, 1))
    }

    /// The results of weighted points.
    ///
    /// # Errors
    /// If an effect is not finite.
    pub fn fit(&self, drawn: &WeightedDraws) -> Result<MixedFit, MixedError> {
        let (marginal, draw_contents) = (self.marginal, self.draw_contents());
        let latents = match draw_contents {
            DrawContents::All => marginal.density().latents().clone(),
            DrawContents::WithoutLargest => kept_layout(marginal),
        };
        let kept = MomentDraws::of(drawn, self.count(drawn), latents.size());
        let moments = match draw_contents {
            DrawContents::All => None,
            DrawContents::WithoutLargest => Some(
                group_moments(marginal, drawn, &kept, self.options.seed)
                    .ok_or_else(|| MixedError::improper("effects are not finite"))?,
            ),
        };
        let average = |draws: &PointDraws| mean(&draws.log_weights);
        Ok(MixedFit {
            latents,
            remarks: self.remarks(drawn, moments.as_ref()),
            draws: kept.draws,
            log_weights: kept.log_weights,
            moments,
            log_evidence: log_mean(&drawn.points.log_weights),
            mean_log_weights: drawn.draws.iter().map(average).collect(),
            half_log_dets: drawn.halves.clone(),
            converged: self.mode.converged && (drawn.from_chains || has_converged(drawn, marginal)),
            points: drawn.points.clone(),
        })
    }

    /// The number of kept draws.
    fn count(&self, drawn: &WeightedDraws) -> usize {
        let (draws, each) = (self.options.draws, drawn.each());
        let even = draws.div_ceil(drawn.points.len());
        let has_spares = !self.marginal.is_normal() && each > even;
        if drawn.from_chains {
            drawn.points.len()
        } else if has_spares {
            drawn.points.len() * each
        } else {
            draws
        }
    }
}
