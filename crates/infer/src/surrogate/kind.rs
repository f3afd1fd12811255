//! The table of surrogates, one row each: how they are called, made and read back.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use lehr_density::{Density, Stored};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::recipe::{Labels, Recipe, RowChoice, Values, Weights};
use super::{Setup, Surrogate, SurrogateSettings, network, point_rows, taylor};
use crate::error::{SurrogateError, UnknownSurrogate};

/// A row of the table.
pub struct SurrogateInfo {
    /// The name in tables and settings.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// How it is made and read back.
    pub(crate) maker: &'static dyn Maker,
}

/// What is asked of a maker.
pub(crate) struct Order<'a> {
    pub(crate) density: &'a dyn Density,
    pub(crate) settings: &'a SurrogateSettings,
    pub(crate) setup: &'a Setup<'a>,
}

/// Makes a surrogate, and reads it back.
pub(crate) trait Maker: Sync {
    /// Whether the surrogate stands on rows of its own, so that their number matters.
    fn has_rows(&self) -> bool {
        true
    }

    /// Whether its weights are learned from a start that can be matched to the curvature.
    fn has_matched_weights(&self) -> bool {
        false
    }

    /// Whether it is for models whose rows have latents of their own, and for no others.
    fn needs_locals(&self) -> bool {
        false
    }

    /// Builds it. Refuses what cannot work in one sentence.
    fn build(&self, order: &Order<'_>) -> Result<Arc<dyn Surrogate>, SurrogateError>;

    /// Reads it back for a density of the same model, whose table is not read.
    fn restore(
        &self,
        kind: SurrogateKind,
        bytes: &[u8],
        density: &dyn Density,
    ) -> Result<Arc<dyn Surrogate>, SurrogateError>;
}

/// The row that serves every likelihood.
static RANDOM: SurrogateInfo = SurrogateInfo {
    name: "rand",
    help: "random rows, their weights learned; any likelihood",
    maker: &Recipe::RANDOM,
};

/// Every surrogate.
pub static SURROGATES: &[&SurrogateInfo] = &[
    &RANDOM,
    &SurrogateInfo {
        name: "rand±",
        help: "random covariates with both labels, the weights learned; binary responses",
        maker: &Recipe {
            rows: RowChoice::Random,
            labels: Labels::Both,
            weights: Weights::Learned,
            covariates: Values::Kept,
        },
    },
    &SurrogateInfo {
        name: "cs-init",
        help: "the rows of a coreset, their weights learned; binary responses",
        maker: &Recipe {
            rows: RowChoice::Coreset,
            labels: Labels::Own,
            weights: Weights::Learned,
            covariates: Values::Kept,
        },
    },
    &SurrogateInfo {
        name: "cs-init±",
        help: "the covariates of a coreset with both labels, the weights learned; binary responses",
        maker: &Recipe {
            rows: RowChoice::Coreset,
            labels: Labels::Both,
            weights: Weights::Learned,
            covariates: Values::Kept,
        },
    },
    &SurrogateInfo {
        name: "cs-fix",
        help: "the rows of a coreset with its own weights, nothing learned; binary responses",
        maker: &Recipe {
            rows: RowChoice::Coreset,
            labels: Labels::Own,
            weights: Weights::Kept,
            covariates: Values::Kept,
        },
    },
    &SurrogateInfo {
        name: "km-init±",
        help: "k-means centroids with both labels, centroids and weights learned; binary responses",
        maker: &Recipe {
            rows: RowChoice::Centroids,
            labels: Labels::Both,
            weights: Weights::Learned,
            covariates: Values::Learned,
        },
    },
    &SurrogateInfo {
        name: "km-fix±",
        help: "k-means centroids with both labels, the weights learned; binary responses, ships no rows",
        maker: &Recipe {
            rows: RowChoice::Centroids,
            labels: Labels::Both,
            weights: Weights::Learned,
            covariates: Values::Kept,
        },
    },
    &network::INFO,
    &taylor::INFO,
    &point_rows::INFO,
];

/// Which surrogate: a row of [`SURROGATES`].
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SurrogateKind(&'static SurrogateInfo);

impl SurrogateKind {
    /// `rand`
    pub const RANDOM: SurrogateKind = SurrogateKind(&RANDOM);
    /// `nn`
    pub const NETWORK: SurrogateKind = SurrogateKind(&network::INFO);
    /// `taylor`
    pub const TAYLOR: SurrogateKind = SurrogateKind(&taylor::INFO);
    /// `points`
    pub const POINTS: SurrogateKind = SurrogateKind(&point_rows::INFO);

    /// Every kind, in the order of the table.
    pub fn all() -> impl Iterator<Item = SurrogateKind> {
        SURROGATES.iter().copied().map(SurrogateKind)
    }

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

    /// Whether it stands on rows of its own, so that their number matters.
    pub fn has_rows(self) -> bool {
        self.0.maker.has_rows()
    }

    /// Whether it is for models whose rows have latents of their own, and for no others.
    pub fn needs_locals(self) -> bool {
        self.0.maker.needs_locals()
    }

    pub(crate) fn maker(self) -> &'static dyn Maker {
        self.0.maker
    }
}

/// The surrogate that was stored, for a density of the same model, whose table is not read.
/// Refuses a model that reads other columns or has other latents, and damaged bytes.
pub fn restore(
    stored: &Stored,
    density: &dyn Density,
) -> Result<Arc<dyn Surrogate>, SurrogateError> {
    let kind: SurrogateKind = stored.name.parse()?;
    kind.maker().restore(kind, &stored.bytes, density)
}

/// What a surrogate stores of itself.
pub(crate) fn stored(name: &str, value: &impl Serialize) -> Stored {
    Stored {
        name: name.to_owned(),
        bytes: postcard::to_stdvec(value).expect("a surrogate is numbers and names"),
    }
}

/// What was stored, from all of its bytes.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, SurrogateError> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(SurrogateError::Damaged),
    }
}

/// Refuses a model with another number of latents.
pub(crate) fn check_latents(saved: usize, density: &dyn Density) -> Result<(), SurrogateError> {
    let found = density.latents().size();
    if saved == found {
        return Ok(());
    }
    Err(SurrogateError::Latents { saved, found })
}

impl Default for SurrogateKind {
    fn default() -> Self {
        SurrogateKind::RANDOM
    }
}

impl PartialEq for SurrogateKind {
    fn eq(&self, other: &SurrogateKind) -> bool {
        self.name() == other.name()
    }
}

impl Eq for SurrogateKind {}

impl Hash for SurrogateKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

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

fn names() -> String {
    let names: Vec<&str> = SURROGATES.iter().map(|row| row.name).collect();
    names.join(", ")
}

impl FromStr for SurrogateKind {
    type Err = UnknownSurrogate;

    /// Reads a name; `+-` may be written for `±`.
    fn from_str(text: &str) -> Result<SurrogateKind, UnknownSurrogate> {
        let wanted = text.trim().to_lowercase().replace("+-", "±");
        let found = SurrogateKind::all().find(|kind| kind.name() == wanted);
        found.ok_or_else(|| UnknownSurrogate {
            found: text.to_owned(),
            known: names(),
        })
    }
}

impl From<SurrogateKind> for String {
    fn from(kind: SurrogateKind) -> String {
        kind.name().to_owned()
    }
}

impl TryFrom<String> for SurrogateKind {
    type Error = UnknownSurrogate;

    fn try_from(text: String) -> Result<SurrogateKind, UnknownSurrogate> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_in_both_spellings() {
        for kind in SurrogateKind::all() {
            let name = kind.name();
            assert_eq!(name.parse(), Ok(kind));
            assert_eq!(name.replace('±', "+-").parse(), Ok(kind));
            assert_eq!(kind.to_string(), name);
            assert!(!kind.help().contains('\n') && !kind.help().is_empty());
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(serde_json::from_str::<SurrogateKind>(&text).unwrap(), kind);
        }
        assert_eq!(SurrogateKind::RANDOM.name(), "rand");
        assert_eq!(SurrogateKind::NETWORK.name(), "nn");
        assert_eq!(SurrogateKind::TAYLOR.name(), "taylor");
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        assert!(names().starts_with("rand, rand±, cs-init, "), "{}", names());
        let error = "random".parse::<SurrogateKind>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "surrogate: expected one of {}, found \"random\"\n  \
                 hint: rand serves every likelihood",
                names()
            )
        );
    }
}
