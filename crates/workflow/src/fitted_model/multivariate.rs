//! Regressions of several responses as fitted models.

use lehr_density::SiteValue;
use lehr_learn::{LearnError, NewLevels};
use lehr_model::Bound;
use lehr_regression::{
    Groups, MultivariateRegression, NamedDraws, NewRows, PriorLine, Regression, RegressionError,
};
use lehr_table::Table;

use super::{FittedModel, Measure};
use crate::error::Error;

impl FittedModel for MultivariateRegression {
    fn multivariate(&self) -> Option<&MultivariateRegression> {
        Some(self)
    }

    fn regressions(&self) -> Vec<&Regression> {
        self.responses().iter().collect()
    }

    fn prior_lines(&self) -> Vec<PriorLine> {
        MultivariateRegression::prior_lines(self)
    }

    fn only(&self, what: &'static str) -> Result<&Regression, Error> {
        Err(self.one_of(what).into())
    }

    fn shown_name(&self, entry: &str) -> Option<String> {
        MultivariateRegression::shown_name(self, entry)
    }

    fn title(&self) -> String {
        self.formula().to_owned()
    }

    fn response(&self) -> String {
        self.names().join(", ")
    }

    fn measure(&self) -> Measure {
        Measure::Joint
    }

    fn coefficients_of_sites(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        self.coefficients(sites, groups)
    }

    fn design(&self, table: &Table) -> Result<Table, LearnError> {
        MultivariateRegression::design(self, table)
    }

    fn bind(&self, design: &Table) -> Result<Bound, RegressionError> {
        Ok(self.program()?.bind(design)?)
    }

    fn population_rows(&self, table: &Table, levels: NewLevels) -> Result<NewRows, Error> {
        Ok(self.bind_population(table, levels)?)
    }

    fn new_rows(&self, table: &Table, levels: NewLevels) -> Result<NewRows, Error> {
        Ok(self.bind_new(table, levels)?)
    }
}
