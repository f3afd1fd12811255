//! A regression of one response as a fitted model.

use lehr_density::SiteValue;
use lehr_learn::{Covariate, LearnError, NewLevels, ResponseForm};
use lehr_model::Bound;
use lehr_regression::{Groups, NamedDraws, NewRows, PriorLine, Regression, RegressionError};
use lehr_table::Table;

use super::{FittedModel, Measure};
use crate::error::Error;

impl FittedModel for Regression {
    fn regression(&self) -> Option<&Regression> {
        Some(self)
    }

    fn regressions(&self) -> Vec<&Regression> {
        vec![self]
    }

    fn prior_lines(&self) -> Vec<PriorLine> {
        Regression::prior_lines(self)
    }

    fn priors(&self) -> Vec<(String, String)> {
        Regression::priors(self)
    }

    fn only(&self, _: &'static str) -> Result<&Regression, Error> {
        Ok(self)
    }

    fn shown_name(&self, entry: &str) -> Option<String> {
        Regression::shown_name(self, entry)
    }

    fn title(&self) -> String {
        self.formula().to_owned()
    }

    fn scored_covariate(&self) -> Option<String> {
        self.covariate.as_ref().map(Covariate::term)
    }

    fn response(&self) -> String {
        Regression::response(self)
    }

    fn classes(&self) -> Vec<String> {
        self.response_levels().to_vec()
    }

    fn measure(&self) -> Measure {
        match self.family().form() {
            ResponseForm::Two => Measure::Binary,
            ResponseForm::Unordered | ResponseForm::Ordered => Measure::Class,
            ResponseForm::Real => Measure::Real,
            ResponseForm::Direction => Measure::Direction,
            ResponseForm::Count => Measure::Count,
            ResponseForm::Positive | ResponseForm::Share | ResponseForm::Successes => {
                Measure::Amount
            }
        }
    }

    fn coefficients_of_sites(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        self.coefficients(sites, groups)
    }

    fn design(&self, table: &Table) -> Result<Table, LearnError> {
        Regression::design(self, table)
    }

    fn bind(&self, design: &Table) -> Result<Bound, RegressionError> {
        Ok(self.model().bind(design)?)
    }

    fn population_rows(&self, table: &Table, levels: NewLevels) -> Result<NewRows, Error> {
        Ok(self.bind_population(table, levels)?)
    }

    fn new_rows(&self, table: &Table, levels: NewLevels) -> Result<NewRows, Error> {
        Ok(self.bind_new(table, levels)?)
    }
}
