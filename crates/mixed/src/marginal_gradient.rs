//! The gradient of log p(D, θ) in the hyperparameters, from the moments of the effects.

use lehr_numeric::dense::small;

use crate::cross_products::Effects;
use crate::gaussian_response::{self, GaussianSums};
use crate::group_integral::{Accuracy, MeasuredGaps};
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
        let slope = self.gradient_at(&at, work)?;
        Some((at.value, slope))
    }

    /// The slope at a θ that was evaluated for a slope: ∂/∂P_f = −½ Σ_g E u_g u_gᵀ and ∂/∂l_f = Σ_g
    /// E u_g.
    pub(crate) fn gradient_at(
        &self,
        at: &MarginalPoint,
        work: &mut MixedWorkspace,
    ) -> Option<Vec<f64>> {
        let (adjoint, of_rows) = match (&at.detail, &self.rows) {
            (Detail::Normal(fitted), ResponseRows::Normal(rows)) => {
                work.inverses += 1;
                work.factor.invert()?;
                let moments = work.factor.moments(&at.mean);
                (self.normal_adjoint(at, *fitted, rows, &moments), None)
            }
            (Detail::Other(other), _) => {
                let gaps = other.gaps.as_ref()?;
                let of_rows = other.averages.theta.iter().zip(&gaps.theta);
                (self.other_adjoint(other, gaps), Some(of_rows))
            }
            (Detail::Normal(_), ResponseRows::Other(_)) => return None,
        };
        let scratch = &mut work.scratch;
        let mut slope = (self.conditional).pull(&self.model, &at.theta, &adjoint, scratch)?;
        for (sum, (row, gap)) in slope.iter_mut().zip(of_rows.into_iter().flatten()) {
            *sum += row + gap;
        }
        Some(slope)
    }

    fn other_adjoint(&self, at: &NonGaussianPoint, gaps: &MeasuredGaps) -> PriorAdjoint {
        let mut moments = outer(&self.order, &at.state.mean);
        moments.add(&at.state.spread);
        let mut blocks = prior_slopes(&moments, &self.sums(&at.state.mean));
        for ((precision, linear), gap) in blocks.iter_mut().zip(&gaps.blocks) {
            let Some(gap) = gap else { continue };
            small::add(precision, 1.0, &gap.precision);
            small::add(linear, 1.0, &gap.linear);
        }
        PriorAdjoint { blocks, noise: 0.0 }
    }

    fn normal_adjoint(
        &self,
        at: &MarginalPoint,
        fitted: f64,
        rows: &GaussianSums,
        moments: &SecondMoments,
    ) -> PriorAdjoint {
        let sums = self.sums(&at.mean);
        let linear = at.prior.terms(&self.model).zip(&sums);
        let linear = linear.map(|((_, linear), sum)| small::dot(linear, sum));
        let linear: f64 = linear.sum();
        let trace = gaussian_response::prior_trace(at.prior.terms(&self.model), moments);
        PriorAdjoint {
            blocks: prior_slopes(moments, &sums),
            noise: rows.noise_slope(&at.prior, fitted, (linear, trace)),
        }
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
