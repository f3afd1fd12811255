//! Chains on linear regression against the exact propagation of means and covariances.

use std::sync::Arc;

use faer::{Mat, Side};
use lehr_density::{Density, Point};
use lehr_graph::Expr;
use lehr_infer::annealed::{Annealed, AnnealedStart, Drive, Momentum};
use lehr_infer::block::{Block, Learned};
use lehr_infer::context::{Context, Feed};
use lehr_infer::evaluate::{Evaluated, evaluate};
use lehr_infer::frame::Frame;
use lehr_infer::guide::{Base, FullRank};
use lehr_infer::objective::Score;
use lehr_infer::surrogate::{SavedSurrogate, Surrogate};
use lehr_infer::train::{Task, TrainSettings};

use crate::linear::{Gaussian, Linear, inverse};
use crate::{all_rows, batch, estimate, set, starts};

/// The likelihood of all rows, off by δa·z − ½ zᵀδB z.
struct Perturbed {
    slope: Arc<[f64]>,
    curvature: Arc<[f64]>,
}

impl Surrogate for Perturbed {
    fn name(&self) -> &'static str {
        "perturbed"
    }

    fn blocks(&self) -> Vec<Block> {
        Vec::new()
    }

    fn log_likelihood<'g>(&self, context: &Context<'g, '_>, at: &Point<'g>) -> Expr<'g> {
        let size = self.slope.len();
        let rows = context.rows("perturbed", &Feed::All);
        let slope = context.fixed("slope", [size], &self.slope);
        let curvature = context.fixed("curvature", [size, size], &self.curvature);
        let bent = (at.latents * curvature.dot(at.latents)).sum();
        let exact = context.density().log_likelihood(at, &rows).sum();
        exact + (slope * at.latents).sum() - 0.5 * bent
    }

    fn contents(&self) -> String {
        "nothing".into()
    }

    fn save(&self) -> SavedSurrogate {
        unreachable!("the tests do not save it")
    }
}

impl Perturbed {
    fn new(size: usize, by: f64) -> Perturbed {
        Perturbed {
            slope: (0..size).map(|i| by * (1.0 - 1.5 * i as f64)).collect(),
            curvature: (0..size * size)
                .map(|k| by * if k % (size + 1) == 0 { 2.0 } else { -0.5 })
                .collect(),
        }
    }

    /// Information of the likelihood it stands for.
    fn information(&self, linear: &Linear) -> Information {
        let size = self.slope.len();
        let (precision, product) = linear.information(&linear.all(), 1.0);
        let bent = Mat::from_fn(size, size, |i, j| self.curvature[i * size + j]);
        let moved = Mat::from_fn(size, 1, |i, _| self.slope[i]);
        (precision + bent, product + moved)
    }
}

/// Precision, and precision times mean.
type Information = (Mat<f64>, Mat<f64>);

/// K, η and R with drift ½ηRp and kick ηRᵀg, p ~ N(0, 1).
struct Walk {
    steps: usize,
    step_size: f64,
    root: Mat<f64>,
}

impl Walk {
    fn plain(steps: usize, step_size: f64, size: usize) -> Walk {
        Walk {
            steps,
            step_size,
            root: Mat::identity(size, size),
        }
    }

    /// z_K, and E[−log q₀(z₀) + Σ log N(v̂) − log N(v)], of a chain from the prior with γ = 0
    /// on a likelihood with this information.
    fn propagate(&self, linear: &Linear, (precision, product): &Information) -> (Gaussian, f64) {
        let prior = linear.prior();
        let prior_precision = inverse(&prior.covariance);
        let prior_product = &prior_precision * &prior.mean;
        let size = prior.mean.nrows();
        let half = &self.root * faer::Scale(0.5 * self.step_size);
        let mut z = prior.clone();
        let mut weight = -prior.expected_log_density(&prior);
        for k in 1..=self.steps {
            let beta = k as f64 / self.steps as f64;
            let bend = &prior_precision + precision * faer::Scale(beta);
            let pull = &prior_product + product * faer::Scale(beta);
            let kick = self.root.transpose() * faer::Scale(self.step_size);
            // (z, p) ↦ p̂ = p + ηRᵀ(pull − bend ẑ), ẑ = z + ½ηRp, both affine in (z, p).
            let p_of_z = &kick * &bend * faer::Scale(-1.0);
            let p_of_p = Mat::<f64>::identity(size, size) + &p_of_z * &half;
            let p_mean = &p_of_z * &z.mean + &kick * &pull;
            let p_covariance =
                &p_of_z * &z.covariance * p_of_z.transpose() + &p_of_p * p_of_p.transpose();
            let length = (p_mean.transpose() * &p_mean)[(0, 0)];
            weight += 0.5 * (size as f64 - length - crate::linear::trace(&p_covariance));
            let z_of_z = Mat::<f64>::identity(size, size) + &half * &p_of_z;
            let z_of_p = &half + &half * &p_of_p;
            z = Gaussian {
                mean: &z.mean + &half * &p_mean,
                covariance: &z_of_z * &z.covariance * z_of_z.transpose()
                    + &z_of_p * z_of_p.transpose(),
            };
        }
        (z, weight)
    }

    /// The exact bound, scored on all rows, and z_K.
    fn bound(&self, linear: &Linear, information: &Information) -> (f64, Gaussian) {
        let (z, weight) = self.propagate(linear, information);
        let joint = linear.log_evidence() + linear.posterior().expected_log_density(&z);
        (weight + joint, z)
    }
}

/// A chain with γ = 0 and equal increments whose base is to be the prior.
fn chain(drive: Drive, momentum: Momentum, (steps, step_size): (usize, f64)) -> Annealed {
    Annealed {
        base: Base::FullRank(FullRank::default()),
        drive,
        steps,
        momentum,
        start: AnnealedStart {
            step_size,
            refreshment: 0.0,
            max_step_size: 1.0,
            ..AnnealedStart::default()
        },
    }
}

/// Learned quantities with the prior as base, in the coordinates of a frame.
fn from_prior(linear: &Linear, density: &dyn Density, guide: &Annealed, frame: &Frame) -> Learned {
    let size = linear.width();
    let (shift, factor) = parts(frame, size);
    let back = inverse_of_lower(&factor);
    let prior = linear.prior();
    let mean = &back * (&prior.mean - shift);
    let covariance = &back * &prior.covariance * back.transpose();
    let root = covariance.llt(Side::Lower).unwrap();
    let mut learned = starts(density, guide);
    let entries = |f: &dyn Fn(usize) -> f64, count: usize| (0..count).map(f).collect::<Vec<f64>>();
    set(&mut learned, "base_mean", &entries(&|i| mean[(i, 0)], size));
    let scales = entries(&|i| root.L()[(i, i)].ln(), size);
    set(&mut learned, "base_log_scale", &scales);
    let below = entries(&|k| root.L()[(k / size, k % size)], size * size);
    set(&mut learned, "base_below", &below);
    learned
}

fn parts(frame: &Frame, size: usize) -> (Mat<f64>, Mat<f64>) {
    match frame {
        Frame::Identity => (Mat::zeros(size, 1), Mat::identity(size, size)),
        Frame::Diagonal { shift, scale } => (
            Mat::from_fn(size, 1, |i, _| shift[i]),
            Mat::from_fn(size, size, |i, j| if i == j { scale[i] } else { 0.0 }),
        ),
        Frame::Dense { shift, factor } => (
            Mat::from_fn(size, 1, |i, _| shift[i]),
            Mat::from_fn(size, size, |i, j| factor[i * size + j]),
        ),
    }
}

fn inverse_of_lower(factor: &Mat<f64>) -> Mat<f64> {
    let size = factor.nrows();
    let mut inverse = Mat::<f64>::identity(size, size);
    factor.solve_lower_triangular_in_place(&mut inverse);
    inverse
}

use faer::prelude::SolveCore as _;
