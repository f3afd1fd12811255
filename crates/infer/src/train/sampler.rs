//! What a variational fit stores of itself, and how it is read back.

use lehr_density::Density;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::evaluate::{draw, weigh_ends};
use crate::fit::FitError;
use crate::guide::{Base, Frame, Guide, Learned, Place};
use crate::method::Sampler;

/// A value as the bytes that are stored of it.
pub fn encoded(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("a guide is numbers and names")
}

/// A value read back from all of its bytes.
///
/// # Errors
/// If they are not its own.
pub fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FitError> {
    let problem = match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => return Ok(value),
        Ok((_, rest)) => format!("{} bytes too many", rest.len()),
        Err(error) => error.to_string(),
    };
    Err(FitError::Stored { problem })
}

/// Makes a guide from what was stored of it, for a density of the same model.
pub type ReadGuide = fn(&[u8], &dyn Density) -> Result<Box<dyn Guide>, FitError>;

/// A trained guide.
struct GuideSampler {
    frame: Frame,
    learned: Learned,
    guide: Vec<u8>,
    read: ReadGuide,
}

/// Reads back a variational fit whose guide `read` makes.
///
/// # Errors
/// If the bytes are not those of such a fit.
pub fn restore_guide(bytes: &[u8], read: ReadGuide) -> Result<Box<dyn Sampler>, FitError> {
    let (frame, learned, guide) = decoded(bytes)?;
    Ok(Box::new(GuideSampler {
        frame,
        learned,
        guide,
        read,
    }))
}

/// Reads back a Gaussian.
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
        let place = Place {
            density,
            frame: &self.frame,
        };
        let drawn = draw(place, guide.as_ref(), &self.learned, (count, seed))?;
        Ok(drawn.latents)
    }

    fn weigh_ends(
        &self,
        density: &dyn Density,
        draws: &[f64],
        seed: u64,
    ) -> Result<Option<Vec<f64>>, FitError> {
        let guide = (self.read)(&self.guide, density)?;
        let place = Place {
            density,
            frame: &self.frame,
        };
        Ok(weigh_ends(
            place,
            guide.as_ref(),
            &self.learned,
            (draws, seed),
        )?)
    }

    fn learned(&self) -> Option<(&Frame, &Learned)> {
        Some((&self.frame, &self.learned))
    }
}
