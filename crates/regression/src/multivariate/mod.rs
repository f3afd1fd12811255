//! Regressions of several responses: each has its own model, and they share tied random effects and
//! residual correlations.

mod rows;
mod shared_grouping;
mod view;

use lehr_density::SiteValue;
use lehr_formula::ResidualCorrelation;
use lehr_learn::{LearnError, ResponseForm};
use lehr_model::{BindError, Program, Schema, Tracer};
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::family::Family;
use crate::law::{Domain, Kind, Law};
use crate::learned_regression::Regression;
use crate::named_draws::NamedDraws;
use crate::option::Groups;
use crate::prior::{GivenPriors, Parameter, PriorLine};
use crate::program::JointModel;
use crate::response_name::{RESCOR, owner, prefixed, renamed};
use crate::term::residual::Residuals;

use shared_grouping::{SharedGrouping, correlations, site, standardise};

/// A regression of several responses without its rows.
///
/// Every response has its own formula, family and parameters, whose names begin with it:
/// `y1.Intercept`, `sd(y2.g)`. [`MultivariateRegression::responses`] are the models of single responses. They
/// share the correlations `cor(g, y1.Intercept, y2.Intercept)` of tied effects, and the residual
/// correlations `rescor(y1, y2)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultivariateRegression {
    formula: String,
    names: Vec<String>,
    responses: Vec<Regression>,
    ties: Vec<SharedGrouping>,
    /// The prior of the residual correlations, if they are estimated.
    residual: Option<Law>,
    /// The priors of the shared parameters.
    priors: Vec<PriorLine>,
}

impl MultivariateRegression {
    /// Combines the models of the named responses.
    pub(crate) fn new(
        formula: &str,
        (names, mut responses): (Vec<String>, Vec<Regression>),
        residuals: ResidualCorrelation,
        given: &GivenPriors,
    ) -> Result<MultivariateRegression, LearnError> {
        let mut ties = SharedGrouping::all(&names, &responses)?;
        standardise(&ties, &mut responses);
        let mut residual = match residuals {
            ResidualCorrelation::Independent => None,
            ResidualCorrelation::Correlated => {
                names.iter().zip(&responses).try_for_each(check_residual)?;
                Some(Law::new(Kind::Lkj, &[2.0]))
            }
        };
        let tied = ties.iter_mut();
        let tied = tied.map(|tie| (tie.prior_name(), &mut tie.correlation));
        let rescor = residual.iter_mut().map(|law| (RESCOR.to_owned(), law));
        let priors = chosen(tied.chain(rescor).collect(), given)?;
        for member in ties.iter().flat_map(SharedGrouping::members) {
            check_tied(&responses[member.response])?;
        }
        Ok(MultivariateRegression {
            formula: formula.to_owned(),
            names,
            responses,
            ties,
            residual,
            priors,
        })
    }

    /// The formulas as written.
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// The prefix of each response's coefficients.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The model of each response by itself.
    pub fn responses(&self) -> &[Regression] {
        &self.responses
    }

    /// The number of the response with this name, or with this text in the formula.
    ///
    /// # Errors
    /// If there is none.
    pub fn place(&self, name: &str) -> Result<usize, LearnError> {
        let is_it = |(own, regression): (&String, &Regression)| {
            own == name || regression.response() == name
        };
        let place = (self.names.iter().zip(&self.responses)).position(is_it);
        place.ok_or_else(|| {
            LearnError::column(
                "--response",
                "a response of the model",
                format!("{name:?}"),
                format!("the responses are {}", self.names.join(", ")),
            )
        })
    }

    /// The error if a single response is needed and none is named.
    pub fn one_of(&self, what: &str) -> LearnError {
        LearnError::column(
            what,
            "one response",
            format!("a fit of {}", self.names.join(", ")),
            format!(
                "name it: --response {0} of the command, fit.response(\"{0}\") in Python and Rust",
                self.names[0]
            ),
        )
    }

    /// The reported name of an entry of one of the model's sites; `None` for sites with the same
    /// name as their parameters.
    pub fn shown_name(&self, entry: &str) -> Option<String> {
        let (response, own) = owner(&self.names, entry)?;
        let shown = self.responses[response].shown_name(&own)?;
        Some(prefixed(&self.names[response], &shown))
    }

    /// Whether the residuals of a row are correlated.
    pub fn has_residuals(&self) -> bool {
        self.residual.is_some()
    }

    /// The families in the order of the responses.
    pub fn families(&self) -> Vec<Family> {
        self.responses.iter().map(Regression::family).collect()
    }

    /// The priors, with their origins.
    pub fn prior_lines(&self) -> Vec<PriorLine> {
        let own = self.names.iter().zip(&self.responses);
        let own = own.enumerate().flat_map(|(response, (name, regression))| {
            let lines = regression.prior_lines().into_iter();
            let lines = lines.filter(move |line| !self.is_tied(response, &line.name));
            lines.map(move |line| PriorLine {
                name: prefixed(name, &line.name),
                ..line
            })
        });
        own.chain(self.priors.iter().cloned()).collect()
    }

    /// Coefficients on the original scale from draws of the model's sites.
    ///
    /// # Panics
    /// If a site of the model is not among them.
    pub fn coefficients(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        let mut found = Vec::new();
        for (response, regression) in self.responses.iter().enumerate() {
            let own = regression.coefficients(&self.sites_of(response, sites), groups);
            let own = own.into_iter();
            let own = own.filter(|one| !self.is_tied(response, one.name.as_str()));
            let prefix = &self.names[response];
            found.extend(own.map(|one| NamedDraws::new(renamed(prefix, &one.name), one.values)));
        }
        // Coefficients of single groups come last.
        let is_single = |one: &NamedDraws| one.name.effect().is_some();
        let (single, mut all): (Vec<_>, Vec<_>) = found.into_iter().partition(is_single);
        for tie in &self.ties {
            tie.coefficients(sites, &mut all);
        }
        if self.residual.is_some() {
            let label = |a: &str, b: &str| format!("{RESCOR}({a}, {b})");
            correlations(site(sites, RESCOR), &self.names, label, &mut all);
        }
        all.extend(single);
        all
    }

    /// Whether a name in a response's own model is that of correlations shared by all responses.
    fn is_tied(&self, response: usize, name: &str) -> bool {
        let mut ties = self.ties.iter();
        ties.any(|tie| {
            let is_own = tie.members().iter().any(|one| one.response == response);
            let rest = name.strip_prefix("cor(");
            let rest = rest.and_then(|rest| rest.strip_prefix(tie.label.as_str()));
            is_own && rest.is_some_and(|rest| rest.starts_with([',', ')']))
        })
    }

    /// The model of the design's columns as a program.
    pub fn program(&self) -> Result<Program, BindError> {
        let mut schema = Schema::new();
        for (name, regression) in self.names.iter().zip(&self.responses) {
            schema = schema.with_part(&format!("{name}."), regression.model_plan.schema());
        }
        let own = self.clone();
        lehr_model::Model::new(move |m| own.run(m)).record(&schema)
    }

    fn run(&self, m: &Tracer<'_>) {
        let own = (&self.names[..], &self.responses[..]);
        let tied: Vec<_> = self.ties.iter().flat_map(|tie| tie.sites(m, own)).collect();
        let count = self.responses.len();
        let residuals = self.residual.as_ref();
        let residuals = residuals.map(|law| Residuals::new(m, count, law));
        for (response, (name, regression)) in self.names.iter().zip(&self.responses).enumerate() {
            let own = tied.iter().filter(|(of, ..)| *of == response);
            let joint = JointModel {
                groups: own.map(|(_, place, sites)| (*place, *sites)).collect(),
                residuals: residuals.as_ref(),
            };
            m.within(&format!("{name}."), || {
                regression.model_plan.run(m, &joint);
            });
        }
    }
}

/// The laws of the shared parameters, the user's if there are any, and their descriptions.
fn chosen(
    mut laws: Vec<(String, &mut Law)>,
    given: &GivenPriors,
) -> Result<Vec<PriorLine>, LearnError> {
    let parameter = |(name, _): &(String, &mut Law)| Parameter::named(name, Domain::Correlation);
    given.check(&laws.iter().map(parameter).collect::<Vec<_>>())?;
    let line = |(name, law): &mut (String, &mut Law)| {
        let names = std::slice::from_ref(name);
        if let Some(wanted) = given.law(names) {
            **law = wanted.clone();
        }
        PriorLine {
            origin: given.origin(names),
            distribution: law.to_string(),
            name: name.clone(),
        }
    };
    Ok(laws.iter_mut().map(line).collect())
}

/// Only normal noise of plain responses can have correlations.
fn check_residual((name, regression): (&String, &Regression)) -> Result<(), LearnError> {
    let model_plan = &regression.model_plan;
    let refused = |found: String, hint: &str| {
        Err(LearnError::column(
            "set_rescor(TRUE)",
            "gaussian responses whose values and noise are not known otherwise",
            format!("{name}: {found}"),
            hint,
        ))
    };
    if regression.family() != Family::Gaussian {
        let hint = "write (1 |p| id), where the column id numbers the rows: effects of rows that are correlated \
            across responses";
        return refused(format!("family {}", regression.family()), hint);
    }
    if model_plan.has_errors {
        return refused("se(...)".into(), "leave out one of the two");
    }
    if model_plan.bounds != Bounds::Exact {
        return refused("cens(...) or trunc(...)".into(), "leave out one of the two");
    }
    if model_plan.induced.is_some() {
        return refused(
            "gp(...) by inducing points".into(),
            "leave out set_rescor(TRUE), or use s(x)",
        );
    }
    Ok(())
}

/// A response of several classes has several predictors, none of which corresponds to that of the
/// others.
fn check_tied(regression: &Regression) -> Result<(), LearnError> {
    if regression.family().form() != ResponseForm::Unordered {
        return Ok(());
    }
    Err(LearnError::column(
        format!("response {}", regression.response()),
        "a family with one predictor where effects are tied to those of other responses",
        regression.family().to_string(),
        "write (1 | g) for effects of its own, or --family ordinal if the classes are ordered",
    ))
}
