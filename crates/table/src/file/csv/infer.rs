//! The types of the columns of a CSV file, inferred from its first records.

use crate::file::shard::Shard;
use crate::file::{Field, ReadOptions};
use crate::{Kind, TableError};

use super::date::{DATE, parse_days};
use super::decode::{Cell, parse_number, parse_truth};
use super::record::Records;

/// The columns of the first shard, with types inferred as [`ReadOptions::sample_rows`] describes.
pub(in crate::file) fn infer_fields(
    shards: &[Shard],
    options: &ReadOptions,
) -> Result<Vec<Field>, TableError> {
    let mut sample = Sample::default();
    let mut names = Vec::new();
    for shard in shards {
        let mut records = Records::open_shard(shard, options)?;
        if names.is_empty() {
            names = records.names().to_vec();
            sample.columns = vec![Seen::default(); names.len()];
        }
        if records.names().len() != names.len() || !sample.read_sample(&mut records, options)? {
            break;
        }
        sample.settle_kinds();
    }
    let kinds = sample.columns.iter().map(Seen::kind);
    Ok((names.into_iter().zip(kinds))
        .map(|(name, (kind, type_name))| new_field(name, kind, type_name))
        .collect())
}

/// The columns of a further shard: its own names with the types of the first shard, because its
/// cells are read as those.
pub(in crate::file) fn named_like(
    shard: &Shard,
    options: &ReadOptions,
    first: &[Field],
) -> Result<Vec<Field>, TableError> {
    let records = Records::open_shard(shard, options)?;
    let known = first.iter().map(|field| (field.kind, &*field.type_name));
    let kinds = known.chain(std::iter::repeat((Some(Kind::Number), TEXT)));
    Ok((records.names().iter().zip(kinds))
        .map(|(name, (kind, type_name))| {
            new_field(name.clone(), kind.unwrap_or(Kind::Number), type_name)
        })
        .collect())
}

/// The name of the type before a column's values are seen.
const TEXT: &str = "text";

fn new_field(name: String, kind: Kind, type_name: &str) -> Field {
    Field {
        name,
        kind: Some(kind),
        type_name: type_name.into(),
    }
}

#[derive(Default)]
struct Sample {
    rows: usize,
    columns: Vec<Seen>,
}

impl Sample {
    /// Fixes the types that a shard has shown, so that later shards cannot change them. A later
    /// shard that disagrees is reported by its cell.
    fn settle_kinds(&mut self) {
        for seen in &mut self.columns {
            seen.settled = seen.values > 0;
        }
    }

    /// Reads records; returns false once no more are needed.
    fn read_sample(
        &mut self,
        records: &mut Records,
        options: &ReadOptions,
    ) -> Result<bool, TableError> {
        loop {
            let undecided = self.columns.iter().any(|seen| seen.values == 0);
            if self.columns.iter().all(|seen| seen.settled) {
                return Ok(false);
            }
            if self.rows >= options.sample_rows && !undecided {
                return Ok(false);
            }
            if !records.next_record()? {
                return Ok(true);
            }
            self.rows += 1;
            let open = self.columns.iter_mut().enumerate();
            for (place, seen) in open.filter(|(_, seen)| !seen.settled) {
                seen.push_cell(records.cell_text(place)?, &options.missing_markers);
            }
        }
    }
}

#[derive(Clone, Default)]
struct Seen {
    values: usize,
    numbers: usize,
    truths: usize,
    dates: usize,
    /// Whether an earlier shard determined the type.
    settled: bool,
}

impl Seen {
    fn push_cell(&mut self, text: &str, markers: &[String]) {
        if let Cell::Value(text) = Cell::parse_cell(text, markers) {
            self.values += 1;
            self.numbers += usize::from(parse_number(text).is_some());
            self.truths += usize::from(parse_truth(text).is_some());
            self.dates += usize::from(parse_days(text).is_some());
        }
    }

    /// The column type, and the name of the type.
    fn kind(&self) -> (Kind, &'static str) {
        if self.values == 0 || 2 * self.numbers > self.values {
            (Kind::Number, TEXT)
        } else if self.truths == self.values {
            (Kind::Boolean, TEXT)
        } else if 2 * self.dates > self.values {
            (Kind::Number, DATE)
        } else {
            (Kind::Category, TEXT)
        }
    }
}
