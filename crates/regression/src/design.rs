//! A table converted to the columns that the model reads.

use lehr_formula::{ColumnExpr, Terms};
use lehr_learn::{
    Covariate, FixedEffects, GroupingFactor, LearnError, Monotonic, NewLevels, ResponseColumn,
    Smooth, Source, Spline, evaluate_offset, population_columns, predictor_columns,
};
use lehr_table::{Column, Table};

use crate::column_name::{
    ERRORS, INDUCED, MATRIX, OFFSET, RESPONSE, ROW_WEIGHT, TRIALS, basis_column, group_column,
    level_column, monotonic_column, parameter_column, slope_column, spline_column,
};
use crate::model_plan::ModelPlan;

/// The inputs of a design: the terms, and the constants learned for them.
#[derive(Clone, Copy)]
pub struct DesignPlan<'r> {
    pub(crate) terms: &'r Terms,
    pub(crate) outcome: &'r ResponseColumn,
    pub(crate) population: &'r FixedEffects,
    /// The columns of the formulas of parameters.
    pub(crate) parameters: &'r [FixedEffects],
    pub(crate) groupings: &'r [GroupingFactor],
    pub(crate) covariate: Option<&'r Covariate>,
    pub(crate) smooths: &'r [Smooth],
    pub(crate) splines: &'r [Spline],
    pub(crate) monotonics: &'r [Monotonic],
    /// The function by inducing points.
    pub(crate) induced: Option<&'r Smooth>,
    pub(crate) model: &'r ModelPlan,
}

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
    pub(crate) fn whole(table: &Table) -> TableBlock<'_> {
        TableBlock { table, first: 0 }
    }
}

/// The model's columns for a table.
pub struct Design {
    /// The columns.
    pub table: Table,
    /// The group of each row and other codes, by their columns, where they are not to be numbers of the table.
    pub codes: Option<Vec<(String, Vec<u32>)>>,
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
        plan: &DesignPlan<'_>,
        block: &TableBlock<'t>,
        purpose: Purpose,
    ) -> Result<DesignSource<'t>, LearnError> {
        let (terms, table) = (plan.terms, block.table);
        let mut names = match purpose {
            Purpose::Population => population_columns(terms),
            Purpose::Fit | Purpose::Predict(_) => predictor_columns(terms),
        };
        let response = terms.response.observed_columns();
        let weights = terms.weights.as_ref().map(ColumnExpr::column_names);
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
        plan: &DesignPlan<'_>,
        block: &TableBlock<'_>,
        purpose: Purpose,
    ) -> Result<Design, LearnError> {
        let source = DesignSource::new(plan, block, purpose)?;
        let matrix = plan.population.matrix(&source.columns)?;
        Design::empty(&source).filled(plan, &source, Some(matrix))
    }

    /// The columns for a block of rows that are read once: without the matrix of the fixed effects, which can be
    /// computed on request, and with codes as they are.
    pub fn of_block(
        plan: &DesignPlan<'_>,
        source: &DesignSource<'_>,
    ) -> Result<Design, LearnError> {
        let design = Design {
            codes: Some(Vec::new()),
            ..Design::empty(source)
        };
        design.filled(plan, source, None)
    }

    fn empty(source: &DesignSource<'_>) -> Design {
        Design {
            table: Table::new(),
            codes: None,
            unseen: Vec::new(),
            has_response: source.has_response,
            outside: Vec::new(),
        }
    }

    fn filled(
        mut self,
        plan: &DesignPlan<'_>,
        source: &DesignSource<'_>,
        matrix: Option<Vec<f64>>,
    ) -> Result<Design, LearnError> {
        let design = &mut self;
        let columns = &source.columns;
        design.add_common(plan, columns, matrix)?;
        match source.purpose {
            Purpose::Fit => design.add_groups(plan, columns, NewLevels::Refuse)?,
            Purpose::Predict(levels) => design.add_groups(plan, columns, levels)?,
            Purpose::Population => {}
        }
        design.add_smooths(plan, columns)?;
        if let Some(expr) = plan.terms.weights.as_ref() {
            let values = if source.has_weights {
                row_weights(expr, columns)?
            } else {
                vec![1.0; columns.n_rows()]
            };
            design.insert(ROW_WEIGHT, Column::Number(values));
        }
        if source.has_response {
            design.add_response(plan, columns)?;
        }
        Ok(self)
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
        self.insert(name, Column::Number(numbers));
    }

    fn add_common(
        &mut self,
        plan: &DesignPlan<'_>,
        source: &Source<'_>,
        matrix: Option<Vec<f64>>,
    ) -> Result<(), LearnError> {
        for (terms, population) in (plan.terms.parameters.iter()).zip(plan.parameters) {
            let width = population.columns.len();
            if width > 0 {
                let values = population.matrix(source)?;
                let name = parameter_column(terms.parameter());
                self.insert(&name, Column::Matrix { width, values });
            }
        }
        let width = plan.population.columns.len();
        if let Some(values) = matrix.filter(|_| width > 0) {
            self.insert(MATRIX, Column::Matrix { width, values });
        }
        if let Some(offset) = evaluate_offset(plan.terms, source)? {
            self.insert(OFFSET, Column::Number(offset));
        }
        if let Some(trials) = plan.outcome.trials(source)? {
            self.insert(TRIALS, Column::Number(trials));
        }
        if let Some(errors) = plan.outcome.errors(source)? {
            self.insert(ERRORS, Column::Number(errors));
        }
        if let Some(covariate) = plan.covariate {
            for (name, column) in covariate.columns(source)? {
                self.insert(name, column);
            }
        }
        for (name, limits) in plan.outcome.limits(source)? {
            self.insert(name, Column::Number(limits));
        }
        Ok(())
    }

    fn add_groups(
        &mut self,
        plan: &DesignPlan<'_>,
        source: &Source<'_>,
        new_levels: NewLevels,
    ) -> Result<(), LearnError> {
        for (place, grouping) in plan.groupings.iter().enumerate() {
            let membership = grouping.membership(source, new_levels)?;
            self.insert_codes(&group_column(place), membership.codes);
            self.unseen.push(membership.unseen);
            if !grouping.is_plain() {
                let width = grouping.effects.len();
                let values = grouping.matrix(source)?;
                self.insert(&slope_column(place), Column::Matrix { width, values });
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
        let number = |code: u32| match groups.binary_search(&code) {
            Ok(place) => place,
            Err(_) => code as usize - count + groups.len(),
        };
        let numbers = codes.iter().map(|code| number(*code) as f64).collect();
        let replaced = self.table.replace(&name, Column::Number(numbers));
        replaced.expect("a column of the table, as long as it was");
        groups
    }

    fn add_smooths(
        &mut self,
        plan: &DesignPlan<'_>,
        source: &Source<'_>,
    ) -> Result<(), LearnError> {
        let smooths = plan.smooths.iter().zip(&plan.model.smooths);
        for (place, (smooth, own)) in smooths.enumerate() {
            let columns = own.columns(smooth, source)?;
            let width = own.basis.width();
            let values = columns.features;
            self.insert(&basis_column(place), Column::Matrix { width, values });
            if let Some(levels) = columns.levels {
                self.insert_codes(&level_column(place), levels);
            }
            self.outside.push(columns.outside);
        }
        for (place, spline) in plan.splines.iter().enumerate() {
            let (values, outside) = spline.columns(source)?;
            let width = spline.width();
            self.insert(&spline_column(place), Column::Matrix { width, values });
            self.outside.push(outside);
        }
        for (place, effect) in plan.monotonics.iter().enumerate() {
            self.insert_codes(&monotonic_column(place), effect.ranks(source)?);
        }
        if let Some((smooth, own)) = plan.induced.zip(plan.model.induced.as_ref()) {
            let (values, outside) = own.places(smooth, source)?;
            let width = own.width();
            self.insert(INDUCED, Column::Matrix { width, values });
            self.outside.push(outside);
        }
        Ok(())
    }

    fn add_response(
        &mut self,
        plan: &DesignPlan<'_>,
        source: &Source<'_>,
    ) -> Result<(), LearnError> {
        let values = plan.outcome.values(source)?;
        if let Ok(trials) = self.table.number(TRIALS) {
            plan.outcome.check_hits(&values, trials, source.first)?;
        }
        let limits = plan.outcome.limits(source)?;
        (plan.outcome).check_within(&values, &limits, source.first)?;
        if let Some(known) = plan.outcome.censored_response(source, &values)? {
            for (name, column) in known.columns() {
                self.insert(name, Column::Number(column));
            }
        }
        self.insert(RESPONSE, Column::Number(values));
        Ok(())
    }

    /// Adds a placeholder if the response is absent, so that the model can be bound.
    pub(crate) fn complete(&mut self, outcome: &ResponseColumn, rows: usize) {
        if self.has_response {
            return;
        }
        self.insert(RESPONSE, Column::Number(vec![outcome.stand_in(); rows]));
        for (name, column) in outcome.placeholder_bounds(rows) {
            self.insert(name, Column::Number(column));
        }
    }
}

fn row_weights(expr: &ColumnExpr, source: &Source<'_>) -> Result<Vec<f64>, LearnError> {
    let values = source.evaluate(expr)?;
    match values.iter().position(|weight| *weight < 0.0) {
        None => Ok(values),
        Some(row) => Err(LearnError::Column {
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

/// Whether all the columns are present and have values; a column of blanks counts as absent.
fn holds_any(table: &Table, names: &[&str]) -> bool {
    let filled = |name: &&str| {
        table
            .column(name)
            .is_ok_and(|column| column.count_missing() < column.len())
    };
    names.iter().all(filled)
}
