//! The families of responses, with their links and parameters.
//!
//! A family is a file with its [`FamilyInfo`] and a row of the table below; everything else reads
//! the row.

mod bernoulli;
mod beta;
mod beta_binomial;
mod binomial;
mod categorical;
mod exponential;
mod gamma;
mod gaussian;
mod generalized_poisson;
mod inverse_gaussian;
mod lognormal;
mod negbinomial;
mod ordinal;
mod own;
mod poisson;
mod row_normal;
mod student;
mod von_mises;
mod weibull;
mod written;
mod zero_inflated;

use std::fmt;
use std::str::FromStr;

use lehr_graph::Expr;
use lehr_learn::{Link, ResponseForm, ResponseRule};
use lehr_model::Row;
use lehr_model::distribution::{CumulativeDistribution, Distribution};
use lehr_model::gp::RowMarginal;
use lehr_table::nearest;
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::column_name::{RESPONSE, TRIALS};
use crate::error::RegressionError;

pub(crate) use ordinal::cutpoints;
pub use own::DF_EXCESS;
pub(crate) use own::{OwnParameter, ParameterUnit};
use written::{WrittenFamily, absent};

/// The properties of a family.
pub(crate) struct FamilyInfo {
    /// The name that users write.
    pub(crate) name: &'static str,
    /// Other names that people use.
    pub(crate) aliases: &'static [&'static str],
    /// One line: the response, the link, the parameters.
    pub(crate) help: &'static str,
    pub(crate) link: Link,
    pub(crate) form: ResponseForm,
    /// Its parameters besides the linear predictor.
    pub(crate) own: &'static [OwnParameter],
    /// States the distribution of the response.
    pub(crate) observe: for<'o, 't, 'g> fn(&Observation<'o, 't, 'g>),
}

/// The inputs of the response's distribution.
pub(crate) struct Observation<'o, 't, 'g> {
    pub(crate) row: &'o Row<'t, 'g>,
    /// The linear predictor, `[n]` or `[n, heads]`.
    pub(crate) at: Expr<'g>,
    /// The family's own parameters on the original scale, in order.
    pub(crate) own: &'o [Expr<'g>],
    /// The variance of Gaussian noise of the linear predictor, which the distribution integrates over.
    pub(crate) variance: Option<Expr<'g>>,
    /// The bounds of the response.
    pub(crate) bounds: Bounds,
}

impl<'g> Observation<'_, '_, 'g> {
    /// The linear predictor with its noise, if it has any.
    pub(crate) fn marginal(&self) -> Option<RowMarginal<'g>> {
        let mean = self.at;
        self.variance.map(|variance| RowMarginal { mean, variance })
    }

    /// Trials of each row, of which the response counts the successes.
    fn trials(&self) -> Expr<'g> {
        self.row.number(TRIALS)
    }

    /// Observes the response as it is.
    fn observe(&self, distribution: impl Distribution<'g>) {
        self.row.observe(RESPONSE, distribution);
    }

    /// Observes the response within its bounds.
    fn bounded(&self, base: impl CumulativeDistribution<'g>) {
        self.bounds.observe(self.row, base);
    }
}

/// The enum of families and their rows.
macro_rules! families {
    ($($(#[$about:meta])* $variant:ident is $module:ident::$info:ident,)+) => {
        /// The distribution of the response around the linear predictor.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum Family {
            $($(#[$about])* $variant,)+
        }

        impl Family {
            /// All families, in the order in which they are listed to users.
            pub const ALL: &'static [Family] = &[$(Family::$variant,)+];

            /// The row of the family.
            pub(crate) fn info(self) -> &'static FamilyInfo {
                match self {
                    $(Family::$variant => &$module::$info,)+
                }
            }
        }
    };
}

families! {
    /// Real numbers with normal noise of standard deviation `sigma`.
    Gaussian is gaussian::INFO,
    /// Real numbers with Student's noise of scale `sigma` and `df` degrees of freedom.
    Student is student::INFO,
    /// Two outcomes; logit link.
    Bernoulli is bernoulli::INFO,
    /// Successes among trials; logit link.
    Binomial is binomial::INFO,
    /// Successes among trials with more than binomial variance, by `precision`; logit link.
    BetaBinomial is beta_binomial::INFO,
    /// Counts; log link.
    Poisson is poisson::INFO,
    /// Counts of variance mean + mean²/`shape`; log link.
    NegBinomial is negbinomial::INFO,
    /// Counts of variance mean/(1 − `dispersion`)²; log link.
    GeneralizedPoisson is generalized_poisson::INFO,
    /// Positive numbers of variance mean²/`shape`; log link.
    Gamma is gamma::INFO,
    /// Positive numbers whose logarithm is normal around the predictor, with `sigma`.
    LogNormal is lognormal::INFO,
    /// Waiting times at a constant rate; log link.
    Exponential is exponential::INFO,
    /// Waiting times of `shape`: above 1 the hazard rises with time; log link.
    Weibull is weibull::INFO,
    /// Positive numbers of variance mean³/`shape`; log link.
    InverseGaussian is inverse_gaussian::INFO,
    /// Numbers between 0 and 1 of variance mean(1 − mean)/(`precision` + 1); logit link.
    Beta is beta::INFO,
    /// Angles from −π to π of concentration `kappa`; the predictor is the tangent of half the direction.
    VonMises is von_mises::INFO,
    /// One of several classes; a logit for each class but the first.
    Categorical is categorical::INFO,
    /// One of several ordered classes: a predictor with logistic noise, cut at `cutpoint`s.
    Ordinal is ordinal::INFO,
    /// As `ordinal`, with normal noise.
    OrdinalProbit is ordinal::PROBIT,
    /// Counts with excess zeros of probability `gate`; log link.
    ZeroInflatedPoisson is zero_inflated::POISSON,
    /// As `negbinomial`, with excess zeros of probability `gate`; log link.
    ZeroInflatedNegBinomial is zero_inflated::NEGBINOMIAL,
    /// As `binomial`, with excess zeros of probability `gate`; logit link.
    ZeroInflatedBinomial is zero_inflated::BINOMIAL,
    /// Zeros of probability `gate`, else counts above 0; log link.
    HurdlePoisson is zero_inflated::HURDLE_POISSON,
    /// As `hurdle_poisson`, with counts of `negbinomial`; log link.
    HurdleNegBinomial is zero_inflated::HURDLE_NEGBINOMIAL,
    /// Counts whose log rate varies from row to row by a normal of `sigma`; log link.
    PoissonLogNormal is row_normal::POISSON,
    /// Successes among trials whose log odds vary from row to row by a normal of `sigma`.
    BinomialLogitNormal is row_normal::BINOMIAL,
}

impl Family {
    /// The name that users write.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Other names, most of them from other programs.
    pub fn aliases(self) -> &'static [&'static str] {
        self.info().aliases
    }

    /// The family of this name or alias.
    fn called(name: &str) -> Option<Family> {
        let is_called = |info: &FamilyInfo| info.name == name || info.aliases.contains(&name);
        let mut all = Family::ALL.iter().copied();
        all.find(|one| is_called(one.info()))
    }

    /// One line for a list of families: the response, the link, the parameters.
    pub fn help(self) -> &'static str {
        self.info().help
    }

    /// The link between the mean and the linear predictor.
    pub fn link(self) -> Link {
        self.info().link
    }

    /// The names of its parameters besides the linear predictor, as priors and results name them.
    pub fn parameters(self) -> Vec<&'static str> {
        self.info().own.iter().map(|own| own.name).collect()
    }

    /// The form of the response's values.
    pub fn form(self) -> ResponseForm {
        self.info().form
    }

    /// Whether the response is one of several classes, so that accuracy is a fair measure.
    pub fn is_class(self) -> bool {
        self.form().is_class()
    }

    /// Whether its distribution function has a closed form, which censoring and truncation need.
    fn has_tails(self) -> bool {
        use Family::{Exponential, Gaussian, LogNormal, Poisson, Weibull};
        matches!(self, Gaussian | LogNormal | Exponential | Weibull | Poisson)
    }

    /// The requirements of the family on its response.
    pub(crate) fn rule(self) -> ResponseRule {
        ResponseRule {
            family: self.name().to_owned(),
            form: self.form(),
            link: self.link(),
            has_tails: self.has_tails(),
            takes_errors: self == Family::Gaussian,
        }
    }

    /// The family with this rule.
    pub(crate) fn of_rule(rule: &ResponseRule) -> Family {
        Family::called(&rule.family).expect("the rule of a family")
    }

    /// The default family of a response of this form.
    pub(crate) fn usual(form: ResponseForm) -> Family {
        match form {
            ResponseForm::Two => Family::Bernoulli,
            ResponseForm::Unordered => Family::Categorical,
            ResponseForm::Successes => Family::Binomial,
            _ => Family::Gaussian,
        }
    }

    /// Whether the response is a count of events.
    pub fn is_count(self) -> bool {
        self.form() == ResponseForm::Count
    }
}

/// The log odds of a probability.
fn logit(probability: Expr<'_>) -> Expr<'_> {
    probability.ln() - (-probability).log1p()
}

/// A family is saved by its name, so that files remain valid when rows are added.
impl From<Family> for String {
    fn from(family: Family) -> String {
        family.name().to_owned()
    }
}

impl TryFrom<String> for Family {
    type Error = RegressionError;

    fn try_from(name: String) -> Result<Family, RegressionError> {
        name.parse()
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Family {
    /// Parses one family, or several separated by commas: those of several responses.
    ///
    /// # Errors
    /// If no family has such a name.
    pub fn parse_all(text: &str) -> Result<Vec<Family>, RegressionError> {
        let mut depth = 0_usize;
        let parts = text.split(|letter| {
            match letter {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            letter == ',' && depth == 0
        });
        parts.map(|part| part.trim().parse()).collect()
    }
}

impl FromStr for Family {
    type Err = RegressionError;

    fn from_str(text: &str) -> Result<Family, RegressionError> {
        let names = || Family::ALL.iter().map(|family| family.name());
        let written = WrittenFamily::of(text);
        let with_link = |link| Family::called(&format!("{}_{link}", written.name));
        let found = written.link.and_then(with_link);
        let found = found.or_else(|| Family::called(&written.name));
        if let Some(family) = found {
            return written.check_link(family);
        }
        let hint = match (absent(&written.name), nearest(&written.name, names())) {
            (Some(instead), _) => format!("write {instead}"),
            (None, Some(near)) => format!("did you mean {near:?}?"),
            (None, None) => {
                let all: Vec<&str> = names().collect();
                format!("the families are {}", all.join(", "))
            }
        };
        let name = text.to_owned();
        Err(RegressionError::Family { name, hint })
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
            ("softmax", Family::Categorical),
            ("nb", Family::NegBinomial),
            ("Poisson", Family::Poisson),
            ("negative-binomial", Family::NegBinomial),
            ("zero-inflated-poisson", Family::ZeroInflatedPoisson),
            ("poisson()", Family::Poisson),
            ("Gamma(link = \"log\")", Family::Gamma),
            ("inverse.gaussian", Family::InverseGaussian),
            ("cumulative(\"probit\")", Family::OrdinalProbit),
            ("cumulative(link=logit)", Family::Ordinal),
            ("nbinom2", Family::NegBinomial),
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
        for (text, hint) in [
            ("logistik", "the families are"),
            (
                "gaussian(log)",
                "the link of gaussian is identity: write --family gaussian",
            ),
            ("hurdle_gamma", "write two fits"),
            ("multinomial", "one row for each class, with weights(count)"),
        ] {
            let error = text.parse::<Family>().unwrap_err().to_string();
            assert!(error.contains(hint), "{error}");
        }
    }
}
