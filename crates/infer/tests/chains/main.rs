//! Markov chains against posteriors that are known exactly.

#[expect(
    dead_code,
    unused_imports,
    reason = "the chains need the posterior and the evidence alone"
)]
#[path = "../exact_regression/mod.rs"]
mod exact_regression;

mod diagnostic;
mod flow;
mod hmc;
mod model;
mod nuts;
mod planted;
mod resume;
mod subsampled;
mod surrogate;

use lehr_density::Density;
use lehr_infer::chains::{ChainProgress, Trace};
use lehr_infer::guide::{WhitenedDensity, Whitening};
use lehr_infer::observer::Wish;
use lehr_numeric::summary::{effective_size, mean, sd};

/// Lets the chains run to the end.
fn unwatched(_: &ChainProgress) -> Wish {
    Wish::Continue
}

fn place<'d>(density: &'d dyn Density, whitening: &'d Whitening) -> WhitenedDensity<'d> {
    WhitenedDensity::new(density, whitening)
}

/// The mean of a function of the draws, with its Monte Carlo standard error.
fn estimate(trace: &Trace, of: impl Fn(&[f64]) -> f64) -> (f64, f64) {
    let size = trace.draws.len() / trace.len();
    let values: Vec<f64> = trace.draws.chunks_exact(size).map(of).collect();
    let chains: Vec<&[f64]> = values.chunks_exact(trace.length()).collect();
    (mean(&values), sd(&values) / effective_size(&chains).sqrt())
}

/// Asserts that a mean over the draws is within four standard errors of the truth.
fn assert_mean(trace: &Trace, name: &str, truth: f64, of: impl Fn(&[f64]) -> f64) {
    let (found, error) = estimate(trace, of);
    assert!(
        (found - truth).abs() < 4.0 * error,
        "{name}: {found} ± {error} for {truth}"
    );
}
