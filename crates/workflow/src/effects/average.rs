//! Averages of counterfactual predictions over the rows of a table, block by block.

use std::collections::BTreeMap;

use lehr_density::Predictor;
use lehr_learn::{ColumnProfile, ColumnValue, LearnError, Link, ResponseForm, reference_row};
use lehr_regression::{PredictionLevel, Regression, column_name::PREDICTOR};
use lehr_report::Summary;
use lehr_table::{Column, Levels, MISSING, Table};
use serde::Serialize;

use super::plan::{
    Combination, EffectKind, EffectPlan, PlannedEffect, profile, rounded, with_column,
};
use super::{EffectQuestion, EffectScale};
use crate::error::Error;
use crate::predict::{Forecaster, PredictionBatch};
use crate::saved_fit::plain;

/// More groups of rows are not averaged separately.
const MOST_CELLS: usize = 1000;

/// One effect with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectEstimate {
    /// Its kind.
    pub kind: EffectKind,
    /// `age = 30`, `night - day`, `slope`.
    pub name: String,
    /// The number at which a column is predicted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The value of the column by whose groups rows are averaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The class of the response, if it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Its posterior.
    #[serde(flatten)]
    pub summary: Summary,
}

/// The effects that answer a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectEstimates {
    /// The column whose effects they are.
    pub variable: String,
    /// The quantity that is affected, in words.
    pub on: String,
    /// The scale.
    pub scale: EffectScale,
    /// Whether random effects are included.
    pub level: PredictionLevel,
    /// Whether the model has random effects.
    #[serde(skip)]
    pub has_groups: bool,
    /// The reference values of the other columns that the question does not set.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reference: BTreeMap<String, String>,
    /// Rows in the average; 0 at the reference.
    pub n_rows: u64,
    /// Draws.
    pub n_draws: usize,
    /// The effects.
    pub effects: Vec<EffectEstimate>,
}

/// Answers a question over a table that is read in blocks, or at the reference.
pub struct EffectAverager<'a> {
    forecaster: &'a Forecaster<'a>,
    regression: &'a Regression,
    question: &'a EffectQuestion,
    plan: EffectPlan,
    /// The names of the cells.
    names: Levels,
    cells: Vec<AverageCell>,
    /// How many averaged numbers a row has.
    width: usize,
    rows: u64,
}

/// Rows that are averaged together.
#[derive(Default)]
struct AverageCell {
    rows: u64,
    /// The sum over rows for each scenario, draw and number.
    sums: Vec<f64>,
}

impl<'a> EffectAverager<'a> {
    /// Parses a question; refuses columns and values that are unknown to the fit.
    pub fn new(
        forecaster: &'a Forecaster<'a>,
        question: &'a EffectQuestion,
    ) -> Result<EffectAverager<'a>, Error> {
        let regression = forecaster.saved.subject.only("effects")?;
        Ok(EffectAverager {
            plan: EffectPlan::new(question, regression)?,
            forecaster,
            regression,
            question,
            names: Levels::default(),
            cells: Vec::new(),
            width: 1,
            rows: 0,
        })
    }

    /// The columns that are read of a table.
    pub fn columns(&self) -> Vec<String> {
        let mut names: Vec<&str> = match self.forecaster.level {
            PredictionLevel::Groups => self.regression.predictor_columns(),
            PredictionLevel::Population => self.regression.population_columns(),
        };
        let is_set = |name: &str| self.plan.scenarios.iter().all(|one| one.sets(name));
        names.retain(|name| !is_set(name));
        let by = self.question.by.as_deref();
        names.extend(by.filter(|by| !names.contains(by)));
        names.into_iter().map(str::to_owned).collect()
    }

    /// The columns whose values may be missing.
    pub fn optional_columns(&self) -> Vec<&str> {
        self.regression.optional_columns()
    }

    /// Adds a block of rows to the averages.
    pub fn push(&mut self, table: &Table) -> Result<(), Error> {
        if table.n_rows() == 0 {
            return Ok(());
        }
        let cells = self.cells_of(table)?;
        for place in 0..self.plan.scenarios.len() {
            self.add(place, table, &cells)?;
        }
        for cell in &cells {
            self.cells[*cell].rows += 1;
        }
        self.rows += table.n_rows() as u64;
        Ok(())
    }

    /// Answers at the reference: numbers at their mean, levels at their most frequent one. The
    /// columns of group terms are set by the question.
    pub fn at_reference(mut self) -> Result<EffectEstimates, Error> {
        let table = reference_row(self.regression.profiles())?;
        match &self.question.by {
            None => self.push(&table)?,
            Some(by) => {
                for level in self.reference_levels(by)? {
                    self.push(&with_column(&table, by, level.column(1))?)?;
                }
            }
        }
        let reference = self.reference();
        let mut effects = self.finish()?;
        (effects.n_rows, effects.reference) = (0, reference);
        Ok(effects)
    }

    /// The reference values of columns that are not set otherwise.
    fn reference(&self) -> BTreeMap<String, String> {
        let names = self.columns();
        let is_read =
            |name: &String| names.contains(name) && self.question.by.as_ref() != Some(name);
        let profiles = self.regression.profiles().iter();
        let read = profiles.filter(|profile| is_read(&profile.name));
        let value = |profile: &ColumnProfile| match profile.reference() {
            ColumnValue::Number(mean) => rounded(mean),
            other => other.to_string(),
        };
        read.map(|profile| (profile.name.clone(), value(profile)))
            .collect()
    }

    /// The levels of the column by which rows are averaged.
    fn reference_levels(&self, by: &str) -> Result<Vec<ColumnValue>, LearnError> {
        let levels = profile(self.regression, by)?.levels();
        levels.ok_or_else(|| {
            LearnError::column(
                format!("--by {by}"),
                "a column of levels where no table is given",
                "numbers",
                "name the table whose rows are to be averaged",
            )
        })
    }

    /// The cell of each row.
    fn cells_of(&mut self, table: &Table) -> Result<Vec<usize>, Error> {
        let Some(by) = &self.question.by else {
            return Ok(vec![self.cell(""); table.n_rows()]);
        };
        let column = table.column(by)?.to_category();
        let Some(Column::Category { codes, levels }) = column else {
            return Err(self.refused_cells("one value per row", "several").into());
        };
        if codes.contains(&MISSING) {
            let found = "none in some";
            return Err(self.refused_cells("a value in every row", found).into());
        }
        let mut places = vec![None; levels.len()];
        let place = |code: u32| {
            let code = code as usize;
            *places[code].get_or_insert_with(|| self.cell(&levels[code]))
        };
        let cells = codes.into_iter().map(place).collect();
        if self.cells.len() > MOST_CELLS {
            let expected = format!("at most {MOST_CELLS} different values");
            return Err(self.refused_cells(&expected, "more").into());
        }
        Ok(cells)
    }

    fn refused_cells(&self, expected: &str, found: &str) -> LearnError {
        LearnError::column(
            format!("--by {}", self.question.by.as_deref().unwrap_or_default()),
            expected,
            found,
            "choose another column",
        )
    }

    /// The place of the cell of that name.
    fn cell(&mut self, name: &str) -> usize {
        let place = self.names.code_of(name) as usize;
        if place == self.cells.len() {
            self.cells.push(AverageCell::default());
        }
        place
    }

    /// Adds the predictions of one scenario to the sums.
    fn add(&mut self, place: usize, table: &Table, cells: &[usize]) -> Result<(), Error> {
        let rows = self.plan.scenarios[place].rows(table)?;
        let batch = self.forecaster.batch(&rows)?;
        let mut predictor = Predictor::of_all_rows(batch.rows.bound());
        let (scenarios, draws) = (self.plan.scenarios.len(), batch.draws.len());
        for number in 0..draws {
            let values = self.values(&mut predictor, &batch, number)?;
            let width = values.len() / cells.len();
            self.width = width;
            for (cell, own) in cells.iter().zip(values.chunks_exact(width)) {
                let sums = &mut self.cells[*cell].sums;
                sums.resize(scenarios * draws * width, 0.0);
                let start = (place * draws + number) * width;
                let sums = sums[start..start + width].iter_mut();
                sums.zip(own).for_each(|(sum, value)| *sum += value);
            }
        }
        Ok(())
    }

    /// The averaged numbers, row after row, for one draw.
    fn values(
        &self,
        predictor: &mut Predictor,
        batch: &PredictionBatch,
        number: usize,
    ) -> Result<Vec<f64>, Error> {
        let (draw, params) = (&batch.draws[number], self.forecaster.saved.params());
        let per_trial = self.form() == ResponseForm::Successes;
        if self.question.scale == EffectScale::Response && !per_trial {
            let moments = predictor.moments(draw, params).into_iter().next();
            let response = moments.and_then(|moments| {
                let of_classes = Some(moments.probabilities).filter(|all| !all.is_empty());
                of_classes.or(moments.mean)
            });
            return Ok(response.ok_or_else(|| self.no_mean())?);
        }
        let mut named = predictor.quantities(draw, params).into_iter();
        let found = named.find(|quantity| quantity.name == PREDICTOR);
        let link = found.expect("a regression names its predictor").values;
        Ok(match self.question.scale {
            EffectScale::Response => link.iter().map(|at| 1.0 / (1.0 + (-at).exp())).collect(),
            EffectScale::Link | EffectScale::Odds => link,
        })
    }

    fn no_mean(&self) -> LearnError {
        LearnError::mismatch(
            self.regression.family().name().to_owned(),
            "a response with a mean",
            "none",
            "use --scale link",
        )
    }

    /// The effects over all rows so far.
    pub fn finish(self) -> Result<EffectEstimates, Error> {
        if self.rows == 0 {
            return Err(LearnError::NoRows.into());
        }
        let (names, places) = self.names.sorted_names();
        let mut order = vec![0; places.len()];
        for (cell, place) in places.iter().enumerate() {
            order[*place as usize] = cell;
        }
        let mut effects = Vec::new();
        for quantity in &self.plan.quantities {
            for (name, cell) in names.iter().zip(&order) {
                for part in 0..self.width {
                    effects.push(EffectEstimate {
                        by: self.question.by.as_ref().map(|_| name.clone()),
                        ..self.effect(quantity, &self.cells[*cell], part)
                    });
                }
            }
        }
        Ok(EffectEstimates {
            variable: self.question.variable.clone(),
            on: self.on(),
            scale: self.question.scale,
            level: self.forecaster.level,
            has_groups: self.regression.predictor_columns().len()
                > self.regression.population_columns().len(),
            reference: BTreeMap::new(),
            n_rows: self.rows,
            n_draws: self.forecaster.draws.len(),
            effects,
        })
    }

    fn effect(&self, quantity: &PlannedEffect, cell: &AverageCell, part: usize) -> EffectEstimate {
        let draws = self.forecaster.draws.len();
        let mean = |scenario: usize, draw: usize| {
            cell.sums[(scenario * draws + draw) * self.width + part] / cell.rows as f64
        };
        let value = |draw: usize| {
            let value = match quantity.of {
                Combination::One(place) => mean(place, draw),
                Combination::Difference(high, low) => mean(high, draw) - mean(low, draw),
                Combination::Quotient { low, high, step } => {
                    (mean(high, draw) - mean(low, draw)) / step
                }
            };
            match self.question.scale {
                EffectScale::Odds => value.exp(),
                EffectScale::Response | EffectScale::Link => value,
            }
        };
        let values: Vec<f64> = (0..draws).map(value).collect();
        EffectEstimate {
            kind: quantity.kind,
            name: quantity.name.clone(),
            value: quantity.value,
            by: None,
            class: self.class(part),
            summary: Summary {
                quartiles: None,
                ..plain(&values)
            },
        }
    }

    /// The class to which a number belongs, if there are several.
    fn class(&self, part: usize) -> Option<String> {
        let classes = self.regression.response_levels();
        let first = classes.len().saturating_sub(self.width);
        let has_several = self.width > 1 || self.form() == ResponseForm::Unordered;
        classes.get(first + part).filter(|_| has_several).cloned()
    }

    fn form(&self) -> ResponseForm {
        self.regression.family().form()
    }

    /// The quantity that is affected.
    fn on(&self) -> String {
        let response = self.regression.response();
        let classes = self.regression.response_levels();
        match (self.question.scale, self.form()) {
            (EffectScale::Link, _) => format!("the linear predictor of {response}"),
            (EffectScale::Odds, _) if self.regression.family().link() == Link::Log => {
                format!("the mean of {response} but for averaging, as ratios")
            }
            (EffectScale::Odds, _) => format!("the odds of {response}"),
            (_, ResponseForm::Two) => {
                let one = classes.last().map_or("1", String::as_str);
                format!("the probability of {response} = {one}")
            }
            (_, ResponseForm::Successes) => format!("the probability of a success in {response}"),
            (_, ResponseForm::Unordered | ResponseForm::Ordered) => {
                format!("the probability of each class of {response}")
            }
            _ => format!("the mean of {response}"),
        }
    }
}
