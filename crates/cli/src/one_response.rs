//! The choice of one of several responses.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use lehr::regression::SavedFit;

/// One response of a fit of several.
#[derive(Clone, Debug, Args)]
pub(crate) struct OneResponse {
    /// One response of a fit of several, e.g. y2 of mvbind(y1, y2)
    #[arg(long, value_name = "NAME")]
    response: Option<String>,
}

impl OneResponse {
    /// Loads a fit, and selects a response if one is named.
    pub(crate) fn load_fit(&self, path: impl AsRef<Path>) -> Result<SavedFit> {
        let saved = SavedFit::load(path)?;
        match &self.response {
            None => Ok(saved),
            Some(name) => Ok(saved.response(name)?),
        }
    }
}
