//! The best Gaussian approximation of the effects given the hyperparameters, for any response
//! (Opper & Archambeau 2009):
//!
//! ```text
//! ηₙ ~ N(oₙ + aₙᵀm, sₙ²):   r = E ℓ′,  ω = −E ℓ″,   Λ⁺ = Σ ω a aᵀ + P,   m⁺ = m + (Λ⁺)⁻¹g,   g = Σ r a + l − P m
//! F(θ) = Σ E ℓ + E ln p(u, θ) + ½D ln 2πe − ½ln|Λ|  ≤  log p(D, θ)
//! ```
//!
//! Λ has the sparse pattern of the elimination.

use std::f64::consts::TAU;
use std::ops::Range;

use lehr_numeric::dense::small;

use crate::cross_products::Effects;
use crate::effect_structure::EffectStructure;
use crate::elimination_order::EliminationOrder;
use crate::gaussian_response::{add_prior_linear, prior_trace};
use crate::prior::EffectPrior;
use crate::row_averages::{PredictorJob, RowAverages, RowLikelihood};
use crate::schur::{EffectPrecision, SecondMoments};
use crate::workspace::MixedWorkspace;

/// The most steps of the iteration.
const MOST_STEPS: usize = 40;
/// The most halvings of a step that does not raise the bound.
const MOST_HALVINGS: usize = 10;
/// Nats: a step towards the mode that promises less is the last.
const AT_MODE: f64 = 1e-2;

/// A Gaussian of the effects.
#[derive(Clone)]
pub(crate) struct VariationalGaussian {
    pub(crate) mean: Effects,
    /// sₙ²
    pub(crate) variances: Vec<f64>,
    /// Σ_g cov_g of each block, and the covariance of the common effects.
    pub(crate) spread: SecondMoments,
    pub(crate) log_det: f64,
}

impl VariationalGaussian {
    /// Its numbers as one list, positive ones as logarithms.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        let mut found = vec![self.log_det];
        found.extend(self.mean.own.iter().chain(&self.mean.others));
        found.extend(self.spread.0.iter().flatten());
        // Rows that read only the reference may have no variance.
        found.extend(self.variances.iter().map(|s| s.max(1e-300).ln()));
        found
    }

    /// A Gaussian of the same shape with other numbers.
    pub(crate) fn with_numbers(&self, numbers: &[f64]) -> VariationalGaussian {
        let mut found = self.clone();
        let places = std::iter::once(&mut found.log_det)
            .chain(&mut found.mean.own)
            .chain(&mut found.mean.others)
            .chain(found.spread.0.iter_mut().flatten());
        places
            .zip(numbers)
            .for_each(|(place, number)| *place = *number);
        let logs = &numbers[numbers.len() - found.variances.len()..];
        let pairs = found.variances.iter_mut().zip(logs);
        pairs.for_each(|(variance, log)| *variance = log.exp());
        found
    }
}

/// The result of a step from a Gaussian; the workspace holds the factor of Λ⁺.
pub(crate) struct NewtonStep {
    /// F at the Gaussian.
    pub(crate) bound: f64,
    /// The predicted gain of the step in nats, to second order.
    pub(crate) gain: f64,
    /// The same, with the gains of the mean and of the precision counted separately: both are
    /// positive for a Gaussian, but not for one with extrapolated numbers.
    left: f64,
    /// m⁺
    pub(crate) mean: Effects,
    pub(crate) averages: RowAverages,
}

/// Everything about the rows that does not depend on θ.
#[derive(Clone, Copy)]
pub(crate) struct EffectProblem<'a> {
    pub(crate) model: &'a EffectStructure<'a>,
    pub(crate) order: &'a EliminationOrder,
    pub(crate) likelihood: &'a RowLikelihood<'a>,
    /// The predictors without effects.
    pub(crate) offsets: &'a [f64],
}

/// A θ, and the prior of the effects there.
#[derive(Clone, Copy)]
pub(crate) struct ThetaPrior<'a> {
    pub(crate) theta: &'a [f64],
    pub(crate) prior: &'a EffectPrior,
}

/// Σ_g m_g m_gᵀ of each block, and of the common effects.
pub(crate) fn outer(order: &EliminationOrder, mean: &Effects) -> SecondMoments {
    let of = |(width, values): (usize, &[f64])| {
        let mut sum = vec![0.0; if values.is_empty() { 0 } else { width * width }];
        for group in values.chunks_exact(width) {
            small::add_outer(&mut sum, 1.0, group, group);
        }
        sum
    };
    SecondMoments(mean.blocks(order).map(of).collect())
}

impl EffectProblem<'_> {
    /// oₙ + aₙᵀu
    pub(crate) fn predictors(&self, effects: &Effects) -> Vec<f64> {
        let mut found = vec![0.0; self.offsets.len()];
        self.predict(effects, 0..found.len(), &mut found);
        found
    }

    /// The same for some rows.
    pub(crate) fn predict(&self, effects: &Effects, rows: Range<usize>, into: &mut [f64]) {
        self.order.apply_to_rows(effects, rows.clone(), into);
        let pairs = into.iter_mut().zip(&self.offsets[rows]);
        pairs.for_each(|(predictor, offset)| *predictor += offset);
    }

    /// Evaluates the rows at several predictors each.
    pub(crate) fn evaluate_rows(
        &self,
        theta: &[f64],
        work: &mut MixedWorkspace,
        job: &mut dyn PredictorJob,
    ) -> Option<()> {
        let rows = work.row_workspace.as_mut()?;
        self.likelihood.evaluate(theta, rows, job);
        Some(())
    }

    /// ln p(u, θ): quadratic in u.
    pub(crate) fn log_prior(&self, prior: &EffectPrior, effects: &Effects) -> f64 {
        self.expected_prior(prior, effects, &outer(self.order, effects))
    }

    /// E ln p(u, θ) for u with this mean and these second moments.
    fn expected_prior(&self, prior: &EffectPrior, mean: &Effects, seconds: &SecondMoments) -> f64 {
        let mut linear = Effects::zero(self.order);
        add_prior_linear(&mut linear, self.order, prior.terms(self.model));
        let trace = prior_trace(prior.terms(self.model), seconds);
        prior.log_prior + linear.dot(mean) - 0.5 * trace
    }

    /// g = Σ r a + l − P m
    fn slope(&self, prior: &EffectPrior, mean: &Effects, rows: &[f64]) -> Effects {
        let (order, model) = (self.order, self.model);
        let mut slope = order.apply_transposed(rows);
        add_prior_linear(&mut slope, order, prior.terms(model));
        let blocks = mean.blocks(order).zip(slope.blocks_mut(order));
        for (((width, from), (_, into)), (precision, _)) in blocks.zip(prior.terms(model)) {
            let groups = from.chunks_exact(width).zip(into.chunks_exact_mut(width));
            for (group, into) in groups {
                for (entry, row) in into.iter_mut().zip(precision.chunks_exact(width)) {
                    *entry -= small::dot(row, group);
                }
            }
        }
        slope
    }

    /// Factorises Λ⁺. Negative curvatures are kept as long as it is positive definite.
    fn factorise(
        &self,
        prior: &EffectPrior,
        curves: &[f64],
        work: &mut MixedWorkspace,
    ) -> Option<()> {
        let mut refill = |curves: &[f64]| {
            work.cross.refill(self.order, curves);
            work.factors += 1;
            work.factor.refill(&EffectPrecision {
                cross: &work.cross,
                scale: 1.0,
                prior,
                common: &self.model.common,
            })
        };
        refill(curves).or_else(|| {
            let mut negative = curves.iter().filter(|curve| **curve < 0.0);
            negative.next()?;
            let clipped: Vec<f64> = curves.iter().map(|curve| curve.max(0.0)).collect();
            refill(&clipped)
        })
    }

    /// The Gaussian around a mean, with the factor of the workspace.
    fn state(&self, mean: Effects, work: &mut MixedWorkspace) -> VariationalGaussian {
        work.inverses += 1;
        work.factor.invert();
        VariationalGaussian {
            variances: work.factor.variances(),
            spread: work.factor.moments(&Effects::zero(self.order)),
            log_det: work.factor.log_det,
            mean,
        }
    }

    /// The mode of the effects by Newton's method from 0, and the curvature there.
    pub(crate) fn mode(
        &self,
        at: ThetaPrior<'_>,
        work: &mut MixedWorkspace,
    ) -> Option<VariationalGaussian> {
        let ThetaPrior { theta, prior } = at;
        let mut mean = Effects::zero(self.order);
        let look = |mean: &Effects, work: &mut MixedWorkspace| {
            let predictors = self.predictors(mean);
            let rows = work.row_workspace.as_mut()?;
            let found = self.likelihood.at(theta, &predictors, rows);
            let value = found.value + self.log_prior(prior, mean);
            value.is_finite().then_some((value, found))
        };
        let (mut value, mut rows) = look(&mean, work)?;
        for _ in 0..MOST_STEPS {
            self.factorise(prior, &rows.curves, work)?;
            let slope = self.slope(prior, &mean, &rows.slopes);
            let step = work.factor.solve(slope.clone()).effects;
            if 0.5 * step.dot(&slope) < AT_MODE {
                mean.add(1.0, &step);
                break;
            }
            let mut share = 1.0;
            let higher = (0..MOST_HALVINGS).find_map(|_| {
                let mut next = mean.clone();
                next.add(share, &step);
                share *= 0.5;
                look(&next, work)
                    .filter(|found| found.0 > value)
                    .map(|found| (next, found))
            });
            (mean, (value, rows)) = higher?;
        }
        Some(self.state(mean, work))
    }

    /// One step from a Gaussian.
    pub(crate) fn step(
        &self,
        at: ThetaPrior<'_>,
        from: &VariationalGaussian,
        work: &mut MixedWorkspace,
    ) -> Option<NewtonStep> {
        let ThetaPrior { theta, prior } = at;
        let predictors = self.predictors(&from.mean);
        let rows = work.row_workspace.as_mut()?;
        let averages = (self.likelihood).averages(theta, (&predictors, &from.variances), rows);
        let size = from.mean.len() as f64;
        let mut seconds = outer(self.order, &from.mean);
        seconds.add(&from.spread);
        let expected = self.expected_prior(prior, &from.mean, &seconds);
        let bound = averages.value + expected + 0.5 * (size * (1.0 + TAU.ln()) - from.log_det);
        if !bound.is_finite() {
            return None;
        }
        self.factorise(prior, &averages.curves, work)?;
        let slope = self.slope(prior, &from.mean, &averages.slopes);
        let moved = work.factor.solve(slope.clone()).effects;
        let traced = small::dot(&averages.curves, &from.variances)
            + prior_trace(prior.terms(self.model), &from.spread);
        let widened = traced - size - work.factor.log_det + from.log_det;
        let moves = moved.dot(&slope);
        let gain = 0.5 * (moves + widened);
        let mut mean = from.mean.clone();
        mean.add(1.0, &moved);
        gain.is_finite().then_some(NewtonStep {
            bound,
            gain,
            left: 0.5 * (moves.abs() + widened.abs()),
            mean,
            averages,
        })
    }

    /// Steps from a Gaussian until one promises less than `close` nats; returns the Gaussian before
    /// that last step, and the step. `None` if no step raises the bound.
    pub(crate) fn maximise(
        &self,
        at: ThetaPrior<'_>,
        from: VariationalGaussian,
        close: f64,
        work: &mut MixedWorkspace,
    ) -> Option<(VariationalGaussian, NewtonStep)> {
        let mut now = from;
        let mut step = self.step(at, &now, work)?;
        for _ in 0..MOST_STEPS {
            if step.left < close {
                return Some((now, step));
            }
            let mut next = self.state(step.mean.clone(), work);
            let mut halvings = 0;
            loop {
                match self.step(at, &next, work) {
                    Some(found) if found.bound > step.bound - 1e-9 * step.bound.abs() => {
                        (now, step) = (next, found);
                        break;
                    }
                    _ if halvings == MOST_HALVINGS => return None,
                    _ => {
                        halvings += 1;
                        next.mean.add(1.0, &now.mean);
                        next.mean.own.iter_mut().for_each(|entry| *entry *= 0.5);
                        next.mean.others.iter_mut().for_each(|entry| *entry *= 0.5);
                    }
                }
            }
        }
        None
    }
}
