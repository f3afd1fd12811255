//! Arrow arrays as columns, and columns as Arrow arrays.

use std::ops::Range;
use std::sync::Arc;

use ::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, FixedSizeListArray, Float64Array, RecordBatch,
    StringArray,
};
use ::arrow::compute::cast;
use ::arrow::datatypes::{DataType, Field as ArrowField, Float64Type, Schema, TimeUnit};
use ::arrow::error::ArrowError;

use crate::level::encode;
use crate::{Column, Kind, MISSING, Table};

use super::Field;

/// The fields of an Arrow schema, with the kinds they are read as.
pub(super) fn fields(schema: &Schema) -> Vec<Field> {
    (schema.fields().iter())
        .map(|field| Field {
            name: field.name().clone(),
            kind: kind(field.data_type()),
            type_name: field.data_type().to_string(),
        })
        .collect()
}

/// What a type is read as. Moments become seconds since 1970 in UTC, dates days since 1970,
/// durations and times of day seconds; integers beyond 2⁵³ lose their last digits.
fn kind(data_type: &DataType) -> Option<Kind> {
    match data_type {
        DataType::Boolean => Some(Kind::Boolean),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Category),
        DataType::Dictionary(_, values) => match kind(values)? {
            Kind::Matrix { .. } => None,
            kind => Some(kind),
        },
        DataType::FixedSizeList(item, width) if item.data_type().is_numeric() => {
            let width = usize::try_from(*width).ok().filter(|width| *width > 0)?;
            Some(Kind::Matrix { width })
        }
        DataType::Null => Some(Kind::Number),
        other if other.is_numeric() || unit(other).is_some() => Some(Kind::Number),
        _ => None,
    }
}

/// For types that count time, how many of their units make the unit they are read in.
fn unit(data_type: &DataType) -> Option<f64> {
    match data_type {
        DataType::Date32 => Some(1.0),
        DataType::Date64 => Some(86_400_000.0),
        DataType::Timestamp(unit, _)
        | DataType::Duration(unit)
        | DataType::Time32(unit)
        | DataType::Time64(unit) => Some(match unit {
            TimeUnit::Second => 1.0,
            TimeUnit::Millisecond => 1e3,
            TimeUnit::Microsecond => 1e6,
            TimeUnit::Nanosecond => 1e9,
        }),
        _ => None,
    }
}

/// The named columns of a batch, decoded as their types say.
pub(super) fn table(batch: &RecordBatch, fields: &[Field]) -> Result<Table, ArrowError> {
    let mut table = Table::new();
    for field in fields {
        let array = batch.column_by_name(&field.name).ok_or_else(|| {
            ArrowError::SchemaError(format!("a batch has no column {:?}", field.name))
        })?;
        let decoded = column(array)?;
        (table.insert(field.name.clone(), decoded))
            .map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
    }
    Ok(table)
}

fn column(array: &ArrayRef) -> Result<Column, ArrowError> {
    match kind(array.data_type()) {
        Some(Kind::Boolean) => {
            let array = cast(array, &DataType::Boolean)?;
            Ok(Column::Boolean(array.as_boolean().iter().collect()))
        }
        Some(Kind::Category) => {
            let array = cast(array, &DataType::LargeUtf8)?;
            let (codes, levels) = encode(array.as_string::<i64>());
            Ok(Column::Category { codes, levels })
        }
        Some(Kind::Matrix { width }) => matrix(array.as_fixed_size_list(), width),
        Some(Kind::Number) => Ok(Column::Number(numbers(array)?)),
        None => Err(ArrowError::NotYetImplemented(array.data_type().to_string())),
    }
}

fn matrix(array: &FixedSizeListArray, width: usize) -> Result<Column, ArrowError> {
    // A null row may hide any numbers behind it.
    let mut values = numbers(array.values())?;
    for row in (0..array.len()).filter(|row| array.is_null(*row)) {
        values[row * width..(row + 1) * width].fill(f64::NAN);
    }
    Ok(Column::Matrix { width, values })
}

fn numbers(array: &ArrayRef) -> Result<Vec<f64>, ArrowError> {
    if *array.data_type() == DataType::Null {
        return Ok(vec![f64::NAN; array.len()]);
    }
    if let DataType::Dictionary(_, values) = array.data_type() {
        return numbers(&cast(array, values)?);
    }
    let (array, units) = match (unit(array.data_type()), array.data_type()) {
        (None, _) => (Arc::clone(array), 1.0),
        // Types of 32 bits do not cast to 64 directly.
        (Some(units), DataType::Date32 | DataType::Time32(_)) => {
            (cast(array, &DataType::Int32)?, units)
        }
        (Some(units), _) => (cast(array, &DataType::Int64)?, units),
    };
    let array = cast(&array, &DataType::Float64)?;
    let values = array.as_primitive::<Float64Type>().iter();
    Ok(values
        .map(|value| value.map_or(f64::NAN, |value| value / units))
        .collect())
}

/// The Arrow schema of a table.
pub(super) fn schema(table: &Table) -> Arc<Schema> {
    let fields: Vec<ArrowField> = (table.columns())
        .map(|(name, column)| ArrowField::new(name, data_type(column), true))
        .collect();
    Arc::new(Schema::new(fields))
}

fn data_type(column: &Column) -> DataType {
    match column {
        Column::Number(_) => DataType::Float64,
        Column::Matrix { width, .. } => DataType::FixedSizeList(item(), *width as i32),
        Column::Category { .. } => DataType::Utf8,
        Column::Boolean(_) => DataType::Boolean,
    }
}

fn item() -> Arc<ArrowField> {
    Arc::new(ArrowField::new("item", DataType::Float64, true))
}

/// Some rows of a table as an Arrow batch; missing values are nulls.
pub(super) fn batch(
    table: &Table,
    schema: &Arc<Schema>,
    rows: Range<usize>,
) -> Result<RecordBatch, ArrowError> {
    let arrays = table
        .columns()
        .map(|(_, column)| array(column, rows.clone()));
    RecordBatch::try_new(Arc::clone(schema), arrays.collect::<Result<_, _>>()?)
}

fn array(column: &Column, rows: Range<usize>) -> Result<ArrayRef, ArrowError> {
    Ok(match column {
        Column::Number(values) => Arc::new(nullable(&values[rows])),
        Column::Matrix { width, values } => {
            let values = nullable(&values[rows.start * width..rows.end * width]);
            let array = FixedSizeListArray::try_new(item(), *width as i32, Arc::new(values), None);
            Arc::new(array?)
        }
        Column::Category { codes, levels } => {
            let name = |code: &u32| (*code != MISSING).then(|| levels[*code as usize].as_str());
            Arc::new(codes[rows].iter().map(name).collect::<StringArray>())
        }
        Column::Boolean(values) => Arc::new(BooleanArray::from(values[rows].to_vec())),
    })
}

fn nullable(values: &[f64]) -> Float64Array {
    values
        .iter()
        .map(|value| (!value.is_nan()).then_some(*value))
        .collect()
}
