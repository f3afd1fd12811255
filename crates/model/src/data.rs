//! Reads the columns of a model as numbers and checks each value.

use std::borrow::Cow;
use std::sync::Arc;

use lehr_density::{Column, ColumnKind, Columns, ResponseKind, Role, RowData, Values};
use lehr_graph::Graph;
use lehr_table::{Column as TableColumn, MISSING, Table};
use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::record::Record;
use crate::schema::Schema;
use crate::statement::{ObservedColumn, Statement};

/// The program's requirements on the values of its columns, besides their roles.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Demands {
    /// The distribution of each observed column.
    distributions: Vec<(String, String)>,
    /// For each index column that reads an array, the length of the shortest one.
    lengths: Vec<(String, usize)>,
    /// The column of trials for each observed column of successes.
    trials: Vec<(String, String)>,
}

impl Demands {
    pub(crate) fn from_record(record: &Record<'_>, columns: &Columns, graph: &Graph) -> Demands {
        let observed = record.statements.iter().filter_map(Statement::observed);
        let trials = observed.clone().filter_map(|observed| {
            let mut parameters = observed.law.parameters.iter();
            let trials = parameters.find(|parameter| parameter.name == "trials")?;
            let (_, trials) = record.outputs[trials.output];
            let (column, _) = record.numbers.iter().find(|(_, read)| read.is(trials))?;
            Some((observed.column.clone(), column.clone()))
        });
        let name = |observed: &ObservedColumn| {
            let distribution = observed.law.family.0.name().to_owned();
            (observed.column.clone(), distribution)
        };
        let lengths = columns.iter().filter_map(|column| {
            let ColumnKind::Index { .. } = column.kind else {
                return None;
            };
            let reach = graph.reach(*record.indices.get(&column.name)?);
            Some((column.name.clone(), reach.into_iter().min()?))
        });
        Demands {
            distributions: observed.clone().map(name).collect(),
            lengths: lengths.collect(),
            trials: trials.collect(),
        }
    }

    fn distribution_of(&self, name: &str) -> &str {
        let found = self.distributions.iter().find(|(known, _)| known == name);
        found.map_or("the distribution", |(_, distribution)| distribution)
    }

    fn vector_length(&self, name: &str) -> Option<usize> {
        let found = self.lengths.iter().find(|(known, _)| known == name);
        found.map(|(_, length)| *length)
    }
}

/// The values of `columns` from a table, or all the mistakes in them.
pub(crate) fn read_columns(
    table: &Table,
    columns: &Columns,
    schema: &Schema,
    demands: &Demands,
) -> Result<RowData, Vec<Problem>> {
    let mut reader = ColumnReader {
        demands,
        problems: Vec::new(),
    };
    let mut values = Vec::with_capacity(columns.len());
    for column in columns {
        match matching_columns(table, schema, column) {
            Ok(found) => values.push(reader.read_columns(&found, column)),
            Err(problem) => reader.note_problem(problem),
        }
    }
    if reader.problems.is_empty() {
        reader.check_trials(columns, &values);
    }
    if reader.problems.is_empty() {
        return Ok(RowData::new(table.n_rows(), values));
    }
    Err(reader.problems)
}

/// The table's column, with its levels numbered as when the model was bound.
fn matching_columns<'t>(
    table: &'t Table,
    schema: &Schema,
    column: &Column,
) -> Result<Cow<'t, TableColumn>, Problem> {
    let name = &column.name;
    let found = table.column(name).map_err(|_| Problem::UnknownColumn {
        name: name.clone(),
        hint: Schema::of_table(table).name_hint(name),
    })?;
    let known = schema.column(name).expect("a column that is read is known");
    let wrong = || Problem::WrongKind {
        name: name.clone(),
        expected: "the type the model was bound with",
        found: found.kind().to_string(),
        hint: format!("it was {} then", known.kind),
    };
    match &known.names {
        _ if found.kind() != known.kind => Err(wrong()),
        Some(levels) => found
            .recode_levels(name, levels)
            .map(Cow::Owned)
            .map_err(|error| {
                let text = error.to_string();
                let message = text.split_once(": ").map_or(&*text, |(_, rest)| rest);
                Problem::UnseenLevel {
                    name: name.clone(),
                    message: message.to_owned(),
                }
            }),
        None => Ok(Cow::Borrowed(found)),
    }
}

struct ColumnReader<'a> {
    demands: &'a Demands,
    problems: Vec<Problem>,
}

impl ColumnReader<'_> {
    fn note_problem(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    /// Adds a problem with the values of some rows, if there are such rows. `found` is the value of a row.
    fn note_values(
        &mut self,
        name: &str,
        offender: Option<(usize, usize)>,
        [expected, hint]: [&str; 2],
        found: impl Fn(usize) -> String,
    ) {
        if let Some((row, count)) = offender {
            self.note_problem(Problem::BadValue {
                name: name.to_owned(),
                row,
                expected: expected.to_owned(),
                found: found(row - 1),
                count,
                hint: hint.to_owned(),
            });
        }
    }

    fn read_columns(&mut self, found: &TableColumn, column: &Column) -> Values {
        let name = &column.name;
        if let Some((row, count)) = find_offenders(found.len(), |row| found.is_missing(row)) {
            self.note_problem(Problem::NotFinite {
                name: name.clone(),
                expected: "a value in every row",
                kind: "missing",
                count: count.max(found.count_missing()),
                row,
                hint: "leave such rows out with drop_missing, or fill them in before binding",
            });
        }
        if let (ColumnKind::Index { .. }, TableColumn::Category { codes, .. }) =
            (column.kind, found)
        {
            return self.read_codes(name, codes.as_slice().into());
        }
        let width = found.kind().width();
        let numbers = numbers_of(found);
        let infinite = |row: usize| {
            numbers[row * width..][..width]
                .iter()
                .any(|x| x.is_infinite())
        };
        if let Some((row, _)) = find_offenders(found.len(), infinite) {
            self.note_problem(Problem::NotFinite {
                name: name.clone(),
                expected: "finite numbers",
                kind: "infinite",
                count: found.count_infinite(),
                row,
                hint: "look for a logarithm of zero or a division by zero upstream",
            });
        }
        match column.kind {
            ColumnKind::Index { .. } => self.read_indices(name, &numbers),
            ColumnKind::Number { .. } => {
                self.check_values(column, &numbers);
                Values::Numbers {
                    width,
                    values: Arc::from(&*numbers),
                }
            }
        }
    }

    fn check_values(&mut self, column: &Column, numbers: &[f64]) {
        match column.role {
            Role::Response { kind } => self.check_labels(column, kind, numbers),
            Role::Weight => {
                let negative = find_offenders(numbers.len(), |row| numbers[row] < 0.0);
                let found = |row: usize| numbers[row].to_string();
                let expected = "expected a weight from 0 on";
                self.note_values(&column.name, negative, [expected, ""], found);
            }
            _ => {}
        }
    }

    fn check_labels(&mut self, column: &Column, kind: ResponseKind, numbers: &[f64]) {
        let (name, per_row, width) = (&column.name, column.kind.width(), kind.width());
        // Missing and infinite values have been reported already, and so has a wrong width.
        let wrong = |event: &&[f64]| {
            event.iter().all(|x| x.is_finite()) && !kind.contains(event) && event.len() == width
        };
        let label = |row: usize| {
            let values = &numbers[row * per_row..(row + 1) * per_row];
            values.chunks(width.max(1)).find(wrong)
        };
        let offender = find_offenders(numbers.len() / per_row, |row| label(row).is_some());
        let found = |row: usize| match label(row) {
            Some([only]) => only.to_string(),
            many => format!("{:?}", many.unwrap_or_default()),
        };
        let expected = format!("{} expects {kind}", self.demands.distribution_of(name));
        self.note_values(name, offender, [&expected, ""], found);
    }

    /// Checks successes against trials, once all columns are sound.
    fn check_trials(&mut self, columns: &Columns, values: &[Values]) {
        let numbers = |wanted: &str| {
            let is_it = |column: &Column| column.name == wanted;
            match &values[columns.iter().position(is_it)?] {
                Values::Numbers { values, .. } => Some(values),
                Values::Indices(_) => None,
            }
        };
        for (name, trials) in &self.demands.trials {
            let (Some(hits), Some(limits)) = (numbers(name), numbers(trials)) else {
                continue;
            };
            let above = find_offenders(hits.len(), |row| hits[row] > limits[row]);
            let Some((row, _)) = above else {
                continue;
            };
            let (distribution, limit) = (self.demands.distribution_of(name), limits[row - 1]);
            let expected =
                format!("{distribution} expects at most {limit}, the trials in column {trials:?}");
            self.note_values(name, above, [&expected, ""], |row| hits[row].to_string());
        }
    }

    fn read_indices(&mut self, name: &str, numbers: &[f64]) -> Values {
        let whole = |x: f64| x >= 0.0 && x.fract() == 0.0 && x < f64::from(MISSING);
        let wrong = |row: usize| numbers[row].is_finite() && !whole(numbers[row]);
        let hint = "\n  hint: make it a category, whose levels are numbered for you";
        let expected = "an index is a whole number from 0 on";
        let offender = find_offenders(numbers.len(), wrong);
        self.note_values(name, offender, [expected, hint], |row| {
            numbers[row].to_string()
        });
        let code = |&x: &f64| if whole(x) { x as u32 } else { MISSING };
        self.read_codes(name, numbers.iter().map(code).collect())
    }

    /// Checks codes against the arrays that they index; a missing code has been reported.
    fn read_codes(&mut self, name: &str, codes: Arc<[u32]>) -> Values {
        let length = self.demands.vector_length(name).unwrap_or(usize::MAX);
        let beyond = |row: usize| codes[row] != MISSING && codes[row] as usize >= length;
        let expected =
            format!("expected an index below {length}, the length of the array it reads");
        let hint = format!("\n  hint: give the array m.levels({name:?}) entries");
        let offender = find_offenders(codes.len(), beyond);
        self.note_values(name, offender, [&expected, &hint], |row| {
            codes[row].to_string()
        });
        Values::Indices(codes)
    }
}

/// The column as numbers, copied only if it has another type.
fn numbers_of(column: &TableColumn) -> Cow<'_, [f64]> {
    match column {
        TableColumn::Number(values) | TableColumn::Matrix { values, .. } => Cow::Borrowed(values),
        _ => {
            let mut numbers = Vec::with_capacity(column.len());
            (0..column.len()).for_each(|row| column.push_row(row, &mut numbers));
            Cow::Owned(numbers)
        }
    }
}

/// The first row, counted from 1, and the number of rows for which `wrong` holds.
fn find_offenders(rows: usize, wrong: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    let first = (0..rows).find(|&row| wrong(row))?;
    let count = (first..rows).filter(|&row| wrong(row)).count();
    Some((first + 1, count))
}
