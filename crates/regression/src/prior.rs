//! Priors: the user's if there are any, otherwise defaults scaled to the table.

use lehr_formula::{FormulaError, PriorSpec, TextKind, nearest};
use lehr_learn::{LearnError, ResponseForm, distinct_names};

use serde::{Deserialize, Serialize};

use crate::family::Family;
use crate::law::{Domain, Kind, Law};
use crate::response_name::{owner, prefixed};

/// The most parameters that a message lists.
const MOST_SHOWN: usize = 8;

/// The prior of one parameter, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriorLine {
    /// The reported name of the parameter.
    pub name: String,
    /// The distribution on the original scale, `normal(0, 2.5)`.
    pub distribution: String,
    /// Its origin.
    pub origin: PriorOrigin,
}

/// The origin of a prior.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriorOrigin {
    /// A default, scaled to the table.
    Default,
    /// The user, for this parameter.
    Given,
    /// The user, for all parameters of this name, such as `weight`.
    Class(String),
}

impl std::fmt::Display for PriorOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PriorOrigin::Default => f.write_str("default"),
            PriorOrigin::Given => f.write_str("given"),
            PriorOrigin::Class(name) => write!(f, "given for {name}"),
        }
    }
}

/// Every distribution that a prior can have, with its syntax: `normal(location, scale)`.
pub fn prior_distributions() -> Vec<String> {
    Kind::ALL.iter().map(|kind| kind.usage()).collect()
}

/// The user's priors, by the names of their parameters.
#[derive(Default)]
pub(crate) struct GivenPriors {
    priors: Vec<GivenPrior>,
    /// The response to which they apply, if there are several.
    of: Option<Response>,
}

/// One of several responses, and all of them.
struct Response {
    own: String,
    all: Vec<String>,
}

#[derive(Clone)]
struct GivenPrior {
    name: String,
    law: Law,
    spec: PriorSpec,
    text: String,
}

/// A parameter that can have a prior of its own.
pub(crate) struct Parameter {
    /// Its names, the most specific first: `sd(g, x)` before `sd(g)`.
    pub(crate) names: Vec<String>,
    pub(crate) domain: Domain,
}

impl Parameter {
    /// A parameter of one name.
    pub(crate) fn named(name: &str, domain: Domain) -> Parameter {
        let names = vec![name.to_owned()];
        Parameter { names, domain }
    }
}

impl GivenPriors {
    /// Reads the priors; refuses unknown distributions, bad arguments and repetitions.
    pub(crate) fn parse(texts: &[String]) -> Result<GivenPriors, LearnError> {
        let mut priors: Vec<GivenPrior> = Vec::with_capacity(texts.len());
        for text in texts {
            let prior = GivenPrior::parse(text)?;
            if priors.iter().any(|other| other.name == prior.name) {
                let message = format!("\"{}\" has a prior already", prior.name);
                let span = prior.spec.target_span;
                let error = FormulaError::new(span, message);
                return Err(prior.refused(error.with_hint("leave one out")));
            }
            priors.push(prior);
        }
        Ok(GivenPriors { priors, of: None })
    }

    /// The priors of the shared parameters, by their names, and those of each response: priors with
    /// its prefix (`y1.x`), and priors without prefix, which apply to all.
    pub(crate) fn parted(
        texts: &[String],
        responses: &[String],
        shared: &[String],
    ) -> Result<(GivenPriors, Vec<GivenPriors>), LearnError> {
        // Repetitions are reported with the names as written.
        let (common, rest): (Vec<GivenPrior>, Vec<GivenPrior>) =
            (GivenPriors::parse(texts)?.priors.into_iter())
                .partition(|prior| shared.contains(&prior.name));
        let own = |place: usize| {
            let (mut own, mut all) = (Vec::new(), Vec::new());
            for prior in &rest {
                match owner(responses, &prior.name) {
                    Some((of, name)) if of == place => own.push(prior.called_so(&name)),
                    Some(_) => {}
                    None => all.push(prior.called_so(&prior.name)),
                }
            }
            // A prior of one response takes precedence over one of all.
            let is_new = |prior: &GivenPrior| !own.iter().any(|known| known.name == prior.name);
            let more: Vec<GivenPrior> = all.into_iter().filter(is_new).collect();
            own.extend(more);
            let of = Response {
                own: responses[place].clone(),
                all: responses.to_vec(),
            };
            GivenPriors {
                priors: own,
                of: Some(of),
            }
        };
        let parted = (0..responses.len()).map(own).collect();
        let (priors, of) = (common, None);
        Ok((GivenPriors { priors, of }, parted))
    }

    /// Refuses priors for parameters that do not exist or have other values.
    pub(crate) fn check(&self, parameters: &[Parameter]) -> Result<(), LearnError> {
        let names = parameters.iter().flat_map(|parameter| &parameter.names);
        let names = distinct_names(names.map(String::as_str));
        for prior in &self.priors {
            prior.check_name(&names, self.of.as_ref())?;
            let is_it = |parameter: &&Parameter| parameter.names.contains(&prior.name);
            let domain = parameters.iter().find(is_it).map(|known| known.domain);
            prior.check_domain(domain.unwrap_or(prior.law.kind.domain()))?;
        }
        Ok(())
    }

    /// Refuses joint priors of all coefficients on anything else, together with priors of single
    /// coefficients, and for several classes.
    pub(crate) fn check_joint(&self, columns: &[&str], family: Family) -> Result<(), LearnError> {
        let Some(joint) = self.priors.iter().find(|prior| prior.law.kind.is_joint()) else {
            return Ok(());
        };
        let kind = joint.law.kind;
        let refused = |prior: &GivenPrior, message: String, hint: String| {
            let span = prior.spec.target_span;
            Err(prior.refused(FormulaError::new(span, message).with_hint(hint)))
        };
        if joint.name != "weight" {
            let message = format!("{} is one prior of all common coefficients", kind.name());
            return refused(joint, message, format!("write weight ~ {}", kind.usage()));
        }
        if family.form() == ResponseForm::Unordered {
            let message = format!("{} is not available for several classes", kind.name());
            return refused(joint, message, "use weight ~ normal(0, 1)".into());
        }
        let is_single = |prior: &&GivenPrior| columns.contains(&prior.name.as_str());
        self.priors.iter().find(is_single).map_or(Ok(()), |other| {
            let (law, name) = (&joint.law, &other.name);
            let message = format!("weight ~ {law} is the prior of \"{name}\" already");
            refused(other, message, "leave one of the two out".into())
        })
    }

    /// The origin of the prior of a parameter with these names.
    pub(crate) fn origin(&self, names: &[String]) -> PriorOrigin {
        let is_given = |name: &&String| self.priors.iter().any(|prior| prior.name == **name);
        match names.iter().find(is_given) {
            None => PriorOrigin::Default,
            Some(name) if *name == names[0] => PriorOrigin::Given,
            Some(name) => PriorOrigin::Class(name.clone()),
        }
    }

    /// The user's law for a parameter with these names, the first one given.
    pub(crate) fn law(&self, names: &[String]) -> Option<&Law> {
        let prior = |name: &String| self.priors.iter().find(|prior| prior.name == *name);
        names.iter().find_map(prior).map(|prior| &prior.law)
    }
}

impl GivenPrior {
    fn parse(text: &str) -> Result<GivenPrior, LearnError> {
        let spec = PriorSpec::parse(text).map_err(|error| rendered(error, text))?;
        let known: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        spec.check_distribution(&known)
            .map_err(|error| rendered(error, text))?;
        let kind = (Kind::ALL.iter().copied())
            .find(|kind| kind.name() == spec.distribution)
            .expect("checked above");
        let law = Law::checked(kind, &spec.arguments).map_err(|message| {
            let error = FormulaError::new(spec.distribution_span, message);
            rendered(error.with_hint(format!("write {}", kind.usage())), text)
        })?;
        Ok(GivenPrior {
            name: spec.target.to_string(),
            law,
            spec,
            text: text.to_owned(),
        })
    }

    /// The same prior under this name in the model of one response.
    fn called_so(&self, name: &str) -> GivenPrior {
        GivenPrior {
            name: name.to_owned(),
            ..self.clone()
        }
    }

    fn check_name(&self, names: &[&str], of: Option<&Response>) -> Result<(), LearnError> {
        if names.contains(&self.name.as_str()) {
            return Ok(());
        }
        let called = self.called(names);
        let hint = match (nearest(&self.name, names), names.len()) {
            _ if called.is_some() => called.unwrap_or_default(),
            (Some(near), _) => format!("did you mean \"{near}\"?"),
            (None, count) if count <= MOST_SHOWN => format!("the model has {}", names.join(", ")),
            (None, count) => {
                let (shown, more) = (names[..MOST_SHOWN].join(", "), count - MOST_SHOWN);
                format!("the model has {shown} and {more} more")
            }
        };
        let (model, hint) = match of {
            None => ("the model".to_owned(), hint),
            Some(Response { own, all }) => {
                let of_one = all.iter().map(|one| prefixed(one, &self.name));
                let of_one = of_one.collect::<Vec<_>>().join(" or ");
                let hint = format!("{hint}; {of_one} is that of one response");
                (format!("the model of {own}"), hint)
            }
        };
        let message = format!("no parameter \"{}\" in {model}", self.name);
        Err(self.refused(FormulaError::new(self.spec.target_span, message).with_hint(hint)))
    }

    /// The name used here for a parameter that other programs call by this name.
    fn called(&self, names: &[&str]) -> Option<String> {
        let name = self.name.as_str();
        let law = &self.law;
        let own = lehr_formula::known_parameter(name).filter(|own| names.contains(own));
        let of_group = |name: &&&str| {
            matches!(self.name.as_str(), "sd" | "cor")
                && (name.strip_prefix(self.name.as_str()))
                    .is_some_and(|rest| rest.starts_with('(') && !rest.contains(','))
        };
        let all = names.iter().filter(of_group).copied().chain(own);
        let all: Vec<String> = all.map(|own| format!("{own} ~ {law}")).collect();
        (!all.is_empty()).then(|| format!("write {}", all.join(", ")))
    }

    fn check_domain(&self, domain: Domain) -> Result<(), LearnError> {
        if self.law.suits(domain) {
            return Ok(());
        }
        let (expected, hint) = domain.description();
        let (name, found) = (&self.name, self.law.kind.name());
        let message = format!("\"{name}\" expects {expected}, found {found}");
        let error = FormulaError::new(self.spec.distribution_span, message);
        Err(self.refused(error.with_hint(format!("use {hint}"))))
    }

    fn refused(&self, error: FormulaError) -> LearnError {
        rendered(error, &self.text)
    }
}

fn rendered(mut error: FormulaError, text: &str) -> LearnError {
    error.origin = TextKind::Prior;
    LearnError::Formula {
        error,
        source_text: text.to_owned(),
    }
}
