//! A guide in a form that can be saved.

use lehr_density::{Density, Stored};
use serde::{Deserialize, Serialize};

use crate::annealed::{Annealed, AnnealedStart, Drive, Momentum};
use crate::guide::{Base, Guide};
use crate::surrogate::{SurrogateError, restore};

/// A guide that can be saved and had again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum GuideSpec {
    /// A Gaussian.
    Gaussian(Base),
    /// A chain.
    Annealed {
        /// q₀
        base: Base,
        /// What drives it.
        drive: DriveSpec,
        /// K
        steps: usize,
        /// Its coordinates.
        momentum: Momentum,
        /// Where its quantities started, with `η_max`.
        start: AnnealedStart,
    },
}

/// A drive that can be saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum DriveSpec {
    /// All rows.
    FullData,
    /// One batch of this size per chain.
    Batch(usize),
    /// A fresh batch of this size per step.
    FreshBatch(usize),
    /// A surrogate with all it needs.
    Surrogate(Stored),
}

impl GuideSpec {
    /// The guide itself.
    pub fn guide(&self, density: &dyn Density) -> Result<Box<dyn Guide>, SurrogateError> {
        let (base, drive, steps, momentum, start) = match self {
            GuideSpec::Gaussian(base) => return Ok(Box::new(*base)),
            GuideSpec::Annealed {
                base,
                drive,
                steps,
                momentum,
                start,
            } => (base, drive, steps, momentum, start),
        };
        let drive = match drive {
            DriveSpec::FullData => Drive::FullData,
            DriveSpec::Batch(size) => Drive::Batch { size: *size },
            DriveSpec::FreshBatch(size) => Drive::FreshBatch { size: *size },
            DriveSpec::Surrogate(saved) => Drive::Surrogate(restore(saved, density)?),
        };
        Ok(Box::new(Annealed {
            base: *base,
            drive,
            steps: *steps,
            momentum: *momentum,
            start: *start,
        }))
    }

    /// What of the user's data a saved fit carries.
    pub fn contents(&self, density: &dyn Density) -> Result<String, SurrogateError> {
        match self {
            GuideSpec::Annealed {
                drive: DriveSpec::Surrogate(saved),
                ..
            } => Ok(restore(saved, density)?.contents()),
            _ => Ok("no rows of the table".into()),
        }
    }
}
