//! A regression: everything between a table and a model except the rows.

mod dominance;
mod function;
mod some_groups;
mod stored_response;

use std::ops::Range;

use lehr_density::{Layout, SiteValue};
use lehr_formula::Terms;
use lehr_learn::{
    ColumnProfile, Covariate, FixedEffects, GroupingFactor, LearnError, LearningRequest, LevelType,
    Monotonic, NewLevels, ResponseColumn, Smooth, Spline, TableFacts, ValueProfile, order_levels,
    population_columns, predictor_columns,
};
use lehr_model::{Bound, Model, Program};
use lehr_table::Table;
use serde::{Deserialize, Serialize};

use crate::bounds::Bounds;
use crate::coefficient::Reporter;
use crate::design::{Design, DesignPlan, Purpose, TableBlock};
use crate::error::RegressionError;
use crate::family::Family;
use crate::law_site::law_of_entry;
use crate::model_plan::{ModelParts, ModelPlan};
use crate::named_draws::NamedDraws;
use crate::new_rows::NewRows;
use crate::option::Groups;
use crate::prior::{GivenPriors, PriorLine, PriorOrigin};
use crate::term::parameter::ParameterPart;

/// A regression without its rows: it turns tables into the columns of its model, and draws of the
/// model's sites into coefficients. Saving it keeps everything that later tables need.  Internally
/// the columns of the fixed effects have mean 0 and standard deviation 1 (without an intercept:
/// mean square 1), and the linear predictor is measured from the link of the response's mean in
/// units of its standard deviation (families with a link: in units of 1). The response itself is
/// not transformed, so log densities are those of the table. Default priors:
///
/// ```text
/// Intercept at the means of the columns   normal(link(mean(y)), 2.5 sd(y))     2.5 with a link
/// a coefficient of x                      normal(0, 2.5 sd(y)/sd(x))           2.5/sd(x) with a link
/// a level, or a column with two values    normal(0, 2.5 sd(y)) per difference  2.5 with a link
/// sigma                                   exponential(1/sd(y))
/// sd(group), by what it multiplies        half_normal(sd(y)/rms(x))            2/rms(x) with a link
/// cor(group)                              lkj(2)
/// sd(row())                               half_normal(sd(y))                   2 with a link
/// me(x).mean, me(x).sd, and of mi(x)      normal(mean(x), 2.5 sd(x)), half_normal(2 sd(x))
/// gp(x).scale                             half_normal(sd(y))                   1 with a link
/// gp(x).lengthscale                       log_normal, 95 % from 0.1 to 0.5 of the range of x;
///                                         of two columns from 0.2 to 0.5, of a period from 0.05 to 0.5
/// sd(s(x))                                half_student_t(3, 2.5 sd(y))         2.5 with a link
/// mo(x), from one of D + 1 levels to the next   normal(0, 2.5 sd(y)/D)      2.5/D with a link
/// mo(x).step                              dirichlet(1)
/// df above 1                              gamma(2, 0.1)
/// shape and precision                     inverse_gamma(0.4, 0.3)
/// gate, dispersion                        beta(1, 1)
/// a parameter's formula, `sigma ~ x`      on the scale of its link (log; gate: logit): the intercept
///                                         at the means normal(log(sd(y)), 2.5) for sigma, normal(0, 2.5)
///                                         for shape and precision, normal(0, 1.5) for gate;
///                                         a coefficient normal(0, 1/sd(x)), of a level normal(0, 1)
/// cutpoint                                dirichlet(1) of the classes' proportions at the means
/// ```
///  A user's priors are on coefficients as reported; `Intercept` is the one at which all columns
///  are 0. Only `df`, which is above 1 so that there is a mean, has its prior on the excess. With
///  several classes one prior applies to the coefficients of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Regression {
    formula: String,
    terms: Terms,
    family: Family,
    #[serde(with = "stored_response")]
    pub(crate) outcome: ResponseColumn,
    /// The columns of the fixed effects.
    pub population: FixedEffects,
    pub(crate) groupings: Vec<GroupingFactor>,
    /// The covariate with errors or gaps.
    #[serde(default)]
    pub covariate: Option<Covariate>,
    pub(crate) smooths: Vec<Smooth>,
    pub(crate) splines: Vec<Spline>,
    pub(crate) monotonics: Vec<Monotonic>,
    /// The function by inducing points.
    pub(crate) induced: Option<Smooth>,
    pub(crate) model_plan: ModelPlan,
    /// The columns of the formulas of parameters.
    #[serde(default)]
    pub(crate) parameters: Vec<FixedEffects>,
    priors: Vec<(String, String)>,
    #[serde(default)]
    prior_origins: Vec<PriorOrigin>,
    profiles: Vec<ColumnProfile>,
    notes: Vec<String>,
}

impl Regression {
    /// Combines the facts learned from a table.
    pub(crate) fn assemble(
        request: LearningRequest<'_>,
        mut facts: TableFacts,
        given: &GivenPriors,
    ) -> Result<Regression, LearnError> {
        let mut terms = request.terms;
        prune(&mut terms, &mut facts);
        let (induced, smooths) = Smooth::parted(facts.smooths)?;
        let family = Family::of_rule(&request.rule);
        let parts = ModelParts {
            family,
            intercept: terms.intercept,
            predictor_scale: &facts.predictor_scale,
            population: &facts.population,
            groupings: &facts.groupings,
            smooths: &smooths,
            splines: &facts.splines,
            monotonics: &facts.monotonics,
            induced: induced.as_ref(),
            parameters: (terms.parameters.iter().zip(&facts.parameters))
                .map(|(terms, population)| ParameterPart {
                    name: terms.parameter(),
                    intercept: terms.intercept,
                    population,
                })
                .collect(),
            classes: &facts.outcome.classes,
            n_rows: facts.n_rows,
            has_errors: terms.response.errors.is_some(),
            by_row: terms.by_row,
            covariate: facts.covariate.as_ref(),
        };
        let (mut model_plan, priors) = parts.plan(given)?;
        model_plan.has_offset = !terms.offsets.is_empty();
        model_plan.has_row_weight = terms.weights.is_some();
        model_plan.bounds = Bounds::of(&terms.response);
        model_plan.check_bounds(&terms.response)?;
        Ok(Regression {
            formula: request.formula.to_owned(),
            terms,
            family,
            outcome: facts.outcome,
            population: facts.population,
            groupings: facts.groupings,
            covariate: facts.covariate,
            smooths,
            splines: facts.splines,
            monotonics: facts.monotonics,
            induced: induced.map(Smooth::with_few_places),
            parameters: facts.parameters,
            model_plan,
            priors: (priors.iter())
                .map(|line| (line.name.clone(), line.distribution.clone()))
                .collect(),
            prior_origins: priors.into_iter().map(|line| line.origin).collect(),
            profiles: facts.profiles,
            notes: facts.notes,
        })
    }

    /// The columns of the model for a table with the response, as [`Regression::model`] reads them.
    /// They are `x` (the standardised columns of the fixed effects, a matrix), `group1` and
    /// `slope1` and so on for the group terms, `offset`, `trials`, `weight` and `y`, if present.
    pub fn design(&self, table: &Table) -> Result<Table, LearnError> {
        self.design_block(table, 0)
    }

    /// As [`Regression::design`] for a block of rows, the first of which is row `first` (from 0) of
    /// the whole table: errors report the row of the whole table.
    pub fn design_block(&self, block: &Table, first: usize) -> Result<Table, LearnError> {
        let block = TableBlock {
            table: block,
            first,
        };
        Ok(Design::new(&self.design_plan(), &block, Purpose::Fit)?.table)
    }

    /// As [`Regression::design`] for rows to predict, whose response and weights may be absent.
    ///
    /// With [`NewLevels::Sample`] unseen groups get numbers from the count of known groups on;
    /// [`Regression::bind_new`] makes the density that has effects for them.
    pub fn design_new(&self, table: &Table, new_levels: NewLevels) -> Result<Table, LearnError> {
        Ok(Design::new(
            &self.design_plan(),
            &TableBlock::whole(table),
            Purpose::Predict(new_levels),
        )?
        .table)
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
        let known = self.known_levels(table, new_levels);
        let table = known.as_ref().unwrap_or(table);
        let mut design = Design::new(
            &self.design_plan(),
            &TableBlock::whole(table),
            Purpose::Population,
        )?;
        design.complete(&self.outcome, table.n_rows());
        let mut bare = self.model_plan.clone();
        bare.groups.clear();
        bare.row_spread = None;
        let fitted = self.program()?;
        let bound = bare.program()?.bind(&design.table)?;
        Ok(NewRows::of_population(
            bound,
            fitted.latents(),
            design.has_response,
        ))
    }

    /// The table with unknown levels of factors replaced by their first, if requested.
    pub(crate) fn known_levels(&self, table: &Table, new_levels: NewLevels) -> Option<Table> {
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

    /// Coefficients on the original scale from draws of the model's sites, such as
    /// `Posterior::sites` or [`lehr_density::Layout::constrain_values`] give.
    ///
    /// # Panics
    /// If a site of the model is not among them.
    pub fn coefficients(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        self.reporter().coefficients(sites, groups)
    }

    /// The inputs of a design.
    pub fn design_plan(&self) -> DesignPlan<'_> {
        DesignPlan {
            terms: &self.terms,
            outcome: &self.outcome,
            population: &self.population,
            parameters: &self.parameters,
            groupings: &self.groupings,
            covariate: self.covariate.as_ref(),
            smooths: &self.smooths,
            splines: &self.splines,
            monotonics: &self.monotonics,
            induced: self.induced.as_ref(),
            model: &self.model_plan,
        }
    }

    /// The converter from draws of sites to coefficients.
    pub fn reporter(&self) -> Reporter<'_> {
        Reporter {
            model_plan: &self.model_plan,
            population: &self.population,
            groupings: &self.groupings,
            covariate: self.covariate.as_ref(),
            smooths: &self.smooths,
            monotonics: &self.monotonics,
            parameters: &self.parameters,
            classes: &self.outcome.classes,
        }
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
        let names: Vec<String> = (self.model_plan.groups.iter())
            .map(|plan| plan.own_site(""))
            .collect();
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
        let model_plan = &self.model_plan;
        let smooths = model_plan.smooths.iter();
        let smooths = smooths.map(|plan| (plan.label.clone(), plan.words()));
        let splines = model_plan.splines.iter();
        let splines = splines.map(|plan| (plan.label.clone(), plan.words()));
        let induced = model_plan.induced.iter();
        let induced = induced.map(|plan| (plan.label.clone(), plan.words()));
        smooths.chain(splines).chain(induced).collect()
    }

    /// Notes for the user: classes and their numbers, columns left out.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds a note from a fit.
    pub fn add_note(&mut self, note: String) {
        self.notes.push(note);
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
