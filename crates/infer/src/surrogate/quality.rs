//! The predicted divergence of the surrogate's posterior from the posterior, before any training.

use lehr_density::Density;
use lehr_graph::{Graph, Plan};

use super::Surrogate;
use super::expansion::{Expansion, Extent, at_start};
use crate::error::SurrogateError;
use crate::expansion::Mode;
use crate::guide::LearnedBlocks;

/// KL(surrogate's posterior ‖ posterior) to second order in the surrogate's errors at the mode,
/// in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// ¼tr((Λ⁻¹δB)²): the contribution of the wrong curvature.
    pub curvature: f64,
    /// ½δg·Λ⁻¹δg: the contribution of the wrong slope.
    pub shift: f64,
}

impl Quality {
    /// The sum of both contributions.
    pub fn divergence(&self) -> f64 {
        self.curvature + self.shift
    }
}

/// The quality of a surrogate, from one pass over the table. Its learned quantities are as in
/// `learned`, or at their start if that has none of them; θ is the mode's.
///
/// Λ is the posterior precision at the mode, δB and δg the errors of the surrogate's negative
/// Hessian and gradient there. Refuses a mode that is not a maximum.
pub fn predicted_quality(
    density: &dyn Density,
    surrogate: &dyn Surrogate,
    learned: &LearnedBlocks,
    mode: &Mode,
) -> Result<Quality, SurrogateError> {
    let whitening = PrecisionFactor::at(density, mode)?;
    let mut values = at_start(density, surrogate.blocks());
    values.take_from(learned);
    let found = Expansion::of_surrogate(density, surrogate, &values, mode);
    let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect();
    let slope: Vec<f64> = difference(&found.gradient, &mode.gradient);
    let curved: Vec<f64> = difference(&found.hessian, &mode.hessian);
    let square = |values: Vec<f64>| values.iter().map(|x| x * x).sum::<f64>();
    Ok(Quality {
        curvature: 0.25 * square(whitening.curvature(&curved)),
        shift: 0.5 * square(whitening.slope(&slope)),
    })
}

/// L⁻¹ with `LLᵀ` = Λ, the posterior precision at the mode, for coordinates in which the posterior
/// has unit scale.
pub(crate) enum PrecisionFactor {
    Full(Vec<f64>),
    Diagonal(Vec<f64>),
}

impl PrecisionFactor {
    pub(crate) fn at(
        density: &dyn Density,
        mode: &Mode,
    ) -> Result<PrecisionFactor, SurrogateError> {
        let prior = Expansion::of_prior(density, mode);
        let pairs = prior.hessian.iter().zip(&mode.hessian);
        let precision: Vec<f64> = pairs.map(|(prior, rows)| -prior - rows).collect();
        let (whitening, entries) = match Extent::of(mode) {
            Extent::Full => {
                let inverse = inverse_factor(&precision, mode.latents.len());
                (PrecisionFactor::Full(inverse.clone()), inverse)
            }
            Extent::Diagonal => {
                let inverse: Vec<f64> = precision.iter().map(|p| p.sqrt().recip()).collect();
                (PrecisionFactor::Diagonal(inverse.clone()), inverse)
            }
        };
        if entries.iter().all(|x| x.is_finite()) {
            return Ok(whitening);
        }
        Err(SurrogateError::NotAMaximum)
    }

    /// L⁻¹ g
    pub(crate) fn slope(&self, slope: &[f64]) -> Vec<f64> {
        match self {
            PrecisionFactor::Diagonal(inverse) => product(inverse, slope),
            PrecisionFactor::Full(inverse) => {
                let rows = inverse.chunks_exact(slope.len());
                rows.map(|row| product(row, slope).iter().sum()).collect()
            }
        }
    }

    /// L⁻¹ B L⁻ᵀ, or its diagonal.
    pub(crate) fn curvature(&self, curvature: &[f64]) -> Vec<f64> {
        match self {
            PrecisionFactor::Diagonal(inverse) => product(&product(inverse, inverse), curvature),
            PrecisionFactor::Full(inverse) => {
                let size = curvature.len().isqrt();
                let graph = Graph::new();
                let whitening = graph.input("whitening", [size, size]);
                let matrix = graph.input("matrix", [size, size]);
                let both = whitening.dot(matrix).dot(whitening.transpose());
                let plan = Plan::new(&[both], 1);
                let mut workspace = plan.workspace();
                for (input, values) in [(whitening, &inverse[..]), (matrix, curvature)] {
                    workspace.set(plan.input(input).expect("it is read"), values);
                }
                plan.run(&mut workspace);
                workspace.output(0).to_vec()
            }
        }
    }
}

fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}

/// L⁻¹ with `LLᵀ` = Λ; not finite if it does not exist.
fn inverse_factor(precision: &[f64], size: usize) -> Vec<f64> {
    let graph = Graph::new();
    let matrix = graph.input("precision", [size, size]);
    let identity = graph.full([size], 1.0).diagonal_matrix();
    let plan = Plan::new(&[matrix.cholesky().solve_lower(identity)], 1);
    let mut workspace = plan.workspace();
    workspace.set(plan.input(matrix).expect("it is read"), precision);
    plan.run(&mut workspace);
    workspace.output(0).to_vec()
}
