//! Regressions on rows with only some of very many groups.

use lehr_learn::NewLevels;
use lehr_table::Table;

use crate::column_name::group_column;
use crate::design::Purpose;
use crate::error::RegressionError;
use crate::learned_regression::Regression;
use crate::new_rows::NewRows;
use crate::term::group::GroupPlan;

impl Regression {
    /// The same with only the groups of one site that occur in the rows.
    pub fn bind_some(
        &self,
        table: &Table,
        new_levels: NewLevels,
        site: Option<&str>,
    ) -> Result<NewRows, RegressionError> {
        let purpose = Purpose::Predict(new_levels);
        let mut design = self.design_to_predict(table, (new_levels, purpose))?;
        let mut own = self.model_plan.clone();
        for (plan, unseen) in own.groups.iter_mut().zip(&design.unseen) {
            plan.unseen = unseen.len();
        }
        let some = |plan: &GroupPlan| site == Some(plan.own_site("").as_str());
        let place = own.groups.iter().position(some);
        let groups = place.map(|place| {
            let groups = design.narrow(place, own.groups[place].count);
            own.groups[place].count = groups.len();
            groups
        });
        let bound = own.program()?.bind(&design.table)?;
        let mut rows = NewRows::new(bound, &self.model_plan, &design);
        rows.groups = groups;
        Ok(rows)
    }

    /// The column of the design by which rows read a site of random effects.
    pub fn group_column_of(&self, site: &str) -> String {
        let mut plans = self.model_plan.groups.iter();
        let place = plans.position(|plan| plan.own_site("") == site);
        group_column(place.expect("a site of effects"))
    }
}
