//! Tables that are in memory already: Arrow batches, and columns from other readers.

use std::path::Path;

use arrow_array::RecordBatchReader;
use arrow_schema::ArrowError;

use crate::{Table, TableError};

use super::arrow::{self, Dictionaries};
use super::stack::Stack;
use super::tally::{Tally, as_asked};
use super::{Field, ReadOptions, schema};

/// The name of a table without a file.
const NAME: &str = "table";

/// A table that arrives in Arrow batches from memory. The options for CSV do not apply.
pub struct ArrowBatches {
    reader: Box<dyn RecordBatchReader + Send>,
    fields: Vec<Field>,
}

impl ArrowBatches {
    /// The batches of a reader. Refuses two columns of one name.
    pub fn new(reader: Box<dyn RecordBatchReader + Send>) -> Result<ArrowBatches, TableError> {
        let fields = arrow::arrow_fields(&reader.schema());
        schema::check_distinct(Path::new(NAME), &fields)?;
        Ok(ArrowBatches { reader, fields })
    }

    /// All columns, in their order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Reads all rows of the columns that the options select.
    pub fn read_table(self, options: &ReadOptions) -> Result<Table, TableError> {
        let fields = schema::select_fields(Path::new(NAME), &self.fields, options)?;
        let (mut stack, mut tally) = (Stack::new(&fields), Tally::new(&fields));
        for batch in self.reader {
            let decoded =
                batch.and_then(|one| arrow::read_table(&one, &fields, Dictionaries::Whole));
            let decoded = decoded.map_err(|error| refusal_error(&error))?;
            let batch = as_asked(decoded, &fields, options)?;
            stack.push_batch(&tally.take_batch(batch, options));
        }
        let scanned = tally.check_totals(&fields, options.missing)?;
        let mut table = stack.into_table()?;
        table.count_dropped(scanned.dropped_rows);
        Ok(table)
    }
}

fn refusal_error(error: &ArrowError) -> TableError {
    TableError::Format {
        path: NAME.into(),
        reason: error.to_string(),
    }
}

impl Table {
    /// The table as if it had been read with these options, which select columns, make categories
    /// and determine the treatment of missing values.
    pub fn with_options(mut self, options: &ReadOptions) -> Result<Table, TableError> {
        let fields: Vec<Field> = (self.columns())
            .map(|(name, column)| Field {
                name: name.to_owned(),
                kind: Some(column.kind()),
                type_name: column.kind().to_string(),
            })
            .collect();
        let fields = schema::select_fields(Path::new(NAME), &fields, options)?;
        self.keep_columns(|name| fields.iter().any(|field| field.name == name));
        let mut tally = Tally::new(&fields);
        let table = tally.take_batch(as_asked(self, &fields, options)?, options);
        tally.check_totals(&fields, options.missing)?;
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, RecordBatch, RecordBatchIterator, StringArray};
    use arrow_schema::{DataType, Schema};

    use super::*;
    use crate::{Column, MissingPolicy};

    fn batches() -> ArrowBatches {
        let schema = Arc::new(Schema::new(vec![
            arrow_schema::Field::new("n", DataType::Int64, true),
            arrow_schema::Field::new("site", DataType::Utf8, true),
        ]));
        let batch = |numbers: Vec<Option<i64>>, names: Vec<&str>| {
            RecordBatch::try_new(
                Arc::clone(&schema),
                vec![
                    Arc::new(Int64Array::from(numbers)),
                    Arc::new(StringArray::from(names)),
                ],
            )
        };
        let parts = [
            batch(vec![Some(3), None], vec!["south", "west"]),
            batch(vec![Some(1)], vec!["north"]),
        ];
        ArrowBatches::new(Box::new(RecordBatchIterator::new(
            parts,
            Arc::clone(&schema),
        )))
        .unwrap()
    }

    #[test]
    fn batches_of_arrow_become_one_table() {
        let options = ReadOptions {
            missing: MissingPolicy::Drop,
            ..ReadOptions::default()
        };
        let table = batches().read_table(&options).unwrap();
        assert_eq!(table.number("n").unwrap(), [3.0, 1.0]);
        let (codes, levels) = table.category("site").unwrap();
        assert_eq!(
            (codes, &levels[..]),
            (&[1, 0][..], &["north".into(), "south".into()][..])
        );
        assert_eq!(table.dropped_rows(), 1);
        assert!(batches().read_table(&ReadOptions::default()).is_err());
    }

    #[test]
    fn options_apply_to_tables_that_are_in_memory() {
        let table = Table::new()
            .with_number("zip", vec![2.0, 1.0, f64::NAN])
            .unwrap()
            .with_number("other", vec![f64::NAN; 3])
            .unwrap();
        let options = ReadOptions {
            columns: Some(vec!["zip".into()]),
            categorical: vec!["zip".into()],
            missing: MissingPolicy::Drop,
            ..ReadOptions::default()
        };
        let table = table.with_options(&options).unwrap();
        assert_eq!(table.names(), ["zip"]);
        let levels = vec!["1".to_string(), "2".into()].into();
        let codes = vec![1, 0];
        assert_eq!(
            table.column("zip").unwrap(),
            &Column::Category { codes, levels }
        );
        assert_eq!(table.dropped_rows(), 1);
    }
}
