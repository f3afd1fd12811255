//! The start `quadrature`: the best Gaussian of its kind by quadrature, if each row has one linear
//! predictor and a few numbers that it shares with all others.  Under a Gaussian over z a predictor
//! uₙ = aₙ·z + bₙ is Gaussian too, N(μₙ, sₙ²), so that the expected log likelihood of a row and of
//! its derivatives are integrals in one dimension. With these integrals Newton's method for the
//! mode becomes one for the bound: the mean moves by Λ⁻¹ E∇, and the covariance is Λ⁻¹ (its
//! diagonal's, for independent latents) with Λ = −E∇², until neither changes (Opper and Archambeau,
//! "The variational Gaussian approximation revisited", 2009). It needs no draws and no step sizes,
//! only some ten passes over the rows. Further inputs of the likelihood, such as the logarithm of a
//! noise scale, are integrated with the predictor.

mod design;
mod expectation;
mod integral;
mod shared;
mod slope;

use faer::Mat;
use lehr_density::{Density, Point, Rows, probe_rows};
use lehr_graph::{Expr, Graph};
use lehr_numeric::anderson::AndersonMixing;
use lehr_numeric::dense::{CholeskyFactor, cholesky, inverse_factor};
use lehr_rows::RowsError;

use super::{Start, StartRequest, StartingPoint};
use crate::error::StartError;
use crate::expansion::{Curvature, ExpansionPoint};
use crate::guide::{Covariance, HALF_LN_TWO_PI, Whitening};
use integral::Integrals;
use shared::SharedNumbers;

/// Nats: a step that promises less is the last.
const CLOSE: f64 = 1e-3;
/// With more numbers that all rows share the integrals need too many nodes.
const MOST_SHARED: usize = 8;
/// Shared numbers with a larger standard deviation are not integrated accurately.
const WIDEST_SHARED: f64 = 0.3;
/// With more latents the integrals need too many passes.
const MOST_LATENTS: usize = 512;

/// The best Gaussian by integrals over each row's predictor, which then whitens the guide's
/// coordinates. A mean-field or full-rank fit is finished there.
#[derive(Clone, Copy, Debug)]
pub struct Quadrature;

impl Start for Quadrature {
    fn name(&self) -> &'static str {
        "quadrature"
    }

    fn help(&self) -> &'static str {
        "the best Gaussian by integrals over each row's linear predictor"
    }

    fn find(&self, request: &StartRequest<'_>) -> Result<StartingPoint, StartError> {
        let found = if request.plain {
            from_mode(request, &request.mode()?)?
        } else {
            None
        };
        found.ok_or_else(|| StartError::Refusal {
            problem: format!(
                "a start by quadrature needs one linear predictor per row, at most {MOST_SHARED} \
                 numbers besides that all rows share, a log likelihood with a maximum, rows on \
                 this machine and no parameters besides the latents"
            ),
            hint: "start from laplace".into(),
        })
    }
}

/// The start of a plain model at the best Gaussian by integrals; `None` if they are not possible.
pub(super) fn from_mode(
    request: &StartRequest<'_>,
    mode: &ExpansionPoint,
) -> Result<Option<StartingPoint>, RowsError> {
    let density = request.density;
    if density.latents().size() > MOST_LATENTS || !applies(density) {
        return Ok(None);
    }
    let Some(best) = climb(density, mode, request.base.info().covariance)? else {
        return Ok(None);
    };
    Ok(Some(StartingPoint::at_best(best, request)?))
}

/// The best Gaussian of its kind, or the remaining gain.
#[derive(Clone, Debug)]
pub struct BestGaussian {
    /// Its mean.
    pub centre: ExpansionPoint,
    /// The coordinates in which it is standard normal.
    pub whitening: Whitening,
    /// The bound before every step.
    pub bounds: Vec<f64>,
    /// The gain that the last step predicted, to second order, in nats.
    pub left: f64,
    /// Whether the prior is Gaussian, as the integrals assume, except for shared numbers with small
    /// standard deviations.
    pub exact: bool,
}

impl BestGaussian {
    /// Whether no small change improves the bound.
    pub fn is_reached(&self) -> bool {
        self.exact && self.left < CLOSE
    }
}

/// Whether the integrals are possible: one predictor per row and few shared numbers, no learned
/// parameters, rows in memory or on this machine's disk.
pub fn applies(density: &dyn Density) -> bool {
    let graph = Graph::new();
    let (at, rows) = probe_rows(&graph, density);
    let moved = graph.laned_input("moved", [rows.len()]);
    let Some(shared) = shared_places(density) else {
        return false;
    };
    let latents = density.latents();
    let direction = |position: usize| {
        let range = latents.range(position);
        if shared.contains(&range.start) {
            graph.full([range.len()], 0.0)
        } else {
            graph.input("along", [range.len()])
        }
    };
    let parts: Vec<Expr<'_>> = (0..latents.sites().len()).map(direction).collect();
    let replaced = at_predictor(density, (&at, &rows), moved).is_some_and(|value| {
        // Rules that simplify may have looked through the predictor to z itself.
        let along = graph.concat(&parts, 0);
        let rest = graph.jvp(&[value], &[at.latents], &[along])[0];
        rest.as_number() == Some(0.0) && value.shape() == moved.shape()
    });
    density.params().size() == 0 && density.elsewhere().is_none() && replaced
}

/// The places of z that all rows read; `None` if they are many, or if there is not exactly one
/// predictor besides.
pub(crate) fn shared_places(density: &dyn Density) -> Option<Vec<usize>> {
    let graph = Graph::new();
    let (at, rows) = probe_rows(&graph, density);
    let found = density.linear()?.predictors(&at, &rows);
    let few = found.rows.len() == 1 && found.shared.len() <= MOST_SHARED;
    few.then_some(found.shared)
}

/// Climbs from a mode towards the best Gaussian, with as many steps as the table's size allows;
/// `None` if the mode is not a maximum.
///
/// # Errors
/// If rows cannot be reached.
pub fn climb(
    density: &dyn Density,
    mode: &ExpansionPoint,
    kind: Covariance,
) -> Result<Option<BestGaussian>, RowsError> {
    let curvature = mode.curvature(density)?;
    Ok(climb_from(density, mode, &curvature, None, kind))
}

/// Climbs from a Gaussian that is known to be near the best, by its precision; without one, from
/// that of the curvature.
pub(crate) fn climb_from(
    density: &dyn Density,
    mode: &ExpansionPoint,
    curvature: &Curvature,
    precision: Option<Vec<f64>>,
    kind: Covariance,
) -> Option<BestGaussian> {
    let mut integrals = Integrals::new(density, kind, curvature)?;
    let precision = precision.unwrap_or_else(|| curvature.precision());
    let start = Candidate::new(mode.latents.clone(), precision, kind)?;
    let scale = start.factor.clone();
    let is_gaussian = integrals.has_gaussian_prior(&start);
    let mut now = integrals.assess(start)?;
    let mut bounds = vec![now.bound];
    let (mut mixing, mut share, mut last) = (AndersonMixing::default(), 1.0, None);
    for _ in 0..steps(density) {
        if now.gain < CLOSE {
            last = Some(now.step(1.0, kind)?);
            break;
        }
        mixing.push(now.image(kind), now.residual(kind, &scale));
        let next = if share < 1.0 {
            now.step(share, kind)
        } else {
            Candidate::of_image(mixing.next(), mode.latents.len(), kind)
        };
        match next.and_then(|next| integrals.assess(next)) {
            Some(next) if next.bound > now.bound => {
                bounds.push(next.bound);
                (now, share) = (next, 1.0);
            }
            // The step was too far: a small enough part of a plain step leads up.
            _ => {
                share *= 0.5;
                mixing.clear();
            }
        }
    }
    let left = now.gain;
    let last = last.unwrap_or(now.at);
    let widest = SharedNumbers::new(&integrals.shared, &last.factor).widest();
    Some(BestGaussian {
        whitening: last.whitening(kind),
        centre: ExpansionPoint {
            latents: last.mean,
            ..mode.clone()
        },
        bounds,
        left,
        exact: is_gaussian && widest <= WIDEST_SHARED,
    })
}

/// The most steps: their cost grows as the rows times the square of the latents.
fn steps(density: &dyn Density) -> usize {
    const FLOPS: f64 = 2e11;
    const FEWEST: f64 = 4.0;
    const MOST: f64 = 100.0;
    let cost = 6.0 * density.n_rows() as f64 * (density.latents().size() as f64).powi(2);
    (FLOPS / cost).clamp(FEWEST, MOST) as usize
}

impl Covariance {
    /// A lower factor of the covariance of this kind for a precision; `None` if it is not positive
    /// definite.
    fn factor(self, precision: &[f64], size: usize) -> Option<CholeskyFactor> {
        if self == Covariance::Full {
            return inverse_factor(&cholesky(precision, size)?);
        }
        let mut values = self.part(precision, size);
        for i in 0..size {
            values[i * (size + 1)] = values[i * (size + 1)].powf(-0.5);
        }
        let finite = values.iter().all(|value| value.is_finite());
        finite.then_some(CholeskyFactor { size, values })
    }

    /// The part of a precision that this kind uses.
    fn part(self, precision: &[f64], size: usize) -> Vec<f64> {
        let kept = |k: usize| self == Covariance::Full || k.is_multiple_of(size + 1);
        let entries = precision.iter().enumerate();
        entries
            .map(|(k, value)| if kept(k) { *value } else { 0.0 })
            .collect()
    }
}

/// A Gaussian during the iteration.
struct Candidate {
    mean: Vec<f64>,
    /// Of all latents together, even if only its diagonal is used.
    precision: Vec<f64>,
    factor: CholeskyFactor,
}

/// A Gaussian, and the integrals there.
struct Assessment {
    at: Candidate,
    bound: f64,
    /// E∇
    slope: Vec<f64>,
    /// −E∇²
    precision: Vec<f64>,
    /// (−E∇²)⁻¹ E∇
    direction: Vec<f64>,
    /// The gain of a whole step in nats, to second order.
    gain: f64,
}

impl Assessment {
    /// A share of the step towards the target of the derivatives.
    fn step(&self, share: f64, kind: Covariance) -> Option<Candidate> {
        let mix = |(old, new): (&f64, &f64)| old + share * (new - old);
        let precision = self.at.precision.iter().zip(&self.precision).map(mix);
        let mean = self.at.mean.iter().zip(&self.direction);
        let mean = mean.map(|(mean, along)| mean + share * along).collect();
        Candidate::new(mean, precision.collect(), kind)
    }

    /// Mean and precision after a whole step, one after the other.
    fn image(&self, kind: Covariance) -> Vec<f64> {
        let moved = self.at.mean.iter().zip(&self.direction).map(|(m, d)| m + d);
        let mut image: Vec<f64> = moved.collect();
        image.extend(kind.part(&self.precision, self.at.mean.len()));
        image
    }

    /// The residual, in coordinates of one scale: Fᵀ E∇ and Fᵀ δΛ F.
    fn residual(&self, kind: Covariance, scale: &CholeskyFactor) -> Vec<f64> {
        let size = scale.size;
        let missing: Vec<f64> = (self.precision.iter().zip(&self.at.precision))
            .map(|(new, old)| new - old)
            .collect();
        let missing = kind.part(&missing, size);
        let matrix = |values: &[f64]| Mat::from_fn(size, size, |i, j| values[i * size + j]);
        let factor = matrix(&scale.values);
        let turned = factor.transpose() * matrix(&missing) * &factor;
        let mut residual = product(scale, &self.slope, FactorSide::Transposed);
        let half = std::f64::consts::FRAC_1_SQRT_2;
        residual.extend((0..size * size).map(|k| half * turned[(k / size, k % size)]));
        residual
    }
}

impl Candidate {
    /// A Gaussian by its mean and precision, one after the other.
    fn of_image(mut image: Vec<f64>, size: usize, kind: Covariance) -> Option<Candidate> {
        let precision = image.split_off(size);
        Candidate::new(image, precision, kind)
    }

    fn new(mean: Vec<f64>, precision: Vec<f64>, kind: Covariance) -> Option<Candidate> {
        let factor = kind.factor(&precision, mean.len())?;
        Some(Candidate {
            mean,
            precision,
            factor,
        })
    }

    /// tr(M F Fᵀ)
    fn trace(&self, matrix: &[f64]) -> f64 {
        let CholeskyFactor { size, values } = &self.factor;
        let m = Mat::from_fn(*size, *size, |i, j| matrix[i * size + j]);
        let f = Mat::from_fn(*size, *size, |i, j| values[i * size + j]);
        let moved = &m * &f;
        let entries = (0..size * size).map(|k| (k / size, k % size));
        entries.map(|at| moved[at] * f[at]).sum()
    }

    fn entropy(&self) -> f64 {
        self.factor.size as f64 * (0.5 + HALF_LN_TWO_PI) + self.factor.log_volume()
    }

    /// The coordinates in which it is standard normal.
    fn whitening(&self, kind: Covariance) -> Whitening {
        let shift = self.mean.as_slice().into();
        let CholeskyFactor { size, values } = &self.factor;
        match kind {
            Covariance::Full => Whitening::Dense {
                shift,
                factor: values.as_slice().into(),
            },
            Covariance::Diagonal => Whitening::Diagonal {
                shift,
                scale: (0..*size).map(|i| values[i * (size + 1)]).collect(),
            },
        }
    }
}

/// The way in which a factor is read.
#[derive(Clone, Copy)]
enum FactorSide {
    Plain,
    Transposed,
}

fn product(factor: &CholeskyFactor, vector: &[f64], turn: FactorSide) -> Vec<f64> {
    let size = factor.size;
    let entry = |i: usize, j: usize| match turn {
        FactorSide::Plain => factor.values[i * size + j],
        FactorSide::Transposed => factor.values[j * size + i],
    };
    let row = |i: usize| (0..size).map(|j| entry(i, j) * vector[j]).sum();
    (0..size).map(row).collect()
}

/// The one predictor of the rows.
pub(crate) fn predictor<'g>(
    density: &dyn Density,
    at: &Point<'g>,
    rows: &Rows<'g>,
) -> Option<Expr<'g>> {
    match density.linear()?.predictors(at, rows).rows.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// The rows' log likelihood with `moved` in place of their predictor.
fn at_predictor<'g>(
    density: &dyn Density,
    (at, rows): (&Point<'g>, &Rows<'g>),
    moved: Expr<'g>,
) -> Option<Expr<'g>> {
    let predictor = predictor(density, at, rows)?;
    let value = density.log_likelihood(at, rows);
    at.graph().replace(value, predictor, moved)
}

const KNOWN: &str = "the predictor is known to be there";
