//! A row of the table of surrogates: its name, construction and restoration.

use std::fmt;
use std::sync::Arc;

use lehr_density::Density;
use serde::de::DeserializeOwned;

use super::{Setup, Surrogate, SurrogateSettings};
use crate::bytes::decoded;
use crate::error::SurrogateError;

/// A row of the table.
pub struct SurrogateInfo {
    /// The name in tables and settings.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Its construction and restoration.
    pub(crate) maker: &'static dyn Maker,
}

/// The arguments of a maker.
pub(crate) struct SurrogateRequest<'a> {
    pub(crate) density: &'a dyn Density,
    pub(crate) settings: &'a SurrogateSettings,
    pub(crate) setup: &'a Setup<'a>,
}

/// Makes a surrogate, and restores it.
pub(crate) trait Maker: Sync {
    /// Whether the surrogate uses rows, so that their number matters.
    fn has_rows(&self) -> bool {
        true
    }

    /// Whether its weights are learned from a start that can be matched to the curvature.
    fn has_matched_weights(&self) -> bool {
        false
    }

    /// Whether it is only for models with local latents.
    fn needs_locals(&self) -> bool {
        false
    }

    /// Builds it. Settings that cannot work are refused in one sentence.
    fn build(&self, order: &SurrogateRequest<'_>) -> Result<Arc<dyn Surrogate>, SurrogateError>;

    /// Restores it for a density of the same model, whose table is not read.
    fn restore(
        &self,
        kind: SurrogateKind,
        bytes: &[u8],
        density: &dyn Density,
    ) -> Result<Arc<dyn Surrogate>, SurrogateError>;
}

/// A kind of surrogate: a row of [`SURROGATES`](super::SURROGATES).
#[derive(Clone, Copy)]
pub struct SurrogateKind(pub(super) &'static SurrogateInfo);

impl SurrogateKind {
    /// The name in tables and settings.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        self.0.help
    }

    /// Whether its weights are learned from a start that can be matched to the curvature.
    pub fn has_matched_weights(self) -> bool {
        self.0.maker.has_matched_weights()
    }

    /// Whether it uses rows, so that their number matters.
    pub fn has_rows(self) -> bool {
        self.0.maker.has_rows()
    }

    /// Whether it is only for models with local latents.
    pub fn needs_locals(self) -> bool {
        self.0.maker.needs_locals()
    }

    pub(crate) fn maker(self) -> &'static dyn Maker {
        self.0.maker
    }
}

/// Reads a stored value from all of its bytes.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, SurrogateError> {
    decoded(bytes).map_err(|_| SurrogateError::Damaged)
}

/// Refuses a model with another number of latents.
pub(crate) fn check_latents(saved: usize, density: &dyn Density) -> Result<(), SurrogateError> {
    let found = density.latents().size();
    if saved == found {
        return Ok(());
    }
    Err(SurrogateError::refusal(format!(
        "the saved surrogate is a function of {saved} numbers, but the model has {found} latents"
    )))
}

impl PartialEq for SurrogateKind {
    fn eq(&self, other: &SurrogateKind) -> bool {
        self.name() == other.name()
    }
}

impl Eq for SurrogateKind {}

impl fmt::Debug for SurrogateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for SurrogateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
