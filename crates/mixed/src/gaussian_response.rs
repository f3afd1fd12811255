//! A Gaussian response: the log marginal likelihood from sufficient statistics, which are summed over
//! the rows once.

use std::f64::consts::TAU;

use lehr_density::rows_here;
use lehr_numeric::dense::small;
use lehr_numeric::vector::dot;

use crate::cross_products::{CrossProducts, Effects};
use crate::dependence::{derivatives, point_at};
use crate::effect_rows::weighted_response;
use crate::effect_structure::{EffectStructure, reference};
use crate::elimination_order::EliminationOrder;
use crate::prior::EffectPrior;
use crate::schur::SecondMoments;
use lehr_rows::{Argument, RowPass};

/// The sufficient statistics of a normal response.
pub(crate) struct GaussianSums {
    pub(crate) cross: CrossProducts,
    /// Σ w a y
    pub(crate) pulled: Effects,
    /// Σ w y²
    pub(crate) square: f64,
    /// Σ w
    pub(crate) weight: f64,
}

/// The rows' weights, and their responses less the predictor without effects.
struct WeightedResponses {
    weights: Vec<f64>,
    values: Vec<f64>,
}

impl GaussianSums {
    /// The sums; `noise` is the standard deviation of the response at the reference.
    pub(crate) fn new(
        model: &EffectStructure<'_>,
        order: &EliminationOrder,
        noise: f64,
    ) -> GaussianSums {
        let found = read_responses(model, noise);
        let weights = order.sorted(&found.weights);
        let values = order.sorted(&found.values);
        // For long tables one copy is enough.
        drop(found);
        let mut cross = CrossProducts::default();
        cross.refill(order, &weights);
        let weighted: Vec<f64> = weights.iter().zip(&values).map(|(w, y)| w * y).collect();
        GaussianSums {
            cross,
            pulled: order.apply_transposed(&weighted),
            square: dot(&weighted, &values),
            weight: weights.iter().sum(),
        }
    }

    /// h Σ w a y, plus the linear term of the prior.
    pub(crate) fn right_side(
        &self,
        order: &EliminationOrder,
        model: &EffectStructure<'_>,
        prior: &EffectPrior,
    ) -> Effects {
        let precision = noise_precision(prior);
        let mut right = self.pulled.clone();
        let all = right.own.iter_mut().chain(&mut right.others);
        all.for_each(|sum| *sum *= precision);
        add_prior_linear(&mut right, order, prior.terms(model));
        right
    }

    /// log p(D, θ) of the rows, the effects integrated out.
    pub(crate) fn log_density(&self, prior: &EffectPrior, fitted: f64, log_det: f64) -> f64 {
        let noise = prior.noise.expect("a normal response has noise");
        prior.log_prior + 0.5 * (self.pulled.len() as f64 - self.weight) * TAU.ln()
            - self.weight * noise.ln()
            - 0.5 * noise_precision(prior) * self.square
            - 0.5 * log_det
            + 0.5 * fitted
    }

    /// The slope of the value in the noise: (h E RSS − W)/σ, where
    /// h E RSS = h Σ w y² − ûᵀc + 2ûᵀl + D − Σ tr P E.
    pub(crate) fn noise_slope(
        &self,
        prior: &EffectPrior,
        fitted: f64,
        (linear, spread): (f64, f64),
    ) -> f64 {
        let noise = prior.noise.expect("a normal response has noise");
        let size = self.pulled.len() as f64;
        let residual = noise_precision(prior) * self.square - fitted + 2.0 * linear + size - spread;
        (residual - self.weight) / noise
    }
}

/// h = σ⁻²
pub(crate) fn noise_precision(prior: &EffectPrior) -> f64 {
    prior.noise.map_or(1.0, |noise| noise.powi(-2))
}

/// Adds the linear terms of the log prior.
pub(crate) fn add_prior_linear<'a>(
    into: &mut Effects,
    order: &EliminationOrder,
    priors: impl Iterator<Item = (&'a [f64], &'a [f64])>,
) {
    for ((width, block), (_, linear)) in into.blocks_mut(order).zip(priors) {
        for group in block.chunks_exact_mut(width) {
            small::add(group, 1.0, linear);
        }
    }
}

/// Σ tr P E over all blocks.
pub(crate) fn prior_trace<'a>(
    priors: impl Iterator<Item = (&'a [f64], &'a [f64])>,
    moments: &SecondMoments,
) -> f64 {
    let blocks = priors.zip(&moments.0);
    blocks
        .map(|((precision, _), moment)| dot(precision, moment))
        .sum()
}

/// The predictors without effects; `None` if they depend on the hyperparameters, because the sums
/// over the rows would then differ at every θ.
pub(crate) fn read_offsets(model: &EffectStructure<'_>) -> Option<Vec<f64>> {
    let size = model.density.latents().size();
    let split = model.split;
    let sizes = [Argument::Shared(size)];
    let mut pass = RowPass::new(rows_here(model.density), 1, &sizes, |inputs, rows| {
        vec![split.predictor(&point_at(inputs[0]), rows)]
    });
    let mut at = |shift: f64| {
        let mut z = reference(model.density);
        for place in &model.hyper {
            z[*place] += shift * (1.0 + *place as f64).sin();
        }
        let mut found: Vec<f64> = Vec::with_capacity(model.density.n_rows());
        pass.each(&[&z], |rows, workspace| -> Option<()> {
            let output = workspace.output(0);
            found.extend(output.iter().cycle().take(rows.len()));
            None
        });
        found
    };
    let found = at(0.0);
    (found == at(0.3)).then_some(found)
}

/// ln N(y; η, σ²)ʷ has slope w(y − η)/σ² and curvature −w/σ² in η: w and y are computed from both
/// at the reference.
fn read_responses(model: &EffectStructure<'_>, noise: f64) -> WeightedResponses {
    let size = model.density.latents().size();
    let split = model.split;
    let sizes = [Argument::Shared(size)];
    let mut pass = RowPass::new(rows_here(model.density), 1, &sizes, |inputs, rows| {
        let at = point_at(inputs[0]);
        let predictor = split.predictor(&at, rows).anchor();
        let value = split.log_density_given(predictor, &at, rows);
        let [slope, curve] = derivatives(value, predictor);
        vec![slope, curve.broadcast(predictor.shape())]
    });
    let rows = model.density.n_rows();
    let mut found = WeightedResponses {
        weights: vec![0.0; rows],
        values: vec![0.0; rows],
    };
    let origin = reference(model.density);
    pass.each(&[&origin], |range, workspace| -> Option<()> {
        let (slopes, curves) = (workspace.output(0), workspace.output(1));
        for (k, row) in range.enumerate() {
            let curve = curves[k % curves.len()];
            (found.weights[row], found.values[row]) = weighted_response(slopes[k], curve, noise);
        }
        None
    });
    found
}
