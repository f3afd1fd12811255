//! A whole fit with the defaults, and the Gaussians at its start and its end.

use anyhow::{Context, Result};
use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::guide::LearnedBlocks;
use lehr_infer::guide::Whitening;
use serde_json::{Value, json};

/// A Gaussian over the latents.
struct Gaussian {
    mean: Vec<f64>,
    /// The lower factor of the covariance, row after row.
    factor: Vec<f64>,
}

/// Fits a Gaussian; returns it after the start and after training, with the seconds of each part.
pub(crate) fn fit(density: &dyn Density, method: &str, seed: u64) -> Result<Value> {
    let posterior = Fit::named(method)?.seed(seed).run(density)?;
    let sampler = posterior.sampler()?;
    let (whitening, learned) = sampler.learned().context("nothing was learned")?;
    let training = posterior.training().context("nothing was trained")?;
    let bound = posterior.bound().context("there is no bound")?;
    let size = density.latents().size();
    let standard = Gaussian {
        mean: vec![0.0; size],
        factor: identity(size),
    };
    let start = standard.placed(whitening);
    let end = Gaussian::learned(learned)?.placed(whitening);
    let seconds = posterior.seconds;
    Ok(json!({
        "start": { "mean": start.mean, "factor": start.factor },
        "end": { "mean": end.mean, "factor": end.factor },
        "seconds": {
            "start": seconds.start,
            "compile": seconds.compile,
            "train": seconds.train,
            "evaluate": seconds.evaluate,
        },
        "steps": training.iterations,
        "converged": training.converged,
        "bound": { "mean": bound.mean, "error": bound.error },
    }))
}

fn identity(size: usize) -> Vec<f64> {
    let one = |k: usize| f64::from(k / size == k % size);
    (0..size * size).map(one).collect()
}

impl Gaussian {
    /// The Gaussian of a guide's blocks, in the guide's own coordinates.
    fn learned(learned: &LearnedBlocks) -> Result<Gaussian> {
        let block = |name: &str| learned.get(name).with_context(|| format!("no {name}"));
        let (mean, log_scale) = (block("base_mean")?, block("base_log_scale")?);
        let size = mean.len();
        let below = learned.get("base_below");
        let entry = |k: usize| match (k / size, k % size) {
            (i, j) if i == j => log_scale[i].exp(),
            (i, j) if i > j => below.map_or(0.0, |below| below[k]),
            _ => 0.0,
        };
        Ok(Gaussian {
            mean: mean.to_vec(),
            factor: (0..size * size).map(entry).collect(),
        })
    }

    /// The Gaussian of z = shift + F w for w from this one.
    fn placed(&self, whitening: &Whitening) -> Gaussian {
        let size = self.mean.len();
        let (shift, matrix) = match whitening {
            Whitening::Identity => (vec![0.0; size], identity(size)),
            Whitening::Diagonal { shift, scale } => {
                let mut matrix = identity(size);
                (0..size).for_each(|i| matrix[i * size + i] = scale[i]);
                (shift.to_vec(), matrix)
            }
            Whitening::Dense { shift, factor } => (shift.to_vec(), factor.to_vec()),
        };
        let moved = product(&matrix, &self.mean, 1);
        Gaussian {
            mean: shift.iter().zip(&moved).map(|(a, b)| a + b).collect(),
            factor: product(&matrix, &self.factor, size),
        }
    }
}

/// The product of a square matrix with one of `columns` columns, both row after row.
fn product(left: &[f64], right: &[f64], columns: usize) -> Vec<f64> {
    let size = right.len() / columns;
    let entry = |k: usize| {
        let (i, j) = (k / columns, k % columns);
        (0..size)
            .map(|l| left[i * size + l] * right[l * columns + j])
            .sum()
    };
    (0..size * columns).map(entry).collect()
}
