//! CSV cells as typed columns, a batch of records at a time.

use crate::file::shard::Shard;
use crate::file::{EachBatch, Field, ReadOptions};
use crate::level::{Levels, relabel_codes};
use crate::{Column, Kind, MISSING, Table, TableError};

use super::date::{DATE, parse_days};
use super::record::Records;

/// Reads the given fields of a shard and passes them on in batches.
pub(in crate::file) fn decode_records(
    shard: &Shard,
    fields: &[Field],
    options: &ReadOptions,
    each: &mut EachBatch<'_>,
) -> Result<(), TableError> {
    let mut records = Records::open_shard(shard, options)?;
    let places: Result<Vec<usize>, TableError> = fields
        .iter()
        .map(|field| field_place(&records, field, shard))
        .collect();
    let places = places?;
    let batch_rows = options.batch_rows.max(1);
    loop {
        let mut parts: Vec<Part> = fields.iter().map(Part::new).collect();
        let mut rows = 0;
        while rows < batch_rows && records.next_record()? {
            for (part, &place) in parts.iter_mut().zip(&places) {
                part.push_cell(&records, place, &options.missing_markers)?;
            }
            rows += 1;
        }
        if rows == 0 {
            return Ok(());
        }
        let mut batch = Table::new();
        for (field, part) in fields.iter().zip(parts) {
            batch.insert(field.name.clone(), part.into_column())?;
        }
        if each(batch, records.share_read()).is_break() {
            return Ok(());
        }
    }
}

/// The place of a column, which is gone if the file was replaced after its columns were found.
fn field_place(records: &Records, field: &Field, shard: &Shard) -> Result<usize, TableError> {
    let mut names = records.names().iter();
    let place = names.position(|name| *name == field.name);
    place.ok_or_else(|| TableError::Format {
        path: shard.path.clone(),
        reason: format!(
            "expected a column {:?}, found none; the file was replaced while it was in use",
            field.name
        ),
    })
}

/// A cell, distinguished from the markers of a missing value.
pub(super) enum Cell<'a> {
    Value(&'a str),
    Missing,
}

impl<'a> Cell<'a> {
    pub(super) fn parse_cell(text: &'a str, markers: &[String]) -> Self {
        let trimmed = text.trim();
        if markers.iter().any(|marker| marker.trim() == trimmed) {
            Self::Missing
        } else {
            Self::Value(text)
        }
    }
}

pub(super) fn parse_number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

pub(super) fn parse_truth(text: &str) -> Option<bool> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("true") {
        return Some(true);
    }
    text.eq_ignore_ascii_case("false").then_some(false)
}

/// A column of a batch that is being filled.
enum Part {
    Number(Vec<f64>),
    Date(Vec<f64>),
    Boolean(Vec<Option<bool>>),
    Category(Vec<u32>, Levels),
}

impl Part {
    fn new(field: &Field) -> Self {
        match field.kind {
            Some(Kind::Boolean) => Self::Boolean(Vec::new()),
            Some(Kind::Category) => Self::Category(Vec::new(), Levels::default()),
            _ if field.type_name == DATE => Self::Date(Vec::new()),
            _ => Self::Number(Vec::new()),
        }
    }

    fn push_cell(
        &mut self,
        records: &Records,
        place: usize,
        markers: &[String],
    ) -> Result<(), TableError> {
        let cell = match Cell::parse_cell(records.cell_text(place)?, markers) {
            Cell::Value(text) => Some(text),
            Cell::Missing => None,
        };
        match self {
            Self::Number(values) => values.push(match cell {
                None => f64::NAN,
                Some(text) => parse_number(text)
                    .ok_or_else(|| records.refusal_error(place, &Kind::Number.to_string()))?,
            }),
            Self::Date(values) => values.push(match cell {
                None => f64::NAN,
                Some(text) => parse_days(text)
                    .ok_or_else(|| records.refusal_error(place, "a date such as 2024-03-01"))?,
            }),
            Self::Boolean(values) => values.push(match cell {
                None => None,
                Some(text) => Some(
                    parse_truth(text)
                        .ok_or_else(|| records.refusal_error(place, &Kind::Boolean.to_string()))?,
                ),
            }),
            Self::Category(codes, levels) => {
                codes.push(cell.map_or(MISSING, |text| levels.code_of(text)));
            }
        }
        Ok(())
    }

    fn into_column(self) -> Column {
        match self {
            Self::Number(values) | Self::Date(values) => Column::Number(values),
            Self::Boolean(values) => Column::Boolean(values),
            Self::Category(mut codes, levels) => {
                let (levels, place) = levels.sorted_names();
                relabel_codes(&mut codes, &place);
                Column::Category { codes, levels }
            }
        }
    }
}
