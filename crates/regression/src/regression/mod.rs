//! A regression: everything between a table and a model except the rows.

mod dominance;
mod function;
mod some_groups;

use std::ops::Range;

use lehr_density::Layout;
use lehr_formula::Terms;
use lehr_learn::{
    ColumnProfile, GroupingFactor, LearnError, LearningRequest, LevelType, NewLevels, Smooth,
    TableFacts, ValueProfile, order_levels, population_columns, predictor_columns,
};
use lehr_model::{Bound, Model, Program};
use lehr_table::Table;

use crate::design::{Design, Purpose, TableBlock};
use crate::error::RegressionError;
use crate::family::Family;
use crate::law_site::law_of_entry;
use crate::learned_regression::Regression;
use crate::new_rows::NewRows;
use crate::prior::{GivenPriors, PriorLine, PriorOrigin};
use crate::prior_book::PriorBook;
use crate::term::induced::InducedPlan;
use crate::term::smooth::SmoothPlan;

impl Regression {
    /// Combines the facts learned from a table.
    pub(crate) fn assemble(
        request: LearningRequest<'_>,
        mut facts: TableFacts,
        given: &GivenPriors,
    ) -> Result<Regression, LearnError> {
        let mut terms = request.terms;
        prune(&mut terms, &mut facts);
        let (induced, smooths) = Smooth::parted(std::mem::take(&mut facts.smooths))?;
        facts.smooths = smooths;
        let family = Family::of_rule(&request.rule);
        let book = PriorBook {
            family,
            terms: &terms,
            facts: &facts,
            induced: induced.as_ref(),
            given,
            printed: Vec::new(),
        };
        let (model_plan, lines) = book.plan()?;
        let split = |line: PriorLine| ((line.name, line.distribution), line.origin);
        let (priors, prior_origins) = lines.into_iter().map(split).unzip();
        Ok(Regression {
            formula: request.formula.to_owned(),
            terms,
            family,
            outcome: facts.outcome,
            population: facts.population,
            groupings: facts.groupings,
            covariate: facts.covariate,
            smooths: facts.smooths,
            splines: facts.splines,
            monotonics: facts.monotonics,
            induced: induced.map(Smooth::with_few_places),
            parameters: facts.parameters,
            model_plan,
            priors,
            prior_origins,
            profiles: facts.profiles,
            notes: facts.notes,
        })
    }

    /// The columns of the model for a table with the response, as [`Regression::model`] reads them.
    /// They are `x` (the standardised columns of the fixed effects, a matrix), `group1` and
    /// `slope1` and so on for the group terms, `offset`, `trials`, `weight` and `y`, if present.
    pub fn design(&self, table: &Table) -> Result<Table, LearnError> {
        self.design_rows(&TableBlock::whole(table), Purpose::Fit)
    }

    /// As [`Regression::design`] for a block of rows: errors report the row of the whole table. Of
    /// rows to predict the response and the weights may be absent. With [`NewLevels::Sample`] unseen
    /// groups get numbers from the count of known groups on; [`Regression::bind_new`] makes the
    /// density that has effects for them.
    pub fn design_rows(
        &self,
        rows: &TableBlock<'_>,
        purpose: Purpose,
    ) -> Result<Table, LearnError> {
        Ok(Design::new(self, rows, purpose)?.table)
    }

    /// The model of the design's columns.
    pub fn model(&self) -> Model {
        self.model_plan.clone().model()
    }

    /// The model of the design's columns as a program.
    pub fn program(&self) -> Result<Program, RegressionError> {
        Ok(self.model_plan.program()?)
    }

    /// The model on the rows of a table.
    pub fn bind(&self, table: &Table) -> Result<Bound, RegressionError> {
        Ok(self.program()?.bind(&self.design(table)?)?)
    }

    /// The model on rows to predict, for [`lehr_density::Predictor::of_all_rows`]; no fitted rows
    /// are needed. If the response is absent a placeholder replaces it.
    pub fn bind_new(
        &self,
        table: &Table,
        new_levels: NewLevels,
    ) -> Result<NewRows, RegressionError> {
        self.bind_some(table, new_levels, None)
    }

    /// As [`Regression::bind_new`] without random effects: predictions are for a group whose
    /// effects are all 0, and the table need not contain the grouping factors.
    pub fn bind_population(
        &self,
        table: &Table,
        new_levels: NewLevels,
    ) -> Result<NewRows, RegressionError> {
        let design = self.design_to_predict(table, (new_levels, Purpose::Population))?;
        let mut bare = self.model_plan.clone();
        bare.groups.clear();
        bare.row_spread = None;
        let fitted = self.program()?;
        let bound = bare.program()?.bind(&design.table)?;
        let fitted = fitted.latents();
        Ok(NewRows::of_population(bound, fitted, design.has_response))
    }

    /// The columns for rows to predict, with a placeholder if the response is absent.
    pub(crate) fn design_to_predict(
        &self,
        table: &Table,
        (levels, purpose): (NewLevels, Purpose),
    ) -> Result<Design, LearnError> {
        let known = self.known_levels(table, levels);
        let table = known.as_ref().unwrap_or(table);
        let mut design = Design::new(self, &TableBlock::whole(table), purpose)?;
        design.complete(&self.outcome, table.n_rows());
        Ok(design)
    }

    /// The table with unknown levels of factors replaced by their first, if requested.
    fn known_levels(&self, table: &Table, new_levels: NewLevels) -> Option<Table> {
        if new_levels != NewLevels::Reference {
            return None;
        }
        let mut known = table.clone();
        for profile in &self.profiles {
            if let Some(column) = (table.column(&profile.name).ok())
                .and_then(|column| profile.with_known_levels(column))
            {
                let replaced = known.replace(&profile.name, column);
                replaced.expect("a column of the table, as long as it was");
            }
        }
        Some(known)
    }

    /// Statistics of the columns of the fixed effects in the fitted table.
    pub fn profiles(&self) -> &[ColumnProfile] {
        &self.profiles
    }

    /// The priors by the names of their parameters, defaults included, on the original scale:
    /// `("x1", "normal(0, 2.5)")`.
    pub fn priors(&self) -> Vec<(String, String)> {
        self.priors.clone()
    }

    /// The priors with their origins; empty for fits of earlier versions, which do not store them.
    pub fn prior_lines(&self) -> Vec<PriorLine> {
        let lines = self.priors.iter().zip(&self.prior_origins);
        let line = |((name, distribution), origin): (&(String, String), &PriorOrigin)| PriorLine {
            name: name.clone(),
            distribution: distribution.clone(),
            origin: origin.clone(),
        };
        lines.map(line).collect()
    }

    /// The formula as written.
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// The expanded formula.
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

    /// The classes of the response in the order of their numbers in the model; empty if the
    /// response is a number.
    pub fn response_levels(&self) -> &[String] {
        &self.outcome.classes
    }

    /// The columns of a table that a fit reads, the response's first.
    pub fn columns(&self) -> Vec<&str> {
        self.terms.column_names()
    }

    /// The columns whose values may be missing.
    pub fn optional_columns(&self) -> Vec<&str> {
        self.terms.optional_columns()
    }

    /// The columns of a table that a prediction reads.
    pub fn predictor_columns(&self) -> Vec<&str> {
        predictor_columns(&self.terms)
    }

    /// As [`Regression::predictor_columns`], without random effects.
    pub fn population_columns(&self) -> Vec<&str> {
        population_columns(&self.terms)
    }

    /// The reported name of an entry of one of the model's sites, `x1` for `weight[0]`; `None` for
    /// sites with the same name as their parameters.
    pub fn shown_name(&self, entry: &str) -> Option<String> {
        let model_plan = &self.model_plan;
        if entry == "intercept" || entry.starts_with("intercept[") {
            return Some("Intercept".into());
        }
        if let Some(place) = law_of_entry("weight", &model_plan.weights, entry) {
            return Some(self.population.columns[place].name.clone());
        }
        let plans = model_plan.parameters.iter().zip(&self.parameters);
        plans.into_iter().find_map(|(plan, population)| {
            if entry == plan.intercept_site() {
                return Some(format!("{}.Intercept", plan.name));
            }
            let place = law_of_entry(&plan.weight_site(), &plan.weights, entry)?;
            let column = &population.columns[place].name;
            Some(format!("{}.{column}", plan.name))
        })
    }

    /// The ranges of random effects among the numbers of a draw.
    pub fn group_places(&self, latents: &Layout) -> Vec<Range<usize>> {
        let groups = self.model_plan.groups.iter();
        let names: Vec<String> = groups.map(|plan| plan.own_site("")).collect();
        let sites = latents.sites().iter().enumerate();
        let own = sites.filter(|(_, site)| names.contains(&site.name));
        own.map(|(place, _)| latents.range(place)).collect()
    }

    /// The labels of the group terms of the response, if there are any and all have only an
    /// intercept.
    pub fn plain_groups(&self) -> Option<Vec<&str>> {
        let all = self.model_plan.groups.iter().zip(&self.groupings);
        let own = all.filter(|(plan, _)| plan.of.is_none());
        let own: Vec<&GroupingFactor> = own.map(|(_, grouping)| grouping).collect();
        let are_plain = own.iter().all(|one| one.is_plain()) && !own.is_empty();
        are_plain.then(|| own.iter().map(|one| one.label.as_str()).collect())
    }

    /// The profile of a column that defines groups: all its levels count as equally frequent.
    pub fn group_profile(&self, name: &str) -> Option<ColumnProfile> {
        let names = self.groupings.iter().find_map(|one| one.levels_of(name))?;
        Some(ColumnProfile {
            name: name.to_owned(),
            values: ValueProfile::Levels {
                names: names.to_vec(),
                commonest: 0,
                held: LevelType::Text,
                baseline: None,
            },
        })
    }

    /// The functions of columns by name, and the automatic choices for each in words.
    pub(crate) fn function_words(&self) -> Vec<(String, String)> {
        let plan = &self.model_plan;
        let smooths = plan.smooths.iter().map(SmoothPlan::words);
        let splines = plan.splines.iter().map(|plan| plan.words.clone());
        let induced = plan.induced.iter().map(InducedPlan::words);
        let words = smooths.chain(splines).chain(induced);
        let labels = plan.function_labels().map(str::to_owned);
        labels.zip(words).collect()
    }

    /// Notes for the user: classes and their numbers, columns left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds notes from a fit.
    pub fn add_notes(&mut self, notes: Vec<String>) {
        self.notes.extend(notes);
    }
}

/// Drops the terms without varying columns, with their column profiles, so that no prediction needs
/// them.
fn prune(terms: &mut Terms, facts: &mut TableFacts) {
    let mut kept = facts.population.prune().into_iter();
    terms.fixed.retain(|_| kept.next() == Some(true));
    for (own, population) in terms.parameters.iter_mut().zip(&mut facts.parameters) {
        let mut kept = population.prune().into_iter();
        own.fixed.retain(|_| kept.next() == Some(true));
    }
    let read = population_columns(terms);
    (facts.profiles).retain(|profile| read.contains(&profile.name.as_str()));
    order_levels(&mut facts.profiles, &facts.population, &facts.monotonics);
}
