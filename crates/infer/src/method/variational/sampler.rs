//! The stored form of a variational fit, and its restoration.

use lehr_density::Density;

use crate::bytes::decoded;
use crate::draw::{draw, reverse_log_weights};
use crate::error::FitError;
use crate::guide::{Base, Guide, LearnedBlocks, WhitenedDensity, Whitening};
use crate::method::Sampler;

/// Makes a guide from its stored form, for a density of the same model.
pub type ReadGuide = fn(&[u8], &dyn Density) -> Result<Box<dyn Guide>, FitError>;

/// A trained guide.
struct GuideSampler {
    whitening: Whitening,
    learned: LearnedBlocks,
    guide: Vec<u8>,
    read: ReadGuide,
}

/// Restores a variational fit; `read` makes its guide.
///
/// # Errors
/// If the bytes are not those of such a fit.
pub fn restore_guide(bytes: &[u8], read: ReadGuide) -> Result<Box<dyn Sampler>, FitError> {
    let (whitening, learned, guide) = decoded(bytes)?;
    Ok(Box::new(GuideSampler {
        whitening,
        learned,
        guide,
        read,
    }))
}

/// Restores a Gaussian.
///
/// # Errors
/// If the bytes are not those of one.
pub fn restore_gaussian(bytes: &[u8]) -> Result<Box<dyn Sampler>, FitError> {
    restore_guide(bytes, |bytes, _| {
        let base: Box<dyn Base> = decoded(bytes)?;
        Ok(base)
    })
}

impl Sampler for GuideSampler {
    fn draw(&self, density: &dyn Density, count: usize, seed: u64) -> Result<Vec<f64>, FitError> {
        let guide = (self.read)(&self.guide, density)?;
        let place = WhitenedDensity::new(density, &self.whitening);
        let drawn = draw(place, guide.as_ref(), &self.learned, (count, seed))?;
        Ok(drawn.latents)
    }

    fn reverse_log_weights(
        &self,
        density: &dyn Density,
        draws: &[f64],
        seed: u64,
    ) -> Result<Option<Vec<f64>>, FitError> {
        let guide = (self.read)(&self.guide, density)?;
        let place = WhitenedDensity::new(density, &self.whitening);
        Ok(reverse_log_weights(
            place,
            guide.as_ref(),
            &self.learned,
            (draws, seed),
        )?)
    }

    fn learned(&self) -> Option<(&Whitening, &LearnedBlocks)> {
        Some((&self.whitening, &self.learned))
    }
}
