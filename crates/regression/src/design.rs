//! A table converted to the columns that the model reads.

use lehr_formula::ColumnExpr;
use lehr_learn::{
    LearnError, NewLevels, ResponseColumn, Source, evaluate_offset, population_columns,
    predictor_columns,
};
use lehr_table::{Column, Table};

use crate::column_name::{
    ERRORS, INDUCED, MATRIX, OFFSET, RESPONSE, ROW_WEIGHT, TRIALS, basis_column, group_column,
    level_column, monotonic_column, parameter_column, slope_column, spline_column,
};
use crate::learned_regression::Regression;

/// The purpose of a design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Response and weights must be present, and no group may be new.
    Fit,
    /// The response and the weights may be absent.
    Predict(NewLevels),
    /// As for a prediction, without group terms.
    Population,
}

/// Rows of a table.
pub struct TableBlock<'t> {
    /// The table with the rows.
    pub table: &'t Table,
    /// The number of rows of the whole table before these.
    pub first: usize,
}

impl TableBlock<'_> {
    /// All rows of a table.
    pub fn whole(table: &Table) -> TableBlock<'_> {
        TableBlock { table, first: 0 }
    }
}

/// Codes of rows by the names of their columns.
pub(crate) type NamedCodes = Vec<(String, Vec<u32>)>;

/// The model's columns for a table.
pub struct Design {
    /// The columns.
    pub table: Table,
    /// The group of each row and other codes, by their columns, where they are not to be numbers of the table.
    pub codes: Option<NamedCodes>,
    /// The unseen groups of each group term.
    pub(crate) unseen: Vec<Vec<String>>,
    pub(crate) has_response: bool,
    /// How many rows lie outside the fitted range of each smooth function.
    pub(crate) outside: Vec<usize>,
}

/// The checked columns of a block that a design reads.
pub struct DesignSource<'t> {
    /// The columns of the user's table.
    pub columns: Source<'t>,
    purpose: Purpose,
    has_response: bool,
    has_weights: bool,
}

impl<'t> DesignSource<'t> {
    /// The columns of a block that a design of this purpose reads.
    pub fn new(
        regression: &Regression,
        block: &TableBlock<'t>,
        purpose: Purpose,
    ) -> Result<DesignSource<'t>, LearnError> {
        let (terms, table) = (&regression.terms, block.table);
        let mut names = match purpose {
            Purpose::Population => population_columns(terms),
            Purpose::Fit | Purpose::Predict(_) => predictor_columns(terms),
        };
        let response = terms.response.observed_columns();
        let weights = terms.weights.as_ref().map(ColumnExpr::column_names);
        let has_response = purpose == Purpose::Fit || holds_any(table, &response);
        let are_there = |names: &Vec<&str>| names.iter().all(|name| table.column(name).is_ok());
        let has_weights = purpose == Purpose::Fit || weights.as_ref().is_some_and(are_there);
        names.extend(has_response.then_some(response).into_iter().flatten());
        names.extend(weights.filter(|_| has_weights).into_iter().flatten());
        let optional = terms.optional_columns();
        Ok(DesignSource {
            columns: Source::block(table, &names, (&optional, block.first))?,
            purpose,
            has_response,
            has_weights,
        })
    }
}

impl Design {
    /// The columns for a block of rows.
    pub(crate) fn new(
        regression: &Regression,
        block: &TableBlock<'_>,
        purpose: Purpose,
    ) -> Result<Design, LearnError> {
        let source = DesignSource::new(regression, block, purpose)?;
        let matrix = regression.population.matrix(&source.columns)?;
        Design::filled(regression, &source, (Some(matrix), None))
    }

    /// The columns for a block of rows that are read once: without the matrix of the fixed effects, which can be
    /// computed on request, and with codes as they are.
    pub fn of_block(
        regression: &Regression,
        source: &DesignSource<'_>,
    ) -> Result<Design, LearnError> {
        Design::filled(regression, source, (None, Some(Vec::new())))
    }

    fn filled(
        regression: &Regression,
        source: &DesignSource<'_>,
        (matrix, codes): (Option<Vec<f64>>, Option<NamedCodes>),
    ) -> Result<Design, LearnError> {
        let mut design = Design {
            table: Table::new(),
            codes,
            unseen: Vec::new(),
            has_response: source.has_response,
            outside: Vec::new(),
        };
        let columns = &source.columns;
        design.add_common(regression, columns, matrix)?;
        match source.purpose {
            Purpose::Fit => design.add_groups(regression, columns, NewLevels::Refuse)?,
            Purpose::Predict(levels) => design.add_groups(regression, columns, levels)?,
            Purpose::Population => {}
        }
        design.add_smooths(regression, columns)?;
        if let Some(expr) = regression.terms.weights.as_ref() {
            let values = if source.has_weights {
                row_weights(expr, columns)?
            } else {
                vec![1.0; columns.n_rows()]
            };
            design.insert_numbers(ROW_WEIGHT, values);
        }
        if source.has_response {
            design.add_response(regression, columns)?;
        }
        Ok(design)
    }

    fn insert_numbers(&mut self, name: &str, values: Vec<f64>) {
        self.insert(name, Column::Number(values));
    }

    fn insert_matrix(&mut self, name: &str, width: usize, values: Vec<f64>) {
        self.insert(name, Column::Matrix { width, values });
    }

    fn insert(&mut self, name: &str, column: Column) {
        let inserted = self.table.insert(name, column);
        inserted.expect("each column of a design has a name of its own and all rows");
    }

    fn insert_codes(&mut self, name: &str, codes: Vec<u32>) {
        if let Some(apart) = &mut self.codes {
            apart.push((name.to_owned(), codes));
            return;
        }
        let numbers = codes.into_iter().map(f64::from).collect();
        self.insert_numbers(name, numbers);
    }

    fn add_common(
        &mut self,
        regression: &Regression,
        source: &Source<'_>,
        matrix: Option<Vec<f64>>,
    ) -> Result<(), LearnError> {
        let formulas = regression.terms.parameters.iter();
        for (terms, population) in formulas.zip(&regression.parameters) {
            let width = population.columns.len();
            if width > 0 {
                let name = parameter_column(terms.parameter());
                self.insert_matrix(&name, width, population.matrix(source)?);
            }
        }
        let width = regression.population.columns.len();
        if let Some(values) = matrix.filter(|_| width > 0) {
            self.insert_matrix(MATRIX, width, values);
        }
        let outcome = &regression.outcome;
        let optional = [
            (OFFSET, evaluate_offset(&regression.terms, source)?),
            (TRIALS, outcome.trials(source)?),
            (ERRORS, outcome.errors(source)?),
        ];
        for (name, values) in optional {
            if let Some(values) = values {
                self.insert_numbers(name, values);
            }
        }
        if let Some(covariate) = &regression.covariate {
            for (name, column) in covariate.columns(source)? {
                self.insert(name, column);
            }
        }
        for (name, limits) in outcome.limits(source)? {
            self.insert_numbers(name, limits);
        }
        Ok(())
    }

    fn add_groups(
        &mut self,
        regression: &Regression,
        source: &Source<'_>,
        new_levels: NewLevels,
    ) -> Result<(), LearnError> {
        for (place, grouping) in regression.groupings.iter().enumerate() {
            let membership = grouping.membership(source, new_levels)?;
            self.insert_codes(&group_column(place), membership.codes);
            self.unseen.push(membership.unseen);
            if !grouping.is_plain() {
                let values = grouping.matrix(source)?;
                self.insert_matrix(&slope_column(place), grouping.effects.len(), values);
            }
        }
        Ok(())
    }

    /// Renumbers the groups of a term with `count` groups by those that occur in the rows, at least
    /// one, and returns them. Groups that were not fitted follow.
    pub(crate) fn narrow(&mut self, place: usize, count: usize) -> Vec<u32> {
        let name = group_column(place);
        let codes = self.table.number(&name).expect("every term has its column");
        let codes: Vec<u32> = codes.iter().map(|code| *code as u32).collect();
        let mut groups = codes.clone();
        groups.retain(|code| (*code as usize) < count);
        groups.sort_unstable();
        groups.dedup();
        if groups.is_empty() {
            groups.push(0);
        }
        let unseen = |code: u32| code as usize - count + groups.len();
        let number = |code: &u32| groups.binary_search(code).unwrap_or_else(|_| unseen(*code));
        let numbers = codes.iter().map(|code| number(code) as f64).collect();
        let replaced = self.table.replace(&name, Column::Number(numbers));
        replaced.expect("a column of the table, as long as it was");
        groups
    }

    fn add_smooths(
        &mut self,
        regression: &Regression,
        source: &Source<'_>,
    ) -> Result<(), LearnError> {
        let plan = &regression.model_plan;
        let smooths = regression.smooths.iter().zip(&plan.smooths);
        for (place, (smooth, own)) in smooths.enumerate() {
            let columns = own.columns(smooth, source)?;
            self.insert_matrix(&basis_column(place), own.basis.width(), columns.features);
            if let Some(levels) = columns.levels {
                self.insert_codes(&level_column(place), levels);
            }
            self.outside.push(columns.outside);
        }
        for (place, spline) in regression.splines.iter().enumerate() {
            let (values, outside) = spline.columns(source)?;
            self.insert_matrix(&spline_column(place), spline.width(), values);
            self.outside.push(outside);
        }
        for (place, effect) in regression.monotonics.iter().enumerate() {
            self.insert_codes(&monotonic_column(place), effect.ranks(source)?);
        }
        if let Some((smooth, own)) = regression.induced.as_ref().zip(plan.induced.as_ref()) {
            let (values, outside) = own.places(smooth, source)?;
            self.insert_matrix(INDUCED, own.width(), values);
            self.outside.push(outside);
        }
        Ok(())
    }

    fn add_response(
        &mut self,
        regression: &Regression,
        source: &Source<'_>,
    ) -> Result<(), LearnError> {
        let outcome = &regression.outcome;
        let values = outcome.values(source)?;
        if let Ok(trials) = self.table.number(TRIALS) {
            outcome.check_hits(&values, trials, source.first)?;
        }
        outcome.check_within(&values, &outcome.limits(source)?, source.first)?;
        if let Some(known) = outcome.censored_response(source, &values)? {
            for (name, column) in known.columns() {
                self.insert_numbers(name, column);
            }
        }
        self.insert_numbers(RESPONSE, values);
        Ok(())
    }

    /// Adds a placeholder if the response is absent, so that the model can be bound.
    pub(crate) fn complete(&mut self, outcome: &ResponseColumn, rows: usize) {
        if self.has_response {
            return;
        }
        self.insert_numbers(RESPONSE, vec![outcome.stand_in(); rows]);
        for (name, column) in outcome.placeholder_bounds(rows) {
            self.insert_numbers(name, column);
        }
    }
}

fn row_weights(expr: &ColumnExpr, source: &Source<'_>) -> Result<Vec<f64>, LearnError> {
    let values = source.evaluate(expr)?;
    match values.iter().position(|weight| *weight < 0.0) {
        None => Ok(values),
        Some(row) => Err(LearnError::column(
            format!("weights({expr}), row {}", source.first + row + 1),
            "a weight from 0 on",
            values[row].to_string(),
            "",
        )),
    }
}

/// Whether all the columns are present and have values; a column of blanks counts as absent.
fn holds_any(table: &Table, names: &[&str]) -> bool {
    let has_values = |column: &Column| column.count_missing() < column.len();
    let mut columns = names.iter().map(|name| table.column(name));
    columns.all(|column| column.is_ok_and(has_values))
}
