//! Tables as the columns of a model of several responses.

use lehr_learn::{LearnError, NewLevels};
use lehr_model::Bound;
use lehr_table::Table;

use super::MultivariateRegression;
use super::shared_grouping::SharedGrouping;
use crate::design::{Design, Purpose};
use crate::error::RegressionError;
use crate::learned_regression::Regression;
use crate::new_rows::{NewRows, SampledSite};

impl MultivariateRegression {
    /// The columns of the model for a table with the responses.
    pub fn design(&self, table: &Table) -> Result<Table, LearnError> {
        let design = |regression: &Regression| regression.design(table);
        let own: Result<Vec<Table>, LearnError> = self.responses.iter().map(design).collect();
        Ok(self.joined(&own?))
    }

    /// The columns of each response's model under separate names.
    fn joined<'t>(&self, designs: impl IntoIterator<Item = &'t Table>) -> Table {
        let mut all = Table::new();
        for (name, design) in self.names.iter().zip(designs) {
            for (column, values) in design.columns() {
                let inserted = all.insert(format!("{name}.{column}"), values.clone());
                inserted.expect("each column of a design has a name of its own and all rows");
            }
        }
        all
    }

    /// The model on the rows of a table.
    pub fn bind(&self, table: &Table) -> Result<Bound, RegressionError> {
        Ok(self.program()?.bind(&self.design(table)?)?)
    }

    /// The model on rows to predict, whose responses may be absent.
    pub fn bind_new(&self, table: &Table, levels: NewLevels) -> Result<NewRows, RegressionError> {
        let designs = self.designs(table, levels, Purpose::Predict(levels))?;
        let mut own = self.clone();
        let mut sampled = Vec::new();
        for (response, design) in designs.iter().enumerate() {
            for (place, unseen) in design.unseen.iter().enumerate() {
                if unseen.is_empty() {
                    continue;
                }
                let plan = &mut own.responses[response].model_plan.groups[place];
                plan.unseen = unseen.len();
                let label = plan.site.clone();
                let tied = |tie: &&mut SharedGrouping| tie.has(response, place);
                let site = match own.ties.iter_mut().find(tied) {
                    Some(tie) => {
                        tie.unseen = unseen.len();
                        tie.unseen_site()
                    }
                    None => format!("{}.{}", self.names[response], plan.unseen_site("")),
                };
                sampled.push(SampledSite {
                    site,
                    label,
                    groups: unseen.clone(),
                });
            }
        }
        // Tied terms share one site.
        let mut known: Vec<String> = Vec::new();
        sampled.retain(|one| {
            let is_new = !known.contains(&one.site);
            known.push(one.site.clone());
            is_new
        });
        let table = own.joined(designs.iter().map(|one| &one.table));
        let bound = own.program()?.bind(&table)?;
        let has_responses = designs.iter().all(|design| design.has_response);
        Ok(NewRows::of_sites(bound, sampled, has_responses))
    }

    /// As [`MultivariateRegression::bind_new`] without random effects.
    pub fn bind_population(
        &self,
        table: &Table,
        levels: NewLevels,
    ) -> Result<NewRows, RegressionError> {
        let designs = self.designs(table, levels, Purpose::Population)?;
        let mut bare = self.clone();
        bare.ties.clear();
        for regression in &mut bare.responses {
            regression.model_plan.groups.clear();
        }
        let table = bare.joined(designs.iter().map(|one| &one.table));
        let bound = bare.program()?.bind(&table)?;
        let has_responses = designs.iter().all(|design| design.has_response);
        let fitted = self.program()?;
        let fitted = fitted.latents();
        Ok(NewRows::of_population(bound, fitted, has_responses))
    }

    fn designs(
        &self,
        table: &Table,
        levels: NewLevels,
        purpose: Purpose,
    ) -> Result<Vec<Design>, LearnError> {
        let design = |own: &Regression| own.design_to_predict(table, (levels, purpose));
        self.responses.iter().map(design).collect()
    }
}
