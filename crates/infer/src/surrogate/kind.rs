//! The surrogates by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which surrogate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum SurrogateKind {
    /// `rand`
    #[default]
    Random,
    /// `rand±`
    RandomPair,
    /// `cs-init`
    CoresetInit,
    /// `cs-init±`
    CoresetPair,
    /// `cs-fix`
    CoresetFix,
    /// `km-init±`
    CentroidInit,
    /// `km-fix±`
    CentroidFix,
    /// `nn`
    Network,
    /// `taylor`
    Taylor,
}

impl SurrogateKind {
    /// Every surrogate with its name and one line of help.
    pub const ALL: [(SurrogateKind, &'static str, &'static str); 9] = [
        (
            SurrogateKind::Random,
            "rand",
            "random rows, their weights learned; any likelihood",
        ),
        (
            SurrogateKind::RandomPair,
            "rand±",
            "random covariates with both labels, the weights learned; binary responses",
        ),
        (
            SurrogateKind::CoresetInit,
            "cs-init",
            "the rows of a coreset, their weights learned; binary responses",
        ),
        (
            SurrogateKind::CoresetPair,
            "cs-init±",
            "the covariates of a coreset with both labels, the weights learned; binary responses",
        ),
        (
            SurrogateKind::CoresetFix,
            "cs-fix",
            "the rows of a coreset with its own weights, nothing learned; binary responses",
        ),
        (
            SurrogateKind::CentroidInit,
            "km-init±",
            "k-means centroids with both labels, centroids and weights learned; binary responses",
        ),
        (
            SurrogateKind::CentroidFix,
            "km-fix±",
            "k-means centroids with both labels, the weights learned; binary responses, ships no rows",
        ),
        (
            SurrogateKind::Network,
            "nn",
            "a learned network of the latents, without rows; any likelihood",
        ),
        (
            SurrogateKind::Taylor,
            "taylor",
            "rows by how badly an expansion fits them, and the rest to second order at the mode; any likelihood",
        ),
    ];

    fn row(self) -> &'static (SurrogateKind, &'static str, &'static str) {
        let found = Self::ALL.iter().find(|(kind, ..)| *kind == self);
        found.expect("the table has every kind")
    }

    /// The name in tables and settings.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// One line of help.
    pub fn help(self) -> &'static str {
        self.row().2
    }

    /// Whether its weights are learned from a start that can be matched to the curvature.
    pub fn has_matched_weights(self) -> bool {
        use SurrogateKind::{CoresetFix, Network, Taylor};
        !matches!(self, CoresetFix | Network | Taylor)
    }

    /// Whether it stands on rows of its own, so that their number matters.
    pub fn has_rows(self) -> bool {
        self != SurrogateKind::Network
    }
}

impl fmt::Display for SurrogateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no surrogate has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "surrogate: expected one of {}, found {found:?}\n  hint: rand serves every likelihood",
    names()
)]
pub struct UnknownSurrogate {
    /// What was asked for.
    pub found: String,
}

fn names() -> String {
    let names: Vec<&str> = SurrogateKind::ALL
        .iter()
        .map(|(_, name, _)| *name)
        .collect();
    names.join(", ")
}

impl FromStr for SurrogateKind {
    type Err = UnknownSurrogate;

    /// Reads a name; `+-` may be written for `±`.
    fn from_str(text: &str) -> Result<SurrogateKind, UnknownSurrogate> {
        let wanted = text.trim().to_lowercase().replace("+-", "±");
        let found = Self::ALL.iter().find(|(_, name, _)| *name == wanted);
        found
            .map(|(kind, ..)| *kind)
            .ok_or_else(|| UnknownSurrogate {
                found: text.to_owned(),
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
        for (kind, name, help) in SurrogateKind::ALL {
            assert_eq!(name.parse(), Ok(kind));
            assert_eq!(name.replace('±', "+-").parse(), Ok(kind));
            assert_eq!(kind.to_string(), name);
            assert!(!help.contains('\n') && !help.is_empty());
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(serde_json::from_str::<SurrogateKind>(&text).unwrap(), kind);
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = "random".parse::<SurrogateKind>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "surrogate: expected one of rand, rand±, cs-init, cs-init±, cs-fix, km-init±, \
             km-fix±, nn, taylor, found \"random\"\n  hint: rand serves every likelihood"
        );
    }
}
