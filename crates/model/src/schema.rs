//! The properties of a table that a model may use before it reads a row.

use std::sync::Arc;

use lehr_table::{Column, Kind, Table, nearest};
use serde::{Deserialize, Serialize};

/// The columns of a table without their values: names, kinds, widths and levels.
///
/// ```
/// use lehr_model::Schema;
///
/// let schema = Schema::new().number("y").matrix("x", 28).index("group", 12);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    columns: Vec<ColumnSchema>,
}

/// One column without its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ColumnSchema {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// How many levels an index of this column has; `None` if it cannot be one.
    pub(crate) levels: Option<usize>,
    /// The names of the levels of a category.
    pub(crate) names: Option<Arc<[String]>>,
}

impl Schema {
    /// A schema without a column.
    pub fn new() -> Schema {
        Schema::default()
    }

    /// The columns of a table. A column of nonnegative whole numbers has one more level than its
    /// largest number.
    pub fn of_table(table: &Table) -> Schema {
        let known = |(name, column): (&str, &Column)| ColumnSchema::from_column(name, column);
        Schema {
            columns: table.columns().map(known).collect(),
        }
    }

    /// Adds a column of numbers.
    #[must_use]
    pub fn number(self, name: &str) -> Schema {
        self.with_column(name, Kind::Number, None)
    }

    /// Adds a column of `width` numbers per row.
    #[must_use]
    pub fn matrix(self, name: &str, width: usize) -> Schema {
        self.with_column(name, Kind::Matrix { width }, None)
    }

    /// Adds a column of whole numbers below `levels`.
    #[must_use]
    pub fn index(self, name: &str, levels: usize) -> Schema {
        self.with_column(name, Kind::Number, Some(levels))
    }

    /// Adds the columns of a part of the model whose names begin with `prefix`; see
    /// [`crate::Tracer::within`].
    #[must_use]
    pub fn with_part(mut self, prefix: &str, part: Schema) -> Schema {
        let columns = part.columns.into_iter();
        self.columns.extend(columns.map(|column| ColumnSchema {
            name: format!("{prefix}{}", column.name),
            ..column
        }));
        self
    }

    fn with_column(mut self, name: &str, kind: Kind, levels: Option<usize>) -> Schema {
        self.columns.push(ColumnSchema {
            name: name.to_owned(),
            kind,
            levels,
            names: None,
        });
        self
    }

    /// Only the columns of these names.
    pub(crate) fn only_columns<'a>(&self, names: impl Iterator<Item = &'a str>) -> Schema {
        let names: Vec<&str> = names.collect();
        let mut schema = self.clone();
        (schema.columns).retain(|column| names.contains(&column.name.as_str()));
        schema
    }

    pub(crate) fn column(&self, name: &str) -> Option<&ColumnSchema> {
        self.columns.iter().find(|column| column.name == name)
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The nearest column name.
    pub(crate) fn nearest_name(&self, name: &str) -> Option<&str> {
        nearest(name, self.names())
    }

    /// The hint for an unknown name.
    pub(crate) fn name_hint(&self, name: &str) -> String {
        if let Some(near) = self.nearest_name(name) {
            return format!("did you mean {near:?}?");
        }
        let shown: Vec<String> = self
            .names()
            .take(8)
            .map(|name| format!("{name:?}"))
            .collect();
        let more = if self.columns.len() > 8 { ", …" } else { "" };
        format!("the columns are {}{more}", shown.join(", "))
    }
}

impl ColumnSchema {
    fn from_column(name: &str, column: &Column) -> ColumnSchema {
        let (levels, names) = match column {
            Column::Category { levels, .. } => (Some(levels.len()), Some(Arc::clone(levels))),
            Column::Boolean(_) => (Some(2), None),
            Column::Number(values) => (whole_levels(values), None),
            Column::Matrix { .. } => (None, None),
        };
        ColumnSchema {
            name: name.to_owned(),
            kind: column.kind(),
            levels,
            names,
        }
    }
}

/// One more than the largest number, if all present numbers are whole and not negative. The check
/// stops at the first fraction.
fn whole_levels(values: &[f64]) -> Option<usize> {
    let mut levels = 0;
    for &value in values.iter().filter(|value| !value.is_nan()) {
        if value < 0.0 || value.fract() != 0.0 || value >= f64::from(u32::MAX) {
            return None;
        }
        levels = levels.max(value as usize + 1);
    }
    Some(levels)
}
