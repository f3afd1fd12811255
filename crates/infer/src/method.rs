//! The table of methods: names, help and what they need. Everything that lists methods reads it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A method by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Method {
    /// Independent Gaussians.
    MeanField,
    /// A Gaussian with all correlations.
    FullRank,
    /// A Gaussian with a few directions of correlation.
    LowRank,
    /// A chain on all rows.
    Dais,
    /// A chain on one mini-batch.
    NsDais,
    /// A chain on a fresh mini-batch per step.
    NsPrimeDais,
    /// A chain on a learned surrogate likelihood.
    SlDais,
}

/// What people should know of a method.
#[derive(Clone, Copy, Debug)]
pub struct MethodInfo {
    /// Which one.
    pub method: Method,
    /// The name in settings, tables and files.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
    /// Cost of a training step, in words.
    pub cost: &'static str,
    /// When to choose it.
    pub when: &'static str,
}

const METHODS: [MethodInfo; 7] = [
    MethodInfo {
        method: Method::MeanField,
        name: "mean-field",
        aliases: &["mf"],
        help: "independent Gaussians; fast, blind to correlations",
        cost: "one batch",
        when: "a first look, or very many latents",
    },
    MethodInfo {
        method: Method::FullRank,
        name: "full-rank",
        aliases: &["mvn", "fr"],
        help: "a Gaussian with all correlations",
        cost: "one batch and D² numbers",
        when: "the posterior is close to Gaussian and D is at most a few hundred",
    },
    MethodInfo {
        method: Method::LowRank,
        name: "low-rank",
        aliases: &["lr"],
        help: "a Gaussian with a few directions of correlation",
        cost: "one batch and D times the rank",
        when: "correlations matter but D is too large for full rank",
    },
    MethodInfo {
        method: Method::Dais,
        name: "dais",
        aliases: &["uha"],
        help: "annealed leapfrog steps on all rows",
        cost: "all rows, K times",
        when: "small tables, or as the reference for the others",
    },
    MethodInfo {
        method: Method::NsDais,
        name: "ns-dais",
        aliases: &[],
        help: "annealed leapfrog steps on one mini-batch per chain",
        cost: "one batch, K times",
        when: "for comparison: it tends to a mixture of mini-batch posteriors",
    },
    MethodInfo {
        method: Method::NsPrimeDais,
        name: "ns2-dais",
        aliases: &["ns'-dais", "ns′-dais"],
        help: "annealed leapfrog steps, a fresh mini-batch at each",
        cost: "K batches",
        when: "for comparison with ns-dais",
    },
    MethodInfo {
        method: Method::SlDais,
        name: "sl-dais",
        aliases: &[],
        help: "annealed leapfrog steps on a learned surrogate likelihood",
        cost: "the surrogate's rows, K times, and one batch; independent of N",
        when: "the default: skewed or heavy-tailed posteriors on tables of any length",
    },
];

/// All methods.
pub fn methods() -> &'static [MethodInfo] {
    &METHODS
}

impl Method {
    /// What people should know of it.
    pub fn info(self) -> &'static MethodInfo {
        let row = METHODS.iter().find(|info| info.method == self);
        row.expect("every method has a row")
    }

    /// True for the methods with a chain.
    pub fn is_annealed(self) -> bool {
        matches!(
            self,
            Method::Dais | Method::NsDais | Method::NsPrimeDais | Method::SlDais
        )
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info().name)
    }
}

/// A name that is no method's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("method: expected one of {known}, found {found:?}")]
pub struct UnknownMethod {
    /// What was found.
    pub found: String,
    known: String,
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(text: &str) -> Result<Method, UnknownMethod> {
        let named = |info: &&MethodInfo| info.name == text || info.aliases.contains(&text);
        let row = METHODS.iter().find(named).ok_or_else(|| UnknownMethod {
            found: text.to_owned(),
            known: METHODS.map(|info| info.name).join(", "),
        })?;
        Ok(row.method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_leads_to_its_method() {
        for info in methods() {
            assert_eq!(info.name.parse(), Ok(info.method));
            for alias in info.aliases {
                assert_eq!(alias.parse(), Ok(info.method));
            }
        }
        let error = "sldais".parse::<Method>().unwrap_err();
        assert!(
            error
                .to_string()
                .contains("expected one of mean-field, full-rank")
        );
    }
}
