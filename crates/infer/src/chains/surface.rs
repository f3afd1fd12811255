//! What a chain moves on: a log density of coordinates x, and the numbers that they stand for.

use lehr_density::Density;
use lehr_numeric::stream::Stream;

use super::trace::ChainError;
use crate::guide::Frame;

/// Where a chain moves: a model, the frame of its coordinates, and θ.
#[derive(Clone, Copy)]
pub struct Place<'d> {
    /// The model and its data.
    pub density: &'d dyn Density,
    /// z = shift + F x
    pub frame: &'d Frame,
    /// θ
    pub params: &'d [f64],
}

/// A point at which the log density or its gradient is not finite: a divergence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the log density is not finite")]
pub struct NotFinite;

/// A log density that chains move on, each in memory of its own.
pub(crate) trait Surface: Sync {
    /// How many coordinates x has.
    fn size(&self) -> usize;

    /// The coordinates that chains start around.
    fn origin(&self) -> Vec<f64>;

    /// Memory for one chain.
    fn evaluator(&self) -> Box<dyn Evaluator + '_>;

    /// What is kept of a draw at x.
    fn kept(&self, x: &[f64]) -> Vec<f64>;

    /// On how many threads so many chains compute: on those of the current pool.
    fn threads(&self, _chains: usize) -> usize {
        rayon::current_num_threads()
    }
}

/// The coordinates in a frame that chains start around.
pub(super) fn origin(density: &dyn Density, frame: &Frame) -> Vec<f64> {
    match frame {
        Frame::Identity => density.latents().start().to_vec(),
        Frame::Diagonal { .. } | Frame::Dense { .. } => vec![0.0; density.latents().size()],
    }
}

/// Where one chain asks for the log density.
pub(crate) trait Evaluator {
    /// The value and the slope at x.
    ///
    /// # Errors
    /// If either is not finite.
    fn value(&mut self, x: &[f64], slope: &mut [f64]) -> Result<f64, NotFinite>;
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
