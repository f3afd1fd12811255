//! What a fit is of: a regression, or any other model as it was recorded.

use lehr_density::{FlatDraws, Layout, ResponseKind, SiteValue};
use lehr_model::{Bound, Program};
use lehr_report::{AxisKind, Name};
use lehr_table::{Column, Table};
use serde::{Deserialize, Serialize};

use super::error::Error;
use crate::error::RegressionError;
use crate::family::Form;
use crate::learn::error::LearnError;
use crate::learn::option::NewLevels;
use crate::learn::smooth_term::covariate::Covariate;
use crate::multivariate::Several;
use crate::named_draws::NamedDraws;
use crate::new_rows::NewRows;
use crate::option::Groups;
use crate::prior::PriorLine;
use crate::regression::Regression;
use crate::specification::FormulaModel;

/// An array with more numbers than this is listed with the effects of single groups.
const MOST_LISTED: usize = 50;

/// What a fit is of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Subject {
    /// A regression, which turns tables into the columns of its model.
    Regression(Box<Regression>),
    /// Any other model, which reads its columns itself.
    Program(Box<Program>),
    /// Regressions of several responses, which share effects of groups or what is left of rows.
    Several(Box<Several>),
}

/// How a response is measured, which decides what it is scored and checked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// One of two outcomes.
    Binary,
    /// One of several classes.
    Class,
    /// How often something happened.
    Count,
    /// A number that is bounded or whole.
    Amount,
    /// Any number.
    Real,
    /// An angle.
    Direction,
    /// Several responses at once, which are compared with predictions one by one.
    Joint,
}

impl From<FormulaModel> for Subject {
    fn from(model: FormulaModel) -> Subject {
        match model {
            FormulaModel::Univariate(regression) => Subject::Regression(regression),
            FormulaModel::Multivariate(several) => Subject::Several(several),
        }
    }
}

impl Subject {
    /// The regression, if it is one of one response.
    pub fn regression(&self) -> Option<&Regression> {
        match self {
            Subject::Regression(regression) => Some(regression),
            Subject::Program(_) | Subject::Several(_) => None,
        }
    }

    /// The regressions of several responses, if it has several.
    pub fn several(&self) -> Option<&Several> {
        match self {
            Subject::Several(several) => Some(several),
            Subject::Regression(_) | Subject::Program(_) => None,
        }
    }

    /// The regression of each response; none for any other model.
    pub fn regressions(&self) -> Vec<&Regression> {
        match self {
            Subject::Regression(regression) => vec![regression],
            Subject::Several(several) => several.responses().iter().collect(),
            Subject::Program(_) => Vec::new(),
        }
    }

    /// The family, or those of all responses with commas between them; `None` for models that are no
    /// regressions.
    pub fn family_names(&self) -> Option<String> {
        let regressions = self.regressions();
        let names: Vec<&str> = (regressions.iter())
            .map(|regression| regression.family().name())
            .collect();
        (!names.is_empty()).then(|| names.join(","))
    }

    /// The priors with who set them; none for models that are no regressions.
    pub fn prior_lines(&self) -> Vec<PriorLine> {
        match self {
            Subject::Regression(regression) => regression.prior_lines(),
            Subject::Several(several) => several.prior_lines(),
            Subject::Program(_) => Vec::new(),
        }
    }

    /// The priors by the name of what they are on; none for models that are no regressions.
    pub fn priors(&self) -> Vec<(String, String)> {
        match self {
            Subject::Regression(regression) => regression.priors(),
            Subject::Several(several) => {
                let lines = several.prior_lines().into_iter();
                lines.map(|line| (line.name, line.distribution)).collect()
            }
            Subject::Program(_) => Vec::new(),
        }
    }

    /// What the user should know of the columns; nothing for models that are no regressions.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Subject::Regression(regression) => regression.notes().to_vec(),
            Subject::Several(several) => several.notes(),
            Subject::Program(_) => Vec::new(),
        }
    }

    /// What asks for one response where there are several is told how to name it.
    pub(crate) fn only(&self, what: &'static str) -> Result<&Regression, Error> {
        match self {
            Subject::Regression(regression) => Ok(regression),
            Subject::Program(_) => Err(Error::NotARegression { what }),
            Subject::Several(several) => Err(several.one_of(what).into()),
        }
    }

    /// The coefficient that an entry of one of the model's sites is, if it is called otherwise.
    pub(crate) fn shown_name(&self, entry: &str) -> Option<String> {
        match self {
            Subject::Regression(regression) => regression.shown_name(entry),
            Subject::Several(several) => several.shown_name(entry),
            Subject::Program(_) => None,
        }
    }

    /// The formula, or which columns the model observes.
    pub fn title(&self) -> String {
        match self {
            Subject::Regression(regression) => regression.formula().to_owned(),
            Subject::Several(several) => several.formula().to_owned(),
            Subject::Program(program) => {
                let responses = program.columns().responses();
                let names: Vec<&str> = responses
                    .map(|(_, column, _)| column.name.as_str())
                    .collect();
                format!("a model of {}", names.join(", "))
            }
        }
    }

    /// The covariate that is scored together with the response, if there is one.
    pub(crate) fn scored_covariate(&self) -> Option<String> {
        match self {
            Subject::Regression(regression) => regression.covariate.as_ref().map(Covariate::term),
            Subject::Several(_) | Subject::Program(_) => None,
        }
    }

    /// The name of the first response; of all where a regression has several.
    pub fn response(&self) -> String {
        match self {
            Subject::Regression(regression) => regression.response(),
            Subject::Several(several) => several.names().join(", "),
            Subject::Program(program) => {
                let first = program.columns().responses().next();
                first.map_or_else(String::new, |(_, column, _)| column.name.clone())
            }
        }
    }

    /// The classes of the response; empty where it is a number.
    pub fn classes(&self) -> Vec<String> {
        match self {
            Subject::Regression(regression) => regression.response_levels().to_vec(),
            Subject::Several(_) => Vec::new(),
            Subject::Program(program) => match program.columns().responses().next() {
                Some((_, _, ResponseKind::Category(count))) => {
                    (0..count).map(|class| class.to_string()).collect()
                }
                _ => Vec::new(),
            },
        }
    }

    /// The columns of a table that a fit or an evaluation reads.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Subject::Regression(regression) => regression.columns(),
            Subject::Several(several) => several.columns(),
            Subject::Program(program) => named(program.columns().iter()),
        }
    }

    /// The columns whose values may be missing.
    pub fn optional_columns(&self) -> Vec<&str> {
        self.regression()
            .map_or_else(Vec::new, Regression::optional_columns)
    }

    /// The columns of a table that a prediction reads.
    pub fn predictor_columns(&self) -> Vec<&str> {
        match self {
            Subject::Regression(regression) => regression.predictor_columns(),
            Subject::Several(several) => several.predictor_columns(),
            Subject::Program(program) => {
                let responses = named(program.columns().responses().map(|(_, column, _)| column));
                let mut columns = named(program.columns().iter());
                columns.retain(|name| !responses.contains(name));
                columns
            }
        }
    }

    /// Whether some responses are known by bounds only, and cannot be compared with predictions.
    pub(crate) fn is_censored(&self) -> bool {
        let is_censored = |own: &&Regression| own.terms().response.censoring.is_some();
        self.regressions().iter().any(is_censored)
    }

    pub(crate) fn measure(&self) -> Measure {
        match self {
            Subject::Regression(regression) => match regression.family().form() {
                Form::Two => Measure::Binary,
                Form::Unordered | Form::Ordered => Measure::Class,
                Form::Real => Measure::Real,
                Form::Direction => Measure::Direction,
                Form::Count => Measure::Count,
                Form::Positive | Form::Share | Form::Successes => Measure::Amount,
            },
            Subject::Several(_) => Measure::Joint,
            Subject::Program(program) => match program.columns().responses().next() {
                Some((_, _, ResponseKind::Binary)) => Measure::Binary,
                Some((_, _, ResponseKind::Category(_))) => Measure::Class,
                Some((_, _, ResponseKind::Count)) => Measure::Count,
                Some((_, _, ResponseKind::Real)) => Measure::Real,
                _ => Measure::Amount,
            },
        }
    }

    /// Draws of z as the numbers that are shown: sites, and what the model names besides.
    pub(crate) fn coefficients(
        &self,
        layout: &Layout,
        draws: FlatDraws<'_>,
        groups: Groups,
    ) -> Vec<NamedDraws> {
        let mut sites = layout.constrain_values(draws.latents);
        if let Subject::Program(program) = self {
            sites.extend(program.deterministic_values(draws));
        }
        self.coefficients_of(&sites, groups)
    }

    /// Draws of sites as the numbers that are shown.
    pub(crate) fn coefficients_of(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        match self {
            Subject::Regression(regression) => regression.coefficients(sites, groups),
            Subject::Several(several) => several.coefficients(sites, groups),
            Subject::Program(_) => entries(sites, groups),
        }
    }

    /// The model's own columns of a table that has the response.
    pub(crate) fn design(&self, table: &Table) -> Result<Table, LearnError> {
        match self {
            Subject::Regression(regression) => regression.design(table),
            Subject::Several(several) => several.design(table),
            Subject::Program(_) => Ok(table.clone()),
        }
    }

    /// The model on its own columns.
    pub(crate) fn bind(&self, design: &Table) -> Result<Bound, RegressionError> {
        match self {
            Subject::Regression(regression) => Ok(regression.model().bind(design)?),
            Subject::Several(several) => Ok(several.program()?.bind(design)?),
            Subject::Program(program) => Ok(program.bind(design)?),
        }
    }

    /// The model on rows to predict without the effects of groups; only a regression knows
    /// which those are.
    pub(crate) fn population_rows(
        &self,
        table: &Table,
        levels: NewLevels,
    ) -> Result<NewRows, Error> {
        match self {
            Subject::Regression(regression) => Ok(regression.bind_population(table, levels)?),
            Subject::Several(several) => Ok(several.bind_population(table, levels)?),
            Subject::Program(_) => Err(Error::NotARegression {
                what: "--level population",
            }),
        }
    }

    /// The model on rows to predict, which may lack the response.
    pub(crate) fn new_rows(&self, table: &Table, levels: NewLevels) -> Result<NewRows, Error> {
        let program = match self {
            Subject::Regression(regression) => return Ok(regression.bind_new(table, levels)?),
            Subject::Several(several) => return Ok(several.bind_new(table, levels)?),
            Subject::Program(program) => program,
        };
        let mut whole = table.clone();
        let mut has_response = true;
        for (_, column, kind) in program.columns().responses() {
            if table.column(&column.name).is_err() {
                has_response = false;
                whole.insert(column.name.clone(), stand_in(kind, table.n_rows()))?;
            }
        }
        let bound = program.bind(&whole)?;
        Ok(NewRows::of_program(bound, has_response))
    }
}

fn named<'a>(columns: impl Iterator<Item = &'a lehr_density::Column>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for column in columns {
        if !names.contains(&column.name.as_str()) {
            names.push(&column.name);
        }
    }
    names
}

/// A value that the response may have, in every row: predictions do not look at it.
fn stand_in(kind: ResponseKind, rows: usize) -> Column {
    let value = match kind {
        ResponseKind::Positive => 1.0,
        ResponseKind::Unit => 0.5,
        ResponseKind::Within(low, high) => 0.5 * (low + high),
        ResponseKind::Simplex(count) => 1.0 / count as f64,
        _ => 0.0,
    };
    match kind {
        ResponseKind::Vector(width) | ResponseKind::Simplex(width) => Column::Matrix {
            width,
            values: vec![value; rows * width],
        },
        _ => Column::Number(vec![value; rows]),
    }
}

/// Every number of the sites; long arrays only where the effects of groups are asked for.
fn entries(sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
    let mut found = Vec::new();
    for value in sites {
        let names = names(&value.name, &value.dims);
        if names.len() > MOST_LISTED && groups == Groups::Leave {
            continue;
        }
        let size = names.len();
        for (place, name) in names.into_iter().enumerate() {
            let values = value.values.iter().skip(place).step_by(size);
            found.push(NamedDraws {
                name,
                values: values.copied().collect(),
            });
        }
    }
    found
}

/// The names of an array's numbers, the last axis changing fastest.
fn names(site: &str, dims: &[usize]) -> Vec<Name> {
    let name = |flat: usize| {
        let mut rest = flat;
        let mut labels: Vec<String> = (dims.iter().rev())
            .map(|&length| {
                let here = rest % length;
                rest /= length;
                here.to_string()
            })
            .collect();
        labels.reverse();
        if labels.is_empty() {
            return Name::from(site);
        }
        let name = Name::new(format!("{site}[{}]", labels.join(",")), site);
        let places = labels.into_iter().enumerate();
        places.fold(name, |name, (axis, label)| {
            name.at(AxisKind::Index(axis), label)
        })
    };
    (0..dims.iter().product()).map(name).collect()
}
