//! What a model may ask of a table before it reads a row of it.

use std::collections::HashMap;
use std::sync::Arc;

use lehr_table::{Column, Kind, Table, nearest};

/// The columns of a table without their values.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    names: Vec<String>,
    columns: HashMap<String, Known>,
}

/// One column without its values.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) kind: Kind,
    /// How many levels an index of this column has; `None` if it cannot be one.
    pub(crate) levels: Option<usize>,
    /// The names of the levels of a category.
    pub(crate) names: Option<Arc<[String]>>,
}

impl Schema {
    pub(crate) fn of(table: &Table) -> Schema {
        let known = |(name, column): (&str, &Column)| (name.to_owned(), Known::of(column));
        Schema {
            names: table.names().to_vec(),
            columns: table.columns().map(known).collect(),
        }
    }

    pub(crate) fn column(&self, name: &str) -> Option<&Known> {
        self.columns.get(name)
    }

    /// The column the user most likely meant.
    pub(crate) fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.names.iter().map(String::as_str))
    }

    /// What to say of a name that is not there.
    pub(crate) fn hint(&self, name: &str) -> String {
        if let Some(near) = self.nearest(name) {
            return format!("did you mean {near:?}?");
        }
        let shown: Vec<String> = (self.names.iter().take(8))
            .map(|name| format!("{name:?}"))
            .collect();
        let more = if self.names.len() > 8 { ", …" } else { "" };
        format!("the columns are {}{more}", shown.join(", "))
    }
}

impl Known {
    fn of(column: &Column) -> Known {
        let (levels, names) = match column {
            Column::Category { levels, .. } => (Some(levels.len()), Some(Arc::clone(levels))),
            Column::Boolean(_) => (Some(2), None),
            Column::Number(values) => (whole_levels(values), None),
            Column::Matrix { .. } => (None, None),
        };
        Known {
            kind: column.kind(),
            levels,
            names,
        }
    }
}

/// One more than the largest number, if all that are there are whole and not negative. A real
/// column is given up at its first fraction.
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
