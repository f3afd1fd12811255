//! The mode of the hyperparameters by BFGS, and the curvature there.

use faer::{Mat, Side};
use lehr_density::Support;
use lehr_numeric::dense::small;

use crate::cross_products::Effects;
use crate::effect_structure::{EffectCovariance, RandomEffectBlock, reference};
use crate::group_integral::Accuracy;
use crate::marginal::MarginalDensity;
use crate::marginal_point::MarginalPoint;
use crate::option::MixedError;
use crate::prior_terms::BlockPrior;
use crate::warm_start::WarmStart;
use crate::workspace::MixedWorkspace;

/// The search ends if the predicted gain is below this, in nats.
const CLOSE: f64 = 5e-3;
/// The most slopes of a search.
const MOST_STEPS: usize = 60;
/// The longest step in any hyperparameter.
const LONGEST: f64 = 1.0;
/// The most halvings of a step that does not raise the value.
const MOST_HALVINGS: usize = 12;

/// A maximum of log p(D, θ).
pub struct MarginalMode {
    /// θ
    pub theta: Vec<f64>,
    /// log p(D, θ)
    pub value: f64,
    /// The negative Hessian, by differences of slopes.
    pub(crate) curvature: Mat<f64>,
    /// The number of slopes in the search.
    pub steps: usize,
    /// Whether the search converged.
    pub converged: bool,
    /// The effects at the mode.
    pub warm_start: WarmStart,
    /// Their variational gap, if the response is not normal.
    pub(crate) gap_in_words: Option<String>,
}

/// A point of the search.
struct SearchPoint {
    theta: Vec<f64>,
    value: f64,
    slope: Vec<f64>,
    warm_start: WarmStart,
}

impl MarginalDensity<'_> {
    /// Searches the mode.
    ///
    /// # Errors
    /// If there is none where the density is finite.
    pub fn find_mode(&self) -> Result<MarginalMode, MixedError> {
        const HINT: &str = "use another method, such as sl-dais";
        // With many groups a workspace is large, so there is one at a time.
        find_mode_from(self, &self.start(), &mut self.workspace()).ok_or_else(|| {
            let problem = "the spreads have no mode where the density is finite";
            MixedError::new(problem, HINT)
        })
    }

    /// The start of the search: standard deviations of 0.3, and the model's default for everything
    /// else.
    fn start(&self) -> Vec<f64> {
        let latents = self.model.density.latents();
        let start = reference(self.model.density);
        let entry = |place: &usize| {
            let own = latents.site_of(*place);
            let is_spread =
                own.is_some_and(|site| site.support == Support::Positive && site.start.is_none());
            if is_spread {
                0.3_f64.ln()
            } else {
                start[*place]
            }
        };
        self.model.hyper.iter().map(entry).collect()
    }
}

/// Climbs from a start by BFGS, with the average information as first metric.
pub(crate) fn find_mode_from(
    marginal: &MarginalDensity<'_>,
    start: &[f64],
    work: &mut MixedWorkspace,
) -> Option<MarginalMode> {
    let at = marginal.evaluate(start, &WarmStart::default(), Accuracy::Slope, work)?;
    let mut metric = average_information(marginal, start, &at, work);
    let mut now = SearchPoint {
        slope: marginal.gradient_at(&at, work)?,
        theta: start.to_vec(),
        value: at.value,
        warm_start: WarmStart::of(&at),
    };
    let (mut steps, mut converged) = (1, false);
    while steps < MOST_STEPS {
        let step = solve_metric(&metric, &now.slope);
        if 0.5 * small::dot(&step, &now.slope) < CLOSE {
            converged = true;
            break;
        }
        let Some(next) = line_search(marginal, &now, &step, work) else {
            break;
        };
        steps += 1;
        bfgs_update(&mut metric, &now, &next);
        now = next;
    }
    let at = marginal.evaluate(&now.theta, &now.warm_start, Accuracy::Slope, work)?;
    now.warm_start = WarmStart::of(&at);
    let curvature = curvature_at(marginal, &mut now, &metric)?;
    Some(MarginalMode {
        theta: now.theta,
        value: now.value,
        warm_start: now.warm_start,
        gap_in_words: marginal.gap_in_words(&at),
        curvature,
        steps,
        converged,
    })
}

/// The next point along a step, which is shortened until the value rises.
fn line_search(
    marginal: &MarginalDensity<'_>,
    now: &SearchPoint,
    step: &[f64],
    work: &mut MixedWorkspace,
) -> Option<SearchPoint> {
    let longest = step.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
    let mut share = (LONGEST / longest).min(1.0);
    let uphill = small::dot(step, &now.slope);
    for _ in 0..MOST_HALVINGS {
        let mut theta = now.theta.clone();
        small::add(&mut theta, share, step);
        if let Some(at) = marginal.evaluate(&theta, &now.warm_start, Accuracy::Slope, work)
            && at.value >= now.value + 1e-4 * share * uphill
        {
            let slope = marginal.gradient_at(&at, work)?;
            return Some(SearchPoint {
                warm_start: WarmStart::of(&at),
                theta,
                value: at.value,
                slope,
            });
        }
        share *= 0.5;
    }
    None
}

/// B⁻¹g
fn solve_metric(metric: &[f64], slope: &[f64]) -> Vec<f64> {
    let size = slope.len();
    let inverse = small::inverse(metric, size);
    let inverse = inverse.map_or_else(|| small::identity(size), |found| found.0);
    small::apply(&inverse, slope)
}

/// The BFGS update of the negative Hessian.
fn bfgs_update(metric: &mut [f64], before: &SearchPoint, after: &SearchPoint) {
    let size = before.theta.len();
    let change =
        |a: &[f64], b: &[f64]| -> Vec<f64> { b.iter().zip(a).map(|(b, a)| b - a).collect() };
    let moved = change(&before.theta, &after.theta);
    let bent = change(&after.slope, &before.slope);
    let curve = small::dot(&moved, &bent);
    let pushed = small::apply(metric, &moved);
    let form = small::dot(&moved, &pushed);
    // A step with negative curvature has no information on a maximum.
    if curve < 0.05 * form {
        return;
    }
    for i in 0..size {
        for j in 0..size {
            metric[i * size + j] += bent[i] * bent[j] / curve - pushed[i] * pushed[j] / form;
        }
    }
}

/// The average information (Gilmour, Thompson & Cullis 1995), plus 1 for the prior of each entry:
/// with pᵢ = −∂P/∂θᵢ û, the entries are ½(pᵢᵀP⁻¹pⱼ − pᵢᵀΛ⁻¹pⱼ).
fn average_information(
    marginal: &MarginalDensity<'_>,
    theta: &[f64],
    at: &MarginalPoint,
    work: &mut MixedWorkspace,
) -> Vec<f64> {
    const STEP: f64 = 1e-4;
    let size = theta.len();
    let mut pushed: Vec<(Effects, Effects, f64)> = Vec::with_capacity(size);
    let inverse = |(block, prior): (&RandomEffectBlock, &BlockPrior)| {
        let width = block.width;
        if block.covariance == EffectCovariance::Independent {
            let own = small::diagonal_of(&prior.precision, width);
            let variances: Vec<f64> = own.iter().map(|precision| precision.recip()).collect();
            return small::diagonal(&variances);
        }
        let found = small::inverse(&prior.precision, width);
        found.map_or_else(|| vec![0.0; width * width], |found| found.0)
    };
    let blocks = marginal.model.blocks.iter().zip(&at.prior.blocks);
    let inverses: Vec<Vec<f64>> = blocks.map(inverse).collect();
    for entry in 0..size {
        let mut side = |step: f64| {
            let mut moved = theta.to_vec();
            moved[entry] += step;
            marginal.effect_prior(&moved, work)
        };
        let (Some(above), Some(below)) = (side(STEP), side(-STEP)) else {
            return small::identity(size);
        };
        let slope = |a: f64, b: f64| (a - b) / (2.0 * STEP);
        let noise = match (above.noise, below.noise) {
            (Some(a), Some(b)) => slope(a.ln(), b.ln()),
            _ => 0.0,
        };
        let change = |f: usize| -> Vec<f64> {
            let [above, below] = [&above, &below].map(|prior| prior.blocks[f].precision.iter());
            above.zip(below).map(|(a, b)| -slope(*a, *b)).collect()
        };
        let changes: Vec<Vec<f64>> = (0..above.blocks.len()).map(change).collect();
        let p = marginal.by_block(&at.mean, |f, group| small::apply(&changes[f], group));
        let spread = marginal.by_block(&p, |f, group| small::apply(&inverses[f], group));
        pushed.push((p, spread, noise));
    }
    let solved: Vec<Effects> = (pushed.iter())
        .map(|(p, ..)| work.factor.solve(p.clone()).effects)
        .collect();
    let weight = marginal.weight();
    let entry = |k: usize| {
        let (i, j) = (k / size, k % size);
        let (p, _, noise) = &pushed[i];
        let (_, spread, other) = &pushed[j];
        let own = 0.5 * (p.dot(spread) - p.dot(&solved[j])).max(0.0);
        let own = if i == j { own + 1.0 } else { 0.0 };
        own + 2.0 * weight * noise * other
    };
    (0..size * size).map(entry).collect()
}

/// The negative Hessian by central differences of slopes, half a standard deviation to either side.
/// The parabolas of the warm start are fitted on the way.
fn curvature_at(
    marginal: &MarginalDensity<'_>,
    at: &mut SearchPoint,
    metric: &[f64],
) -> Option<Mat<f64>> {
    let size = at.theta.len();
    let inverse = |i: usize| {
        let mut unit = vec![0.0; size];
        unit[i] = 1.0;
        solve_metric(metric, &unit)[i]
    };
    let steps: Vec<f64> = (0..size)
        .map(|i| 0.5 * inverse(i).max(1e-8).sqrt().min(1.0))
        .collect();
    let sides = marginal.in_parallel(0..2 * size, |work, k| {
        let mut theta = at.theta.clone();
        theta[k / 2] += steps[k / 2] * [1.0, -1.0][k % 2];
        let found = marginal.evaluate(&theta, &at.warm_start, Accuracy::Slope, work)?;
        let slope = marginal.gradient_at(&found, work)?;
        Some((slope, WarmStart::of(&found)))
    });
    let sides: Option<Vec<(Vec<f64>, WarmStart)>> = sides.into_iter().collect();
    let (slopes, warm_starts): (Vec<Vec<f64>>, Vec<WarmStart>) = sides?.into_iter().unzip();
    at.warm_start
        .fit_paths(warm_starts.as_chunks::<2>().0, &steps);
    let column = |i: usize| -> Vec<f64> {
        let pairs = slopes[2 * i].iter().zip(&slopes[2 * i + 1]);
        pairs.map(|(a, b)| (b - a) / (2.0 * steps[i])).collect()
    };
    let columns: Vec<Vec<f64>> = (0..size).map(column).collect();
    let found = Mat::from_fn(size, size, |i, j| 0.5 * (columns[i][j] + columns[j][i]));
    Some(bound_eigenvalues(&found))
}

/// The matrix with eigenvalues of at least the curvature of a proper prior: along a direction in
/// which the posterior is locally flat, the axes determine its extent.
fn bound_eigenvalues(matrix: &Mat<f64>) -> Mat<f64> {
    const LEAST: f64 = 0.04;
    map_eigenvalues(matrix, |value| value.max(LEAST)).0
}

/// V f(λ) Vᵀ of a symmetric matrix V λ Vᵀ, and λ.
pub(crate) fn map_eigenvalues(matrix: &Mat<f64>, f: impl Fn(f64) -> f64) -> (Mat<f64>, Vec<f64>) {
    let size = matrix.nrows();
    if size == 0 {
        return (Mat::zeros(0, 0), Vec::new());
    }
    let eigen = matrix.self_adjoint_eigen(Side::Lower);
    let eigen = eigen.expect("a symmetric matrix has its eigenvalues");
    let (values, vectors) = (eigen.S(), eigen.U());
    let mapped = Mat::from_fn(size, size, |i, j| {
        let terms = (0..size).map(|k| vectors[(i, k)] * f(values[k]) * vectors[(j, k)]);
        terms.sum::<f64>()
    });
    (mapped, (0..size).map(|k| values[k]).collect())
}
