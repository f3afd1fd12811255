//! Arrow arrays as columns, and columns as Arrow arrays.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::array::AnyDictionaryArray;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float64Array, RecordBatch, StringArray,
    make_array,
};
use arrow_buffer::i256;
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema, TimeUnit};
use arrow_select::take::take;

use crate::level::{Levels, encode_texts};
use crate::{Column, Kind, MISSING, Table};

use super::Field;

/// The fields of an Arrow schema, with the types they are read as.
pub(super) fn arrow_fields(schema: &Schema) -> Vec<Field> {
    (schema.fields().iter())
        .map(|field| Field {
            name: field.name().clone(),
            kind: column_kind(field.data_type()),
            type_name: field.data_type().to_string(),
        })
        .collect()
}

/// The column type for an Arrow type. Timestamps become seconds since 1970 in UTC, dates days since
/// 1970, durations and times of day seconds; integers beyond 2⁵³ lose their last digits.
fn column_kind(data_type: &DataType) -> Option<Kind> {
    match data_type {
        DataType::Boolean => Some(Kind::Boolean),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Kind::Category),
        DataType::Dictionary(_, values) => match column_kind(values)? {
            Kind::Matrix { .. } => None,
            kind => Some(kind),
        },
        DataType::FixedSizeList(item, width) if item.data_type().is_numeric() => {
            let width = usize::try_from(*width).ok().filter(|width| *width > 0)?;
            Some(Kind::Matrix { width })
        }
        DataType::Null => Some(Kind::Number),
        other if other.is_numeric() || time_unit(other).is_some() => Some(Kind::Number),
        _ => None,
    }
}

/// For types that count time, how many of their units make one unit of the column.
fn time_unit(data_type: &DataType) -> Option<f64> {
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

/// Whether the dictionaries of a file are in their original order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dictionaries {
    /// The original order is kept, so that of an ordered dictionary is meaningful.
    Whole,
    /// They were rebuilt by first appearance.
    Rebuilt,
}

/// Whether any column has ordered levels.
pub(super) fn has_order(schema: &Schema) -> bool {
    let mut fields = schema.fields().iter();
    fields.any(|field| field.dict_is_ordered() == Some(true))
}

/// The named columns of a batch, decoded according to their types.
pub(super) fn read_table(
    batch: &RecordBatch,
    fields: &[Field],
    dictionaries: Dictionaries,
) -> Result<Table, ArrowError> {
    let mut table = Table::new();
    for field in fields {
        let array = batch.column_by_name(&field.name).ok_or_else(|| {
            ArrowError::SchemaError(format!("a batch has no column {:?}", field.name))
        })?;
        let is_ordered = dictionaries == Dictionaries::Whole
            && (batch.schema_ref().field_with_name(&field.name))
                .is_ok_and(|known| known.dict_is_ordered() == Some(true));
        let decoded = match array.as_any_dictionary_opt() {
            Some(ordered) if is_ordered && is_text(ordered) => ordered_category(ordered),
            _ => read_column(array)?,
        };
        (table.insert(field.name.clone(), decoded))
            .map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
    }
    Ok(table)
}

fn is_text(dictionary: &dyn AnyDictionaryArray) -> bool {
    column_kind(dictionary.values().data_type()) == Some(Kind::Category)
}

/// A category that the file marks as ordered: its levels keep their order, unused ones included.
fn ordered_category(dictionary: &dyn AnyDictionaryArray) -> Column {
    let mut levels = Levels::default();
    let values = dictionary.values();
    let places: Vec<u32> = (read_texts(values).into_iter())
        .map(|name| name.map_or(MISSING, |name| levels.code_of(name)))
        .collect();
    let keys = dictionary.normalized_keys().into_iter().enumerate();
    let code = |(row, key): (usize, usize)| {
        if dictionary.keys().is_valid(row) {
            places[key]
        } else {
            MISSING
        }
    };
    Column::Category {
        codes: keys.map(code).collect(),
        levels: levels.in_order(),
    }
}

fn read_column(array: &dyn Array) -> Result<Column, ArrowError> {
    let Some(kind) = column_kind(array.data_type()) else {
        return Err(ArrowError::NotYetImplemented(array.data_type().to_string()));
    };
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        return read_column(&take(dictionary.values(), dictionary.keys(), None)?);
    }
    match kind {
        Kind::Boolean => Ok(Column::Boolean(array.as_boolean().iter().collect())),
        Kind::Category => Ok(read_category(array)),
        Kind::Matrix { width } => read_matrix(array.as_fixed_size_list(), width),
        Kind::Number => Ok(Column::Number(read_numbers(array)?)),
    }
}

fn read_category(array: &dyn Array) -> Column {
    let (codes, levels) = encode_texts(read_texts(array));
    Column::Category { codes, levels }
}

fn read_texts(array: &dyn Array) -> Vec<Option<&str>> {
    match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().collect(),
        _ => array.as_string_view().iter().collect(),
    }
}

fn read_matrix(array: &FixedSizeListArray, width: usize) -> Result<Column, ArrowError> {
    // A null row may contain arbitrary numbers.
    let mut values = read_numbers(array.values())?;
    for row in (0..array.len()).filter(|row| array.is_null(*row)) {
        values[row * width..(row + 1) * width].fill(f64::NAN);
    }
    Ok(Column::Matrix { width, values })
}

fn read_numbers(array: &dyn Array) -> Result<Vec<f64>, ArrowError> {
    if let Some(units) = time_unit(array.data_type()) {
        let counts = read_numbers(&cast_counts(array)?)?;
        return Ok(counts.into_iter().map(|count| count / units).collect());
    }
    Ok(match array.data_type() {
        DataType::Null => vec![f64::NAN; array.len()],
        DataType::Int8 => read_primitive::<Int8Type>(array, f64::from),
        DataType::Int16 => read_primitive::<Int16Type>(array, f64::from),
        DataType::Int32 => read_primitive::<Int32Type>(array, f64::from),
        DataType::Int64 => read_primitive::<Int64Type>(array, |value| value as f64),
        DataType::UInt8 => read_primitive::<UInt8Type>(array, f64::from),
        DataType::UInt16 => read_primitive::<UInt16Type>(array, f64::from),
        DataType::UInt32 => read_primitive::<UInt32Type>(array, f64::from),
        DataType::UInt64 => read_primitive::<UInt64Type>(array, |value| value as f64),
        DataType::Float16 => read_primitive::<Float16Type>(array, Into::into),
        DataType::Float32 => read_primitive::<Float32Type>(array, f64::from),
        DataType::Float64 => read_primitive::<Float64Type>(array, |value| value),
        other => return read_decimals(array, other),
    })
}

fn read_decimals(array: &dyn Array, data_type: &DataType) -> Result<Vec<f64>, ArrowError> {
    let power = |scale: &i8| 10_f64.powi(i32::from(*scale));
    Ok(match data_type {
        DataType::Decimal32(_, scale) => {
            read_primitive::<Decimal32Type>(array, |value| f64::from(value) / power(scale))
        }
        DataType::Decimal64(_, scale) => {
            read_primitive::<Decimal64Type>(array, |value| value as f64 / power(scale))
        }
        DataType::Decimal128(_, scale) => {
            read_primitive::<Decimal128Type>(array, |value| value as f64 / power(scale))
        }
        DataType::Decimal256(_, scale) => {
            read_primitive::<Decimal256Type>(array, |value| wide_number(value) / power(scale))
        }
        other => return Err(ArrowError::NotYetImplemented(other.to_string())),
    })
}

fn wide_number(value: i256) -> f64 {
    let (low, high) = value.to_parts();
    // The sum of the parts would lose the digits of a small negative number.
    let sum = || high as f64 * 2_f64.powi(128) + low as f64;
    value.to_i128().map_or_else(sum, |value| value as f64)
}

fn read_primitive<T: ArrowPrimitiveType>(
    array: &dyn Array,
    number: impl Fn(T::Native) -> f64,
) -> Vec<f64> {
    let array = array.as_primitive::<T>();
    if array.null_count() == 0 {
        return array.values().iter().map(|value| number(*value)).collect();
    }
    let values = array.iter();
    values
        .map(|value| value.map_or(f64::NAN, &number))
        .collect()
}

/// The integers of a type that counts time.
fn cast_counts(array: &dyn Array) -> Result<ArrayRef, ArrowError> {
    let whole = match array.data_type() {
        DataType::Date32 | DataType::Time32(_) => DataType::Int32,
        _ => DataType::Int64,
    };
    let data = array.to_data().into_builder().data_type(whole);
    Ok(make_array(data.build()?))
}

/// The Arrow schema of a table.
pub(super) fn arrow_schema(table: &Table) -> Arc<Schema> {
    let fields: Vec<ArrowField> = (table.columns())
        .map(|(name, column)| ArrowField::new(name, data_type(column), true))
        .collect();
    Arc::new(Schema::new(fields))
}

fn data_type(column: &Column) -> DataType {
    match column {
        Column::Number(_) => DataType::Float64,
        Column::Matrix { width, .. } => DataType::FixedSizeList(list_item(), *width as i32),
        Column::Category { .. } => DataType::Utf8,
        Column::Boolean(_) => DataType::Boolean,
    }
}

fn list_item() -> Arc<ArrowField> {
    Arc::new(ArrowField::new("item", DataType::Float64, true))
}

/// Some rows of a table as an Arrow batch; missing values are nulls.
pub(super) fn record_batch(
    table: &Table,
    schema: &Arc<Schema>,
    rows: Range<usize>,
) -> Result<RecordBatch, ArrowError> {
    let arrays = table
        .columns()
        .map(|(_, column)| arrow_array(column, rows.clone()));
    RecordBatch::try_new(Arc::clone(schema), arrays.collect::<Result<_, _>>()?)
}

fn arrow_array(column: &Column, rows: Range<usize>) -> Result<ArrayRef, ArrowError> {
    Ok(match column {
        Column::Number(values) => Arc::new(nullable_array(&values[rows])),
        Column::Matrix { width, values } => {
            let values = nullable_array(&values[rows.start * width..rows.end * width]);
            let array =
                FixedSizeListArray::try_new(list_item(), *width as i32, Arc::new(values), None);
            Arc::new(array?)
        }
        Column::Category { codes, levels } => {
            let name = |code: &u32| (*code != MISSING).then(|| levels[*code as usize].as_str());
            Arc::new(codes[rows].iter().map(name).collect::<StringArray>())
        }
        Column::Boolean(values) => Arc::new(BooleanArray::from(values[rows].to_vec())),
    })
}

fn nullable_array(values: &[f64]) -> Float64Array {
    values
        .iter()
        .map(|value| (!value.is_nan()).then_some(*value))
        .collect()
}
