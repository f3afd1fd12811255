//! The gradient of log p(D, θ) in the hyperparameters, from the moments of the effects.

use lehr_numeric::dense::small;

use crate::cross_products::Effects;
use crate::gaussian_response::{self, GaussianSums};
use crate::group_integral::Accuracy;
use crate::marginal::{MarginalDensity, ResponseRows};
use crate::marginal_point::{Detail, MarginalPoint, NonGaussianPoint};
use crate::prior::PriorAdjoint;
use crate::schur::SecondMoments;
use crate::variational_gaussian::outer;
use crate::warm_start::WarmStart;
use crate::workspace::MixedWorkspace;

impl MarginalDensity<'_> {
    /// log p(D, θ) and its slope.
    pub fn gradient(
        &self,
        theta: &[f64],
        warm_start: &WarmStart,
        work: &mut MixedWorkspace,
    ) -> Option<(f64, Vec<f64>)> {
        let at = self.evaluate(theta, warm_start, Accuracy::Slope, work)?;
        let slope = self.gradient_at(theta, &at, work)?;
        Some((at.value, slope))
    }

    /// The slope at a θ that was evaluated for a slope: ∂/∂P_f = −½ Σ_g E u_g u_gᵀ and ∂/∂l_f = Σ_g
    /// E u_g.
    pub(crate) fn gradient_at(
        &self,
        theta: &[f64],
        at: &MarginalPoint,
        work: &mut MixedWorkspace,
    ) -> Option<Vec<f64>> {
        match (&at.detail, &self.rows) {
            (Detail::Normal(_), ResponseRows::Normal(rows)) => {
                self.normal_slope(theta, at, rows, work)
            }
            (Detail::Other(other), _) => self.other_slope(theta, other, work),
            (Detail::Normal(_), ResponseRows::Other(_)) => None,
        }
    }

    fn other_slope(
        &self,
        theta: &[f64],
        at: &NonGaussianPoint,
        work: &mut MixedWorkspace,
    ) -> Option<Vec<f64>> {
        let gaps = at.gaps.as_ref()?;
        let mut moments = outer(&self.order, &at.state.mean);
        moments.add(&at.state.spread);
        let mut blocks = prior_slopes(&moments, &self.sums(&at.state.mean));
        for ((precision, linear), gap) in blocks.iter_mut().zip(&gaps.blocks) {
            let Some(gap) = gap else { continue };
            small::add(precision, 1.0, &gap.precision);
            small::add(linear, 1.0, &gap.linear);
        }
        let adjoint = PriorAdjoint { blocks, noise: 0.0 };
        let mut slope = (self.conditional).pull(&self.model, theta, &adjoint, &mut work.scratch)?;
        let rows = at.averages.theta.iter().zip(&gaps.theta);
        for (sum, (row, gap)) in slope.iter_mut().zip(rows) {
            *sum += row + gap;
        }
        Some(slope)
    }

    fn normal_slope(
        &self,
        theta: &[f64],
        at: &MarginalPoint,
        rows: &GaussianSums,
        work: &mut MixedWorkspace,
    ) -> Option<Vec<f64>> {
        let Detail::Normal(fitted) = at.detail else {
            return None;
        };
        work.inverses += 1;
        work.factor.invert()?;
        let moments = work.factor.moments(&at.mean);
        let sums = self.sums(&at.mean);
        let linear = at.prior.terms(&self.model).zip(&sums);
        let linear: f64 = linear
            .map(|((_, linear), sum)| small::dot(linear, sum))
            .sum();
        let trace = gaussian_response::prior_trace(at.prior.terms(&self.model), &moments);
        let adjoint = PriorAdjoint {
            blocks: prior_slopes(&moments, &sums),
            noise: rows.noise_slope(&at.prior, fitted, (linear, trace)),
        };
        (self.conditional).pull(&self.model, theta, &adjoint, &mut work.scratch)
    }

    /// Σ_g u_g of each block.
    fn sums(&self, effects: &Effects) -> Vec<Vec<f64>> {
        let sum = |(width, values): (usize, &[f64])| {
            let mut sum = vec![0.0; width];
            (values.chunks_exact(width)).for_each(|group| small::add(&mut sum, 1.0, group));
            sum
        };
        effects.blocks(&self.order).map(sum).collect()
    }
}

/// −½ E u uᵀ and E u of each block.
fn prior_slopes(moments: &SecondMoments, sums: &[Vec<f64>]) -> Vec<(Vec<f64>, Vec<f64>)> {
    let half = |moment: &Vec<f64>| moment.iter().map(|entry| -0.5 * entry).collect();
    moments
        .0
        .iter()
        .map(half)
        .zip(sums.iter().cloned())
        .collect()
}
