//! The columns of a file, before any row is read.

use std::collections::HashMap;
use std::path::Path;

use crate::{Kind, TableError, nearest};

use super::{ReadOptions, file_error};

/// One column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// The type that it is read as; `None` if it cannot be read.
    pub kind: Option<Kind>,
    /// Its type in the terms of the file's format.
    pub type_name: String,
}

impl Field {
    /// Whether it holds dates, which are read as days since 1970-01-01.
    pub fn is_date(&self) -> bool {
        let is_number = self.kind == Some(Kind::Number);
        is_number && matches!(&*self.type_name, "date" | "Date32" | "Date64")
    }

    fn describe_type(&self) -> String {
        match self.kind {
            Some(kind) => format!("column {:?} ({kind})", self.name),
            None => format!("column {:?} ({})", self.name, self.type_name),
        }
    }
}

/// Refuses two columns of one name.
pub(super) fn check_distinct(path: &Path, fields: &[Field]) -> Result<(), TableError> {
    let mut seen = HashMap::new();
    for (field, place) in fields.iter().zip(1..) {
        if let Some(first) = seen.insert(&field.name, place) {
            let name = &field.name;
            let reason = format!("columns {first} and {place} are both called {name:?}");
            return Err(file_error(path, reason, "rename one of the two"));
        }
    }
    Ok(())
}

/// A file and its columns.
pub(super) struct FileFields<'a> {
    pub(super) path: &'a Path,
    pub(super) fields: &'a [Field],
}

/// Refuses a shard whose columns differ from those of the first or are in another order.
pub(super) fn check_agreement(
    first: &FileFields<'_>,
    shard: &FileFields<'_>,
) -> Result<(), TableError> {
    let (expected, found) = (first.fields, shard.fields);
    let differ = |a: &Field, b: &Field| a.name != b.name || a.kind != b.kind;
    let (expected, found) = match expected.iter().zip(found).find(|(a, b)| differ(a, b)) {
        Some((a, b)) => (a.describe_type(), b.describe_type()),
        None if expected.len() == found.len() => return Ok(()),
        None => match (expected.get(found.len()), found.get(expected.len())) {
            (Some(absent), _) => (
                absent.describe_type(),
                format!("no column {:?}", absent.name),
            ),
            (_, Some(extra)) => (format!("no column {:?}", extra.name), extra.describe_type()),
            _ => return Ok(()),
        },
    };
    Err(shard_error(shard.path, &found, first.path, &expected))
}

/// The error of a shard that is not like the first one.
pub(super) fn shard_error(shard: &Path, found: &str, first: &Path, expected: &str) -> TableError {
    file_error(
        shard,
        format!("{found}, but {} has {expected}", first.display()),
        "all shards of a table have the same columns in the same order",
    )
}

/// The fields that the options select, in the file's order, as categories if requested.
pub(super) fn select_fields(
    path: &Path,
    fields: &[Field],
    options: &ReadOptions,
) -> Result<Vec<Field>, TableError> {
    let asked = options.columns.iter().flatten();
    let ordered = options.levels.iter().map(|(name, _)| name);
    for name in asked.chain(&options.categorical).chain(ordered) {
        check_known(fields, name)?;
    }
    let wanted = |field: &&Field| {
        let columns = options.columns.as_ref();
        columns.is_none_or(|columns| columns.contains(&field.name))
    };
    let fields: Result<Vec<Field>, _> = (fields.iter().filter(wanted))
        .map(|field| as_read(path, field, options))
        .collect();
    match fields {
        Ok(none) if none.is_empty() => Err(file_error(
            path,
            "expected at least one column to read, found none",
            "name columns with --columns, or leave that out to read all",
        )),
        fields => fields,
    }
}

fn as_read(path: &Path, field: &Field, options: &ReadOptions) -> Result<Field, TableError> {
    let categorical = options.makes_category(&field.name);
    let kind = match field.kind {
        None => {
            let (name, kind) = (&field.name, &field.type_name);
            let reason = format!("column {name:?} has type {kind}, which cannot be read");
            return Err(file_error(
                path,
                reason,
                "leave the column out with --columns",
            ));
        }
        Some(found @ Kind::Matrix { .. }) if categorical => {
            return Err(TableError::WrongKind {
                name: field.name.clone(),
                expected: "one value per row",
                found,
            });
        }
        Some(_) if categorical => Kind::Category,
        Some(kind) => kind,
    };
    Ok(Field {
        kind: Some(kind),
        ..field.clone()
    })
}

fn check_known(fields: &[Field], name: &str) -> Result<(), TableError> {
    if fields.iter().any(|field| field.name == name) {
        return Ok(());
    }
    let names = fields.iter().map(|field| field.name.as_str());
    Err(TableError::UnknownColumn {
        name: name.into(),
        nearest: nearest(name, names).map(Into::into),
    })
}
