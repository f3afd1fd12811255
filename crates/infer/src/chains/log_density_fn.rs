//! The function on which chains move: a log density of coordinates x, and the latents of x.

use lehr_density::Density;
use lehr_numeric::stream::Stream;

use super::trace::ChainError;
use crate::guide::Whitening;

/// The reasons why a log density has no value at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// The log density or its gradient is not finite: a divergence.
    #[error("the log density is not finite")]
    NotFinite,
    /// Rows cannot be reached. The density keeps the reason.
    #[error("the rows cannot be reached")]
    Lost,
}

/// A log density on which chains move, each in separate memory.
pub trait LogDensityFn: Sync {
    /// How many coordinates x has.
    fn size(&self) -> usize;

    /// The centre of the chains' starting points.
    fn origin(&self) -> Vec<f64>;

    /// Memory for one chain.
    fn evaluator(&self) -> Box<dyn Evaluator + '_>;

    /// The numbers of a draw at x that are kept.
    fn kept(&self, x: &[f64]) -> Vec<f64>;

    /// The number of threads for this many chains: by default those of the current pool.
    fn threads(&self, _chains: usize) -> usize {
        rayon::current_num_threads()
    }
}

/// The centre of the chains' starting points, in whitened coordinates.
pub(super) fn origin(density: &dyn Density, whitening: &Whitening) -> Vec<f64> {
    match whitening {
        Whitening::Identity => density.latents().start().to_vec(),
        Whitening::Diagonal { .. } | Whitening::Dense { .. } => vec![0.0; density.latents().size()],
    }
}

/// Evaluates the log density for one chain.
pub trait Evaluator {
    /// The value and the slope at x.
    ///
    /// # Errors
    /// If either is not finite, or rows cannot be reached.
    fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<f64, ValueError>;
}

/// A standard normal draw around `origin` for each chain, at which the log density is finite.
pub(super) fn starts(
    origin: &[f64],
    mut is_finite: impl FnMut(&[f64]) -> bool,
    chains: usize,
    seed: u64,
) -> Result<Vec<Vec<f64>>, ChainError> {
    const TRIES: usize = 100;
    let mut start = |chain: usize| {
        let mut stream = Stream::new(seed, "chain start", chain as u64);
        (0..TRIES).find_map(|_| {
            let x: Vec<f64> = origin.iter().map(|s| s + stream.normal()).collect();
            is_finite(&x).then_some(x)
        })
    };
    let found: Option<Vec<Vec<f64>>> = (0..chains).map(&mut start).collect();
    found.ok_or(ChainError::NoStart { tries: TRIES })
}
