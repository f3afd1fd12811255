//! Recorded models as fitted models.

use lehr_density::{FlatDraws, Layout, ResponseKind, SiteValue};
use lehr_learn::{LearnError, NewLevels, distinct_names};
use lehr_model::{Bound, Program};
use lehr_regression::{Groups, NamedDraws, NewRows, Regression, RegressionError};
use lehr_report::{AxisKind, Name};
use lehr_table::{Column, Table};

use super::{FittedModel, Measure};
use crate::error::Error;

/// A larger array is listed together with the random effects of single groups.
const MOST_LISTED: usize = 50;

impl FittedModel for Program {
    fn only(&self, what: &'static str) -> Result<&Regression, Error> {
        Err(Error::NotARegression { what })
    }

    fn title(&self) -> String {
        let responses = Program::columns(self).responses();
        let names = responses.map(|(_, column, _)| column.name.as_str());
        format!("a model of {}", names.collect::<Vec<_>>().join(", "))
    }

    fn response(&self) -> String {
        let first = Program::columns(self).responses().next();
        first.map_or_else(String::new, |(_, column, _)| column.name.clone())
    }

    fn classes(&self) -> Vec<String> {
        match Program::columns(self).responses().next() {
            Some((_, _, ResponseKind::Category(count))) => {
                (0..count).map(|class| class.to_string()).collect()
            }
            _ => Vec::new(),
        }
    }

    fn columns(&self) -> Vec<&str> {
        named(Program::columns(self).iter())
    }

    fn predictor_columns(&self) -> Vec<&str> {
        let all = Program::columns(self);
        let responses = named(all.responses().map(|(_, column, _)| column));
        let mut columns = named(all.iter());
        columns.retain(|name| !responses.contains(name));
        columns
    }

    fn measure(&self) -> Measure {
        match Program::columns(self).responses().next() {
            Some((_, _, ResponseKind::Binary)) => Measure::Binary,
            Some((_, _, ResponseKind::Category(_))) => Measure::Class,
            Some((_, _, ResponseKind::Count)) => Measure::Count,
            Some((_, _, ResponseKind::Real)) => Measure::Real,
            _ => Measure::Amount,
        }
    }

    fn shown_values(&self, layout: &Layout, draws: FlatDraws<'_>) -> Vec<SiteValue> {
        let mut sites = layout.constrain_values(draws.latents);
        sites.extend(self.deterministic_values(draws));
        sites
    }

    fn coefficients_of_sites(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        entries(sites, groups)
    }

    fn design(&self, table: &Table) -> Result<Table, LearnError> {
        Ok(table.clone())
    }

    fn bind(&self, design: &Table) -> Result<Bound, RegressionError> {
        Ok(Program::bind(self, design)?)
    }

    fn population_rows(&self, _: &Table, _: NewLevels) -> Result<NewRows, Error> {
        Err(Error::NotARegression {
            what: "--level population",
        })
    }

    fn new_rows(&self, table: &Table, _: NewLevels) -> Result<NewRows, Error> {
        let mut whole = table.clone();
        let mut has_response = true;
        for (_, column, kind) in Program::columns(self).responses() {
            if table.column(&column.name).is_err() {
                has_response = false;
                whole.insert(column.name.clone(), stand_in(kind, table.n_rows()))?;
            }
        }
        let bound = Program::bind(self, &whole)?;
        Ok(NewRows::of_program(bound, has_response))
    }
}

fn named<'a>(columns: impl Iterator<Item = &'a lehr_density::Column>) -> Vec<&'a str> {
    distinct_names(columns.map(|column| column.name.as_str()))
}

/// A valid response for every row, which predictions ignore.
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

/// Every number of the sites; long arrays only if random effects are requested.
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
            found.push(NamedDraws::new(name, values.copied().collect()));
        }
    }
    found
}

/// The names of an array's numbers; the last axis varies fastest.
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
            name.at_label(AxisKind::Index(axis), label)
        })
    };
    (0..dims.iter().product()).map(name).collect()
}
