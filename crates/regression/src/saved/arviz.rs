//! Draws for ArviZ.

use std::path::Path;

use lehr_infer::posterior::Posterior;
use lehr_report::{Draws, InferenceData, ReportData};

use super::SavedFit;
use crate::Error;
use crate::regression::{Groups, NamedDraws};

/// Independent draws are dealt to so many chains: some of ArviZ's diagnostics ask for several.
const CHAINS: usize = 4;

impl SavedFit {
    /// Writes the draws of all coefficients, those of single groups included, for
    /// `arviz.from_netcdf`. All draws count the same.
    pub fn to_arviz(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let data = self.inference_data(&self.even_draws(Groups::Include))?;
        Ok(data.write(path.as_ref())?)
    }

    /// Some of the fit's draws as ArviZ arranges them.
    pub fn inference_data(&self, columns: &[NamedDraws]) -> Result<InferenceData, Error> {
        let data = InferenceData::from_draws(&rows(columns, 1))?;
        Ok(data
            .in_chains(self.posterior.n_chains().unwrap_or(CHAINS))
            .with_attribute("inference_library", "lehr")
            .with_attribute("inference_library_version", self.version.as_str())
            .with_attribute("created_at", self.date.as_str()))
    }
}

/// What can be made of any posterior whose model is stored with it, as that of every bound
/// `Model` is.
pub trait PosteriorReport {
    /// The posterior as a report shows it.
    fn report(&self) -> Result<ReportData, Error>;

    /// Writes the draws for `arviz.from_netcdf`. All draws count the same.
    fn to_arviz(&self, path: &Path) -> Result<(), Error>;
}

impl PosteriorReport for Posterior {
    fn report(&self) -> Result<ReportData, Error> {
        Ok(SavedFit::of(self.clone())?.report())
    }

    fn to_arviz(&self, path: &Path) -> Result<(), Error> {
        SavedFit::of(self.clone())?.to_arviz(path)
    }
}

/// Every so many draws, one row per draw.
pub(super) fn rows(columns: &[NamedDraws], stride: usize) -> Draws {
    let count = columns.first().map_or(0, |one| one.values.len());
    let rows = (0..count).step_by(stride);
    Draws {
        values: rows
            .flat_map(|row| columns.iter().map(move |one| one.values[row]))
            .collect(),
        names: columns.iter().map(|one| one.name.clone()).collect(),
    }
}
