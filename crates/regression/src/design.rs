//! A table as the columns that the model reads.

use lehr_formula::Expr;
use lehr_table::{Column, Table};

use crate::error::RegressionError;
use crate::program::{MATRIX, OFFSET, RESPONSE, ROW_WEIGHT, TRIALS, group_column, slope_column};
use crate::regression::{NewLevels, Regression};
use crate::source::Source;

/// What a design is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The response and the weights must be there, and no group may be new.
    Fit,
    /// The response and the weights may be absent.
    Predict(NewLevels),
}

/// Rows of a table.
pub(crate) struct Block<'t> {
    pub(crate) table: &'t Table,
    /// How many rows of the whole table come before these.
    pub(crate) first: usize,
}

impl Block<'_> {
    /// All rows of a table.
    pub(crate) fn whole(table: &Table) -> Block<'_> {
        Block { table, first: 0 }
    }
}

/// The model's columns for a table.
pub(crate) struct Design {
    pub(crate) table: Table,
    /// The unseen groups of each group term.
    pub(crate) unseen: Vec<Vec<String>>,
    pub(crate) has_response: bool,
}

impl Design {
    /// The columns for a block of rows.
    pub(crate) fn new(
        regression: &Regression,
        block: &Block<'_>,
        purpose: Purpose,
    ) -> Result<Design, RegressionError> {
        let (terms, table) = (regression.terms(), block.table);
        let mut names = regression.predictor_columns();
        let response = terms.response.outcome.columns();
        let weights = terms.weights.as_ref().map(Expr::columns);
        let has_response = purpose == Purpose::Fit || holds_any(table, &response);
        let has_weights = purpose == Purpose::Fit || table_has(table, weights.as_deref());
        names.extend(has_response.then_some(response).into_iter().flatten());
        names.extend(
            has_weights
                .then_some(weights)
                .flatten()
                .into_iter()
                .flatten(),
        );
        let source = Source::block(table, &names, block.first)?;
        let mut design = Design {
            table: Table::new(),
            unseen: Vec::new(),
            has_response,
        };
        design.add_common(regression, &source)?;
        design.add_groups(regression, &source, purpose)?;
        if let Some(expr) = terms.weights.as_ref() {
            let values = if has_weights {
                row_weights(expr, &source)?
            } else {
                vec![1.0; source.n_rows()]
            };
            design.insert(ROW_WEIGHT, Column::Number(values));
        }
        if has_response {
            design.add_response(regression, &source)?;
        }
        Ok(design)
    }

    fn insert(&mut self, name: &str, column: Column) {
        let inserted = self.table.insert(name, column);
        inserted.expect("each column of a design has a name of its own and all rows");
    }

    fn add_common(
        &mut self,
        regression: &Regression,
        source: &Source<'_>,
    ) -> Result<(), RegressionError> {
        let width = regression.population.columns.len();
        if width > 0 {
            let values = regression.population.matrix(source)?;
            self.insert(MATRIX, Column::Matrix { width, values });
        }
        if let Some(offset) = offset(regression.terms(), source)? {
            self.insert(OFFSET, Column::Number(offset));
        }
        if let Some(trials) = regression.outcome.trials(source)? {
            self.insert(TRIALS, Column::Number(trials));
        }
        Ok(())
    }

    fn add_groups(
        &mut self,
        regression: &Regression,
        source: &Source<'_>,
        purpose: Purpose,
    ) -> Result<(), RegressionError> {
        let new_levels = match purpose {
            Purpose::Fit => NewLevels::Refuse,
            Purpose::Predict(new_levels) => new_levels,
        };
        for (place, grouping) in regression.groupings.iter().enumerate() {
            let membership = grouping.membership(source, new_levels)?;
            let codes = membership.codes.into_iter().map(f64::from).collect();
            self.insert(&group_column(place), Column::Number(codes));
            self.unseen.push(membership.unseen);
            if !grouping.is_plain() {
                let width = grouping.effects.len();
                let values = grouping.matrix(source)?;
                self.insert(&slope_column(place), Column::Matrix { width, values });
            }
        }
        Ok(())
    }

    fn add_response(
        &mut self,
        regression: &Regression,
        source: &Source<'_>,
    ) -> Result<(), RegressionError> {
        let values = regression.outcome.values(source)?;
        if let Ok(trials) = self.table.number(TRIALS) {
            regression
                .outcome
                .check_hits(&values, trials, source.first)?;
        }
        self.insert(RESPONSE, Column::Number(values));
        Ok(())
    }

    /// Puts a stand-in where the response is absent, so that the model can be bound.
    pub(crate) fn complete(&mut self, stand_in: f64, rows: usize) {
        if !self.has_response {
            self.insert(RESPONSE, Column::Number(vec![stand_in; rows]));
        }
    }
}

/// The sum of the offsets; `None` without any.
pub(crate) fn offset(
    terms: &lehr_formula::Terms,
    source: &Source<'_>,
) -> Result<Option<Vec<f64>>, RegressionError> {
    let mut sum: Option<Vec<f64>> = None;
    for expr in &terms.offsets {
        let values = source.evaluate(expr)?;
        sum = Some(match sum {
            None => values,
            Some(before) => before.iter().zip(&values).map(|(a, b)| a + b).collect(),
        });
    }
    Ok(sum)
}

fn row_weights(expr: &Expr, source: &Source<'_>) -> Result<Vec<f64>, RegressionError> {
    let values = source.evaluate(expr)?;
    match values.iter().position(|weight| *weight < 0.0) {
        None => Ok(values),
        Some(row) => Err(RegressionError::Column {
            at: format!("weights({expr}), row {}", source.first + row + 1),
            expected: "a weight from 0 on".into(),
            found: values[row].to_string(),
            hint: String::new(),
        }),
    }
}

fn table_has(table: &Table, names: Option<&[&str]>) -> bool {
    let all = |names: &[&str]| names.iter().all(|name| table.column(name).is_ok());
    names.is_some_and(all)
}

/// Whether all the columns are there and each has a value; a column of blanks is absent.
fn holds_any(table: &Table, names: &[&str]) -> bool {
    let filled = |name: &&str| {
        table
            .column(name)
            .is_ok_and(|column| column.missing() < column.len())
    };
    names.iter().all(filled)
}

/// The columns that rows to predict must have.
pub(crate) fn predictor_columns(terms: &lehr_formula::Terms) -> Vec<&str> {
    let slopes = terms.groups.iter().flat_map(|group| &group.slopes);
    let factors = terms
        .fixed
        .iter()
        .chain(slopes)
        .flat_map(|term| &term.factors);
    let mut names: Vec<&str> = Vec::new();
    let all = (terms.response.trial_columns().into_iter())
        .chain(factors.flat_map(lehr_formula::Factor::columns))
        .chain(terms.offsets.iter().flat_map(Expr::columns))
        .chain(
            terms
                .groups
                .iter()
                .flat_map(|group| group.grouping.iter().map(String::as_str)),
        );
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
