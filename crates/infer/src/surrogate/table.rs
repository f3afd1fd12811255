//! The table of surrogates, one row each, and their lookup by name.

use std::str::FromStr;
use std::sync::Arc;

use lehr_density::{Density, StoredForm};

use super::kind::{SurrogateInfo, SurrogateKind};
use super::recipe::{Labels, Recipe, RowChoice, Values, Weights};
use super::{Surrogate, network, point_rows, taylor};
use crate::error::{SurrogateError, UnknownSurrogate};

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
            labels: Labels::Both,
            ..Recipe::RANDOM
        },
    },
    &SurrogateInfo {
        name: "cs-init",
        help: "the rows of a coreset, their weights learned; binary responses",
        maker: &Recipe {
            rows: RowChoice::Coreset,
            ..Recipe::RANDOM
        },
    },
    &SurrogateInfo {
        name: "cs-init±",
        help: "the covariates of a coreset with both labels, the weights learned; binary responses",
        maker: &Recipe {
            rows: RowChoice::Coreset,
            labels: Labels::Both,
            ..Recipe::RANDOM
        },
    },
    &SurrogateInfo {
        name: "cs-fix",
        help: "the rows of a coreset with its own weights, nothing learned; binary responses",
        maker: &Recipe {
            rows: RowChoice::Coreset,
            weights: Weights::Kept,
            ..Recipe::RANDOM
        },
    },
    &SurrogateInfo {
        name: "km-init±",
        help: "k-means centroids with both labels, centroids and weights learned; binary responses",
        maker: &Recipe {
            rows: RowChoice::Centroids,
            labels: Labels::Both,
            covariates: Values::Learned,
            ..Recipe::RANDOM
        },
    },
    &SurrogateInfo {
        name: "km-fix±",
        help: "k-means centroids with both labels, the weights learned; binary responses, ships no rows",
        maker: &Recipe {
            rows: RowChoice::Centroids,
            labels: Labels::Both,
            ..Recipe::RANDOM
        },
    },
    &network::INFO,
    &taylor::INFO,
    &point_rows::INFO,
];

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
}

/// Restores a stored surrogate for a density of the same model, whose table is not read. Refuses a
/// model that reads other columns or has other latents, and damaged bytes.
pub fn restore(
    stored: &StoredForm,
    density: &dyn Density,
) -> Result<Arc<dyn Surrogate>, SurrogateError> {
    let kind: SurrogateKind = stored.name.parse()?;
    kind.maker().restore(kind, &stored.bytes, density)
}

impl Default for SurrogateKind {
    fn default() -> Self {
        SurrogateKind::RANDOM
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
