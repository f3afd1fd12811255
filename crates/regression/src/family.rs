//! The families of responses: what they explain, and through which link.

use std::fmt;
use std::str::FromStr;

use lehr_table::nearest;
use serde::{Deserialize, Serialize};

use crate::error::RegressionError;

/// How the response is distributed around the linear predictor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Real numbers with normal noise of standard deviation `sigma`.
    Gaussian,
    /// Real numbers with Student's noise of scale `sigma` and `df` degrees of freedom.
    Student,
    /// Two outcomes; logit link.
    Bernoulli,
    /// Successes among trials; logit link.
    Binomial,
    /// Counts; log link.
    Poisson,
    /// Counts of variance mean + mean²/`shape`; log link.
    NegBinomial,
    /// Positive numbers of variance mean²/`shape`; log link.
    Gamma,
    /// Numbers between 0 and 1 of variance mean(1 − mean)/(`precision` + 1); logit link.
    Beta,
    /// One of several classes; a logit for each class but the first.
    Categorical,
    /// One of several ordered classes: a predictor with logistic noise, cut at `cutpoint`s.
    Ordinal,
    /// Counts with surplus zeros of probability `gate`; log link.
    #[serde(rename = "zero_inflated_poisson")]
    ZeroInflatedPoisson,
    /// As `negbinomial`, with surplus zeros of probability `gate`; log link.
    #[serde(rename = "zero_inflated_negbinomial")]
    ZeroInflatedNegBinomial,
}

/// What the linear predictor is a function of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// The mean itself.
    Identity,
    /// The logarithm of the mean.
    Log,
    /// The log odds of the mean.
    Logit,
}

impl Family {
    /// All families, in the order in which they are listed to users.
    pub const ALL: [Family; 12] = [
        Family::Gaussian,
        Family::Student,
        Family::Bernoulli,
        Family::Binomial,
        Family::Poisson,
        Family::NegBinomial,
        Family::Gamma,
        Family::Beta,
        Family::Categorical,
        Family::Ordinal,
        Family::ZeroInflatedPoisson,
        Family::ZeroInflatedNegBinomial,
    ];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Family::Gaussian => "gaussian",
            Family::Student => "student",
            Family::Bernoulli => "bernoulli",
            Family::Binomial => "binomial",
            Family::Poisson => "poisson",
            Family::NegBinomial => "negbinomial",
            Family::Gamma => "gamma",
            Family::Beta => "beta",
            Family::Categorical => "categorical",
            Family::Ordinal => "ordinal",
            Family::ZeroInflatedPoisson => "zero_inflated_poisson",
            Family::ZeroInflatedNegBinomial => "zero_inflated_negbinomial",
        }
    }

    /// Other names that people write, most of them from other programs.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Family::Gaussian => &["normal", "linear"],
            Family::Student => &["student_t", "t", "robust"],
            Family::Bernoulli => &["logistic", "logit", "binary"],
            Family::Binomial | Family::Gamma | Family::Beta => &[],
            Family::Poisson => &["count", "counts"],
            Family::NegBinomial => &["nb", "nbinom", "negative_binomial", "neg_binomial"],
            Family::Categorical => &["multinomial", "multiclass", "softmax"],
            Family::Ordinal => &["ordered", "ordered_logistic", "cumulative"],
            Family::ZeroInflatedPoisson => &["zip"],
            Family::ZeroInflatedNegBinomial => &["zinb", "zero_inflated_negative_binomial"],
        }
    }

    /// One line for a list of families: the response, the link, the parameters.
    pub fn help(self) -> &'static str {
        match self {
            Family::Gaussian => "real numbers, normal noise; sigma",
            Family::Student => "real numbers, heavy-tailed noise; sigma, df",
            Family::Bernoulli => "two outcomes; logit link",
            Family::Binomial => "successes among trials; logit link",
            Family::Poisson => "counts; log link",
            Family::NegBinomial => "overdispersed counts; log link; shape",
            Family::Gamma => "positive numbers; log link; shape",
            Family::Beta => "numbers strictly between 0 and 1; logit link; precision",
            Family::Categorical => "unordered classes; a logit for each class but the first",
            Family::Ordinal => "ordered classes; cumulative logits; cutpoints",
            Family::ZeroInflatedPoisson => "counts with surplus zeros; log link; gate",
            Family::ZeroInflatedNegBinomial => {
                "overdispersed counts with surplus zeros; log link; shape, gate"
            }
        }
    }

    /// The link between the mean and the linear predictor.
    pub fn link(self) -> Link {
        match self {
            Family::Gaussian | Family::Student => Link::Identity,
            Family::Bernoulli
            | Family::Binomial
            | Family::Beta
            | Family::Categorical
            | Family::Ordinal => Link::Logit,
            Family::Poisson
            | Family::NegBinomial
            | Family::Gamma
            | Family::ZeroInflatedPoisson
            | Family::ZeroInflatedNegBinomial => Link::Log,
        }
    }

    /// Whether the response is one of several classes, so that accuracy is a fair measure.
    pub fn is_class(self) -> bool {
        matches!(
            self,
            Family::Bernoulli | Family::Categorical | Family::Ordinal
        )
    }

    /// Whether the response is a count of events.
    pub(crate) fn is_count(self) -> bool {
        matches!(
            self,
            Family::Poisson
                | Family::NegBinomial
                | Family::ZeroInflatedPoisson
                | Family::ZeroInflatedNegBinomial
        )
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Family {
    type Err = RegressionError;

    fn from_str(text: &str) -> Result<Family, RegressionError> {
        let names = || Family::ALL.iter().map(|family| family.name());
        let plain = text.trim().to_lowercase().replace('-', "_");
        let is_called =
            |family: &&Family| family.name() == plain || family.aliases().contains(&plain.as_str());
        let found = Family::ALL.iter().find(is_called);
        found.copied().ok_or_else(|| {
            let hint = match nearest(text, names()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!(
                    "the families are {}",
                    names().collect::<Vec<_>>().join(", ")
                ),
            };
            let name = text.to_owned();
            RegressionError::Family { name, hint }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_known_by_the_names_that_people_type() {
        for (text, family) in [
            ("logistic", Family::Bernoulli),
            ("normal", Family::Gaussian),
            ("multinomial", Family::Categorical),
            ("nb", Family::NegBinomial),
            ("Poisson", Family::Poisson),
            ("negative-binomial", Family::NegBinomial),
            ("zero-inflated-poisson", Family::ZeroInflatedPoisson),
        ] {
            assert_eq!(text.parse::<Family>().unwrap(), family, "{text}");
        }
        let names = Family::ALL.iter().flat_map(|family| {
            let aliases = family.aliases().iter().copied();
            aliases.chain([family.name()])
        });
        let mut names: Vec<&str> = names.collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name stands for one family");
        assert!("logistik".parse::<Family>().is_err());
    }
}
