//! The model of a fit: a regression, regressions of several responses, or any other recorded model.

mod multivariate;
mod program;
mod univariate;

use std::ops::Deref;

use lehr_density::{FlatDraws, Layout, SiteValue};
use lehr_learn::{LearnError, NewLevels, distinct_names};
use lehr_model::{Bound, Program};
use lehr_regression::{
    FormulaModel, Groups, MultivariateRegression, NamedDraws, NewRows, PriorLine, Regression,
    RegressionError,
};
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The measurement scale of a response, which determines its scores and checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// One of two outcomes.
    Binary,
    /// One of several classes.
    Class,
    /// The number of events.
    Count,
    /// A number that is bounded or whole.
    Amount,
    /// Any number.
    Real,
    /// An angle.
    Direction,
    /// Several responses, which are compared with predictions one by one.
    Joint,
}

/// A model that can be fitted, saved, predicted and scored. The defaults are for models that are
/// not regressions.
pub trait FittedModel {
    /// The regression, if it is one of one response.
    fn regression(&self) -> Option<&Regression> {
        None
    }

    /// The regressions of several responses, if it has several.
    fn multivariate(&self) -> Option<&MultivariateRegression> {
        None
    }

    /// The names of several responses; empty for any other model.
    fn response_names(&self) -> &[String] {
        let several = self.multivariate();
        several.map_or(&[], MultivariateRegression::names)
    }

    /// The regression of each response; empty for any other model.
    fn regressions(&self) -> Vec<&Regression> {
        Vec::new()
    }

    /// The family, or those of all responses separated by commas; `None` for models that are not
    /// regressions.
    fn family_names(&self) -> Option<String> {
        let regressions = self.regressions().into_iter();
        let names: Vec<&str> = regressions.map(|own| own.family().name()).collect();
        (!names.is_empty()).then(|| names.join(","))
    }

    /// The priors with their origins; empty for models that are not regressions.
    fn prior_lines(&self) -> Vec<PriorLine> {
        Vec::new()
    }

    /// The priors by the names of their parameters; empty for models that are not regressions.
    fn priors(&self) -> Vec<(String, String)> {
        let lines = self.prior_lines().into_iter();
        lines.map(|line| (line.name, line.distribution)).collect()
    }

    /// Notes for the user on the columns, each once; empty for models that are not regressions.
    fn notes(&self) -> Vec<String> {
        let all = self.regressions().into_iter().flat_map(Regression::notes);
        let all = distinct_names(all.map(String::as_str)).into_iter();
        all.map(str::to_owned).collect()
    }

    /// The regression of the one response that `what` needs.
    ///
    /// # Errors
    /// If there are several responses, with advice on how to select one, or the model is not a
    /// regression.
    fn only(&self, what: &'static str) -> Result<&Regression, Error>;

    /// The reported name of an entry of one of the model's sites, if it differs.
    fn shown_name(&self, _entry: &str) -> Option<String> {
        None
    }

    /// The formula, or the columns that the model observes.
    fn title(&self) -> String;

    /// The covariate that is scored together with the response, if there is one.
    fn scored_covariate(&self) -> Option<String> {
        None
    }

    /// The name of the first response, or of all if a regression has several.
    fn response(&self) -> String;

    /// The classes of the response; empty if it is a number.
    fn classes(&self) -> Vec<String> {
        Vec::new()
    }

    /// The columns of a table that a fit or an evaluation reads.
    fn columns(&self) -> Vec<&str> {
        distinct_columns(self.regressions(), Regression::columns)
    }

    /// The columns whose values may be missing.
    fn optional_columns(&self) -> Vec<&str> {
        distinct_columns(self.regressions(), Regression::optional_columns)
    }

    /// The columns of a table that a prediction reads.
    fn predictor_columns(&self) -> Vec<&str> {
        distinct_columns(self.regressions(), Regression::predictor_columns)
    }

    /// Whether some responses are known by bounds only, and cannot be compared with predictions.
    fn is_censored(&self) -> bool {
        let is_censored = |own: &&Regression| own.terms().response.censoring.is_some();
        self.regressions().iter().any(is_censored)
    }

    /// The measurement scale of the response.
    fn measure(&self) -> Measure;

    /// Draws of z as values of sites, with the deterministic quantities that the model names.
    fn shown_values(&self, layout: &Layout, draws: FlatDraws<'_>) -> Vec<SiteValue> {
        layout.constrain_values(draws.latents)
    }

    /// Draws of z as the reported numbers.
    fn coefficients_of_draws(
        &self,
        layout: &Layout,
        draws: FlatDraws<'_>,
        groups: Groups,
    ) -> Vec<NamedDraws> {
        self.coefficients_of_sites(&self.shown_values(layout, draws), groups)
    }

    /// Draws of sites as the reported numbers.
    fn coefficients_of_sites(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws>;

    /// The model's own columns of a table that has the response.
    ///
    /// # Errors
    /// If a column is not as the model requires.
    fn design(&self, table: &Table) -> Result<Table, LearnError>;

    /// The model on its own columns.
    ///
    /// # Errors
    /// If a column is not as the model requires.
    fn bind(&self, design: &Table) -> Result<Bound, RegressionError>;

    /// The model on rows to predict without random effects, which only a regression can identify.
    ///
    /// # Errors
    /// If the rows are not as the model requires, or it is not a regression.
    fn population_rows(&self, table: &Table, levels: NewLevels) -> Result<NewRows, Error>;

    /// The model on rows to predict, whose response may be absent.
    ///
    /// # Errors
    /// If the rows are not as the model requires.
    fn new_rows(&self, table: &Table, levels: NewLevels) -> Result<NewRows, Error>;
}

/// The columns that any of the regressions reads, each once.
fn distinct_columns<'r>(
    regressions: Vec<&'r Regression>,
    columns: fn(&'r Regression) -> Vec<&'r str>,
) -> Vec<&'r str> {
    distinct_names(regressions.into_iter().flat_map(columns))
}

/// The model of a fit. It dereferences to [`FittedModel`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum AnyModel {
    /// A regression, which turns tables into the columns of its model.
    Regression(Box<Regression>),
    /// Any other model, which reads its columns itself.
    Program(Box<Program>),
    /// Regressions of several responses, which share random effects or residual correlations.
    Several(Box<MultivariateRegression>),
}

impl Deref for AnyModel {
    type Target = dyn FittedModel;

    fn deref(&self) -> &(dyn FittedModel + 'static) {
        match self {
            AnyModel::Regression(regression) => &**regression,
            AnyModel::Program(program) => &**program,
            AnyModel::Several(several) => &**several,
        }
    }
}

impl From<FormulaModel> for AnyModel {
    fn from(model: FormulaModel) -> AnyModel {
        match model {
            FormulaModel::Univariate(regression) => AnyModel::Regression(regression),
            FormulaModel::Multivariate(several) => AnyModel::Several(several),
        }
    }
}
