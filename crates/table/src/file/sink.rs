//! Tables written to files, at once or batch by batch.

use std::path::Path;
use std::sync::Arc;

use ::csv::ByteRecord;
use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::file::properties::WriterProperties;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{Schema, SchemaRef};
use lehr_file::Draft;

use crate::{Column, MISSING, Table, TableError};

use super::content::WRITER;
use super::shard::{Format, Packing, Separator};
use super::{arrow, file_error, io_error};

/// Rows that are encoded at a time.
const BATCH_ROWS: usize = 1 << 16;

/// A file that is written from tables with the same columns. It gets its name in
/// [`close_file`](Self::close_file); until then an older file of that name is untouched.
pub struct Sink {
    target: std::path::PathBuf,
    encoder: Encoder,
    schema: SchemaRef,
}

enum Encoder {
    Csv(Box<::csv::Writer<Draft>>),
    Parquet(Box<ArrowWriter<Draft>>),
    Ipc(Box<FileWriter<Draft>>),
}

impl Sink {
    /// Starts a file in the format of its extension (csv, tsv, parquet or arrow), with the columns
    /// of `like`, whose rows are not written.
    pub fn create_file(target: &Path, like: &Table) -> Result<Self, TableError> {
        let format = Format::from_path(target).ok_or_else(|| unknown_format(target))?;
        if let Format::Csv(Packing::Gzip | Packing::Zstandard, _) = format {
            return Err(unknown_format(target));
        }
        let schema = arrow::arrow_schema(like);
        let draft = Draft::create_draft(target).map_err(io_error(target, "write"))?;
        let encoder = match format {
            Format::Csv(_, separator) => {
                Encoder::Csv(Box::new(csv_writer(draft, separator, like)?))
            }
            Format::Parquet => {
                let writer =
                    ArrowWriter::try_new(draft, Arc::clone(&schema), Some(writer_properties()));
                Encoder::Parquet(Box::new(writer.map_err(refusal_error(target))?))
            }
            Format::Ipc => {
                let writer = FileWriter::try_new(draft, &mark_schema(&schema));
                Encoder::Ipc(Box::new(writer.map_err(refusal_error(target))?))
            }
        };
        Ok(Self {
            target: target.into(),
            encoder,
            schema,
        })
    }

    /// Adds the rows of a table, which must have the columns with which the file was started.
    pub fn push_table(&mut self, table: &Table) -> Result<(), TableError> {
        let refused = refusal_error(&self.target);
        if arrow::arrow_schema(table) != self.schema {
            return Err(refused(
                "a batch must have the columns of the first".to_string(),
            ));
        }
        if let Encoder::Csv(writer) = &mut self.encoder {
            let written = write_records(writer, table);
            return written.map_err(|error| csv_error(&self.target, error));
        }
        for start in (0..table.n_rows()).step_by(BATCH_ROWS) {
            let rows = start..table.n_rows().min(start + BATCH_ROWS);
            let batch = arrow::record_batch(table, &self.schema, rows);
            let batch = batch.map_err(refusal_error(&self.target))?;
            match &mut self.encoder {
                Encoder::Parquet(writer) => {
                    writer.write(&batch).map_err(refusal_error(&self.target))?;
                }
                Encoder::Ipc(writer) => {
                    writer.write(&batch).map_err(refusal_error(&self.target))?;
                }
                Encoder::Csv(_) => {}
            }
        }
        Ok(())
    }

    /// Completes the file and gives it its name.
    pub fn close_file(self) -> Result<(), TableError> {
        let target = &self.target;
        let draft = match self.encoder {
            Encoder::Csv(writer) => (writer.into_inner())
                .map_err(|error| io_error(target, "write")(error.into_error()))?,
            Encoder::Parquet(writer) => writer.into_inner().map_err(refusal_error(target))?,
            Encoder::Ipc(writer) => writer.into_inner().map_err(refusal_error(target))?,
        };
        draft.commit_file().map_err(io_error(target, "write"))
    }
}

fn unknown_format(target: &Path) -> TableError {
    let reason = "cannot write a file of this extension";
    file_error(target, reason, "end its name in csv, tsv, parquet or arrow")
}

fn writer_properties() -> WriterProperties {
    let level = ZstdLevel::try_new(3).unwrap_or_default();
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_created_by(WRITER.into())
        .build()
}

/// The schema with the mark of its writer.
fn mark_schema(schema: &Schema) -> Schema {
    let mark = ("writer".to_owned(), WRITER.to_owned());
    schema.clone().with_metadata([mark].into())
}

fn csv_writer(
    draft: Draft,
    separator: Separator,
    like: &Table,
) -> Result<::csv::Writer<Draft>, TableError> {
    let target = draft.target().to_path_buf();
    let delimiter = match separator {
        Separator::Comma => b',',
        Separator::Tab => b'\t',
    };
    let mut writer = ::csv::WriterBuilder::new()
        .delimiter(delimiter)
        .from_writer(draft);
    let mut names = ByteRecord::new();
    for (name, column) in like.columns() {
        match column {
            Column::Matrix { width, .. } => {
                (1..=*width)
                    .for_each(|place| names.push_field(format!("{name}[{place}]").as_bytes()));
            }
            _ => names.push_field(name.as_bytes()),
        }
    }
    writer
        .write_byte_record(&names)
        .map_err(|error| csv_error(&target, error))?;
    Ok(writer)
}

fn write_records(writer: &mut ::csv::Writer<Draft>, table: &Table) -> ::csv::Result<()> {
    let mut record = ByteRecord::new();
    for row in 0..table.n_rows() {
        record.clear();
        for (_, column) in table.columns() {
            push_cells(&mut record, column, row);
        }
        writer.write_byte_record(&record)?;
    }
    Ok(())
}

fn push_cells(record: &mut ByteRecord, column: &Column, row: usize) {
    match column {
        Column::Number(values) => record.push_field(shortest_number(values[row]).as_bytes()),
        Column::Matrix { width, values } => {
            for value in &values[row * width..(row + 1) * width] {
                record.push_field(shortest_number(*value).as_bytes());
            }
        }
        Column::Category { codes, levels } => record.push_field(match codes[row] {
            MISSING => b"",
            code => levels[code as usize].as_bytes(),
        }),
        Column::Boolean(values) => record.push_field(match values[row] {
            None => b"",
            Some(true) => b"true",
            Some(false) => b"false",
        }),
    }
}

/// The shortest text that parses to the same number; `inf` and `-inf` for infinities.
fn shortest_number(value: f64) -> String {
    if value.is_nan() {
        return String::new();
    }
    let mut text = format!("{value:?}");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
    text
}

fn csv_error(target: &Path, error: ::csv::Error) -> TableError {
    match error.into_kind() {
        ::csv::ErrorKind::Io(source) => io_error(target, "write")(source),
        other => refusal_error(target)(format!("{other:?}")),
    }
}

/// An error of a format's library while it writes, on one line.
fn refusal_error<E: std::fmt::Display>(target: &Path) -> impl Fn(E) -> TableError + use<E> {
    let path = target.to_path_buf();
    move |error| TableError::Format {
        path: path.clone(),
        reason: format!("cannot write: {error}").replace('\n', " "),
    }
}
