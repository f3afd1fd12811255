//! Surrogates in files, from which they come back without the table.

use std::sync::Arc;

use lehr_density::Density;
use serde::{Deserialize, Serialize};

use super::label_pair::LabelPair;
use super::weighted_rows::WeightedRows;
use super::{
    CentroidFix, CentroidInit, CoresetFix, CoresetInit, CoresetPair, FixedRows, Network, Random,
    RandomPair, Surrogate, SurrogateError, Taylor,
};

/// All that makes a surrogate, except the values of its learned quantities.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SavedSurrogate {
    /// `rand`
    #[serde(rename = "rand")]
    Random(Random),
    /// `rand±`
    #[serde(rename = "rand±")]
    RandomPair(RandomPair),
    /// `cs-init`
    #[serde(rename = "cs-init")]
    CoresetInit(CoresetInit),
    /// `cs-init±`
    #[serde(rename = "cs-init±")]
    CoresetPair(CoresetPair),
    /// `cs-fix`
    #[serde(rename = "cs-fix")]
    CoresetFix(CoresetFix),
    /// `km-init±`
    #[serde(rename = "km-init±")]
    CentroidInit(CentroidInit),
    /// `km-fix±`
    #[serde(rename = "km-fix±")]
    CentroidFix(CentroidFix),
    /// `nn`
    #[serde(rename = "nn")]
    Network(Network),
    /// `taylor`
    #[serde(rename = "taylor")]
    Taylor(Taylor),
}

impl SavedSurrogate {
    /// The surrogate for a density of the same model, whose table is not read. Refuses a model
    /// that reads other columns, and a damaged file.
    pub fn restore(&self, density: &dyn Density) -> Result<Arc<dyn Surrogate>, SurrogateError> {
        if !self.is_whole() {
            return Err(SurrogateError::Damaged);
        }
        if let Some(rows) = self.rows() {
            rows.check(density)?;
        }
        let found = density.latents().size();
        if let Some(saved) = self.latents().filter(|saved| *saved != found) {
            return Err(SurrogateError::Latents { saved, found });
        }
        Ok(match self.clone() {
            SavedSurrogate::Random(surrogate) => Arc::new(surrogate),
            SavedSurrogate::RandomPair(surrogate) => Arc::new(surrogate),
            SavedSurrogate::CoresetInit(surrogate) => Arc::new(surrogate),
            SavedSurrogate::CoresetPair(surrogate) => Arc::new(surrogate),
            SavedSurrogate::CoresetFix(surrogate) => Arc::new(surrogate),
            SavedSurrogate::CentroidInit(surrogate) => Arc::new(surrogate),
            SavedSurrogate::CentroidFix(surrogate) => Arc::new(surrogate),
            SavedSurrogate::Network(surrogate) => Arc::new(surrogate),
            SavedSurrogate::Taylor(surrogate) => Arc::new(surrogate),
        })
    }

    /// D, where the surrogate is tied to it.
    fn latents(&self) -> Option<usize> {
        match self {
            SavedSurrogate::Network(surrogate) => Some(surrogate.latents()),
            SavedSurrogate::Taylor(surrogate) => Some(surrogate.latents()),
            _ => None,
        }
    }

    /// The rows in the file, centroids included.
    pub fn rows(&self) -> Option<&FixedRows> {
        match self {
            SavedSurrogate::CoresetFix(surrogate) => Some(&surrogate.rows),
            SavedSurrogate::Network(_) => None,
            _ => {
                let weighted = self.weighted().map(|weighted| &weighted.rows);
                weighted.or_else(|| self.pair().map(|pair| &pair.rows))
            }
        }
    }

    /// The rows with one learned weight each.
    fn weighted(&self) -> Option<&WeightedRows> {
        match self {
            SavedSurrogate::Random(surrogate) => Some(&surrogate.0),
            SavedSurrogate::CoresetInit(surrogate) => Some(surrogate.weighted()),
            SavedSurrogate::Taylor(surrogate) => Some(&surrogate.rows),
            _ => None,
        }
    }

    /// The rows with both labels.
    fn pair(&self) -> Option<&LabelPair> {
        match self {
            SavedSurrogate::RandomPair(surrogate) => Some(surrogate.pair()),
            SavedSurrogate::CoresetPair(surrogate) => Some(surrogate.pair()),
            SavedSurrogate::CentroidInit(surrogate) => Some(surrogate.pair()),
            SavedSurrogate::CentroidFix(surrogate) => Some(surrogate.pair()),
            _ => None,
        }
    }

    /// Whether all parts are as long as they must be.
    fn is_whole(&self) -> bool {
        match self {
            SavedSurrogate::CoresetFix(surrogate) => surrogate.is_whole(),
            SavedSurrogate::Taylor(surrogate) => surrogate.is_whole(),
            _ => {
                let weighted = self.weighted().is_none_or(WeightedRows::is_whole);
                weighted && self.pair().is_none_or(LabelPair::is_whole)
            }
        }
    }
}
