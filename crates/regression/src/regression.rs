//! A regression: everything between a table and a model except the rows.

use lehr_density::SiteValue;
use lehr_formula::Terms;
use lehr_model::{Bound, Model};
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::error::RegressionError;
use crate::family::Family;
use crate::new_rows::NewRows;

/// What is to be done with groups that the fitted table did not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewLevels {
    /// They are an error that names them.
    Refuse,
    /// Their effects are drawn from the distribution of the groups' effects.
    Sample,
}

/// Whether the effects of single groups are among the coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Groups {
    /// Only their spreads and correlations.
    Leave,
    /// Each effect of each group, as `site[3]` or `patient[3, dose]`.
    Include,
}

/// The draws of one coefficient on the original scale of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedDraws {
    /// `Intercept`, `x1:x2`, `color[red]`, `sd(site)`, `sigma`, …
    pub name: String,
    /// One per draw.
    pub values: Vec<f64>,
}

/// A regression without its rows: it turns tables into the columns of its model, and draws of
/// the model's sites into coefficients. Saving it keeps everything that later tables need.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    formula: String,
    terms: Terms,
    family: Family,
    notes: Vec<String>,
}

impl Regression {
    /// Reads the formula and the priors (`weight ~ normal(0, 1)`) against a table, from which
    /// levels, scales and default priors are learnt. Refuses what cannot be fitted.
    pub fn new(
        formula: &str,
        family: Family,
        priors: &[String],
        table: &Table,
    ) -> Result<Regression, RegressionError> {
        let _ = (formula, family, priors, table);
        todo!()
    }

    /// The columns of the model for a table with the response: what [`Regression::model`] reads.
    pub fn design(&self, table: &Table) -> Result<Table, RegressionError> {
        let _ = table;
        todo!()
    }

    /// As [`Regression::design`] for rows to predict, which may lack the response.
    ///
    /// With [`NewLevels::Sample`] unseen groups get numbers from the count of known groups on;
    /// [`Regression::bind_new`] makes the density that has effects for them.
    pub fn design_new(
        &self,
        table: &Table,
        new_levels: NewLevels,
    ) -> Result<Table, RegressionError> {
        let _ = (table, new_levels);
        todo!()
    }

    /// The model of the design's columns.
    pub fn model(&self) -> Model {
        todo!()
    }

    /// The model on the rows of a table.
    pub fn bind(&self, table: &Table) -> Result<Bound, RegressionError> {
        Ok(self.model().bind(&self.design(table)?)?)
    }

    /// The model on rows to predict, for [`lehr_density::Predictor::of_all_rows`]; no fitted
    /// rows are needed. Where the response is absent a stand-in takes its place.
    pub fn bind_new(
        &self,
        table: &Table,
        new_levels: NewLevels,
    ) -> Result<NewRows, RegressionError> {
        let _ = (table, new_levels);
        todo!()
    }

    /// The priors by the name of what they are on, defaults included, on the original scale:
    /// `("x1", "normal(0, 2.5)")`.
    pub fn priors(&self) -> Vec<(String, String)> {
        todo!()
    }

    /// Coefficients on the original scale from draws of the model's sites, such as
    /// `Posterior::sites` or [`lehr_density::Layout::constrain_values`] give.
    pub fn coefficients(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        let _ = (sites, groups);
        todo!()
    }

    /// The formula as it was written.
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// The formula spelt out.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// The family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The response as the formula writes it: `y`, `log(y)`.
    pub fn response(&self) -> String {
        self.terms.response.outcome.to_string()
    }

    /// The classes of the response in the order of their numbers in the model; empty where
    /// the response is a number.
    pub fn response_levels(&self) -> &[String] {
        todo!()
    }

    /// The columns of a table that a fit reads, the response's first.
    pub fn columns(&self) -> Vec<&str> {
        self.terms.columns()
    }

    /// The columns of a table that a prediction reads.
    pub fn predictor_columns(&self) -> Vec<&str> {
        todo!()
    }

    /// What the user should know: classes and their numbers, columns left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}
