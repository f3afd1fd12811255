//! Parquet and Arrow files: round trips, types, and the columns that are refused.

use std::fs::File;
use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, Float16Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal32Array, Decimal64Array,
    Decimal128Array, Decimal256Array, DictionaryArray, DurationMicrosecondArray,
    DurationMillisecondArray, DurationNanosecondArray, DurationSecondArray, Float16Array,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, LargeStringArray,
    ListArray, NullArray, RecordBatch, StringArray, StringViewArray, Time32MillisecondArray,
    Time32SecondArray, Time64MicrosecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt8Array,
    UInt16Array, UInt32Array, UInt64Array,
};
use arrow_buffer::i256;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema};
use lehr_table::{Column, MISSING, ReadOptions, Sink, Table, TableFiles};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::{keeping, message, read, read_with, scratch};

fn every_kind(rows: usize) -> Table {
    let mut number: Vec<f64> = (0..rows).map(|row| row as f64 * 1e9 + 0.1).collect();
    let mut codes: Vec<u32> = (0..rows).map(|row| row as u32 % 3).collect();
    let mut truths: Vec<Option<bool>> = (0..rows).map(|row| Some(row % 2 == 0)).collect();
    number[1] = f64::NAN;
    number[2] = f64::INFINITY;
    codes[0] = MISSING;
    truths[3] = None;
    let levels = ["a", "ü", "日本"].map(String::from).to_vec();
    let mut table = Table::new()
        .with_number("größe", number)
        .and_then(|table| {
            table.with_matrix("x", rows, 3, (0..3 * rows).map(|v| v as f64).collect())
        })
        .and_then(|table| table.with_category("g", codes, levels))
        .unwrap();
    table.insert("b", Column::Boolean(truths)).unwrap();
    table
}

/// Equal bit for bit, because NaN is not equal to itself.
fn same(a: &Table, b: &Table) -> bool {
    format!("{a:?}") == format!("{b:?}") || {
        a.names() == b.names()
            && (a.columns().zip(b.columns()))
                .all(|((_, a), (_, b))| format!("{a:?}") == format!("{b:?}"))
    }
}

#[test]
fn parquet_and_arrow_files_give_back_every_kind() {
    let place = scratch();
    let table = every_kind(20_000);
    let parquet = place.path().join("a.parquet");
    table.write(&parquet).unwrap();
    assert!(same(&read_with(&parquet, &keeping()).unwrap(), &table));
    let ipc = place.path().join("a.arrow");
    table.write(&ipc).unwrap();
    assert!(same(&read_with(&ipc, &keeping()).unwrap(), &table));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);
}

#[test]
fn a_matrix_becomes_numbered_columns_in_text() {
    let place = scratch();
    let path = place.path().join("a.csv");
    every_kind(5).write(&path).unwrap();
    let table = read_with(&path, &keeping()).unwrap();
    assert_eq!(table.names(), ["größe", "x[1]", "x[2]", "x[3]", "g", "b"]);
    assert_eq!(table.number("x[2]").unwrap(), [1.0, 4.0, 7.0, 10.0, 13.0]);
}

#[test]
fn a_sink_joins_batches_and_refuses_other_columns() {
    let place = scratch();
    let table = every_kind(100);
    for name in ["a.parquet", "a.arrow", "a.feather"] {
        let path = place.path().join(name);
        let mut sink = Sink::create_file(&path, &table).unwrap();
        sink.push_table(&table.head(30)).unwrap();
        sink.push_table(&table.select_rows(&(30..100).collect::<Vec<_>>()))
            .unwrap();
        let other = Table::new().with_number("z", vec![1.0]).unwrap();
        assert!(sink.push_table(&other).is_err());
        assert!(!path.exists());
        sink.close_file().unwrap();
        assert!(
            same(&read_with(&path, &keeping()).unwrap(), &table),
            "{name}"
        );
    }
    let error = Sink::create_file(&place.path().join("a.xlsx"), &table)
        .err()
        .unwrap();
    assert!(error.to_string().contains("end its name in csv"));
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

fn write_batch(path: &std::path::Path, batch: &RecordBatch) {
    let mut writer = FileWriter::try_new(File::create(path).unwrap(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn foreign_types_become_numbers_and_categories() {
    let place = scratch();
    let path = place.path().join("types.arrow");
    let decimals = Decimal128Array::from(vec![Some(12345), None, Some(-5)]);
    let words: DictionaryArray<Int32Type> = vec![Some("b"), None, Some("a")].into_iter().collect();
    write_batch(
        &path,
        &batch(vec![
            (
                "i64",
                Arc::new(Int64Array::from(vec![Some(3), None, Some(-1)])),
            ),
            ("u8", Arc::new(UInt8Array::from(vec![1, 2, 255]))),
            (
                "f32",
                Arc::new(Float32Array::from(vec![0.5, f32::NAN, f32::INFINITY])),
            ),
            (
                "money",
                Arc::new(decimals.with_precision_and_scale(10, 2).unwrap()),
            ),
            ("word", Arc::new(words)),
            ("day", Arc::new(Date32Array::from(vec![0, 1, 20_000]))),
            (
                "when",
                Arc::new(TimestampMillisecondArray::from(vec![0, 1500, -1000])),
            ),
            ("none", Arc::new(NullArray::new(3))),
        ]),
    );
    let table = read_with(&path, &keeping()).unwrap();
    let text = |name: &str| format!("{:?}", table.number(name).unwrap());
    assert_eq!(text("i64"), "[3.0, NaN, -1.0]");
    assert_eq!(text("u8"), "[1.0, 2.0, 255.0]");
    assert_eq!(text("f32"), "[0.5, NaN, inf]");
    assert_eq!(text("money"), "[123.45, NaN, -0.05]");
    assert_eq!(table.category("word").unwrap().0, [1, MISSING, 0]);
    assert_eq!(text("day"), "[0.0, 1.0, 20000.0]");
    assert_eq!(text("when"), "[0.0, 1.5, -1.0]");
    assert_eq!(table.column("none").unwrap().count_missing(), 3);
}

fn only_column(array: ArrayRef) -> Table {
    let place = scratch();
    let path = place.path().join("a.arrow");
    write_batch(&path, &batch(vec![("c", array)]));
    read_with(&path, &keeping()).unwrap()
}

#[test]
fn every_type_that_holds_numbers_is_read() {
    type Half = <Float16Type as ArrowPrimitiveType>::Native;
    let half: Vec<Half> = [-3.0, 0.0, 2.0].map(Half::from_f64).to_vec();
    let wide = [-3, 0, 2].map(i256::from_i128).to_vec();
    let arrays: [ArrayRef; 11] = [
        Arc::new(Int8Array::from(vec![-3, 0, 2])),
        Arc::new(Int16Array::from(vec![-3, 0, 2])),
        Arc::new(Int32Array::from(vec![-3, 0, 2])),
        Arc::new(Int64Array::from(vec![-3, 0, 2])),
        Arc::new(Float16Array::from(half)),
        Arc::new(Float32Array::from(vec![-3.0, 0.0, 2.0])),
        Arc::new(Float64Array::from(vec![-3.0, 0.0, 2.0])),
        Arc::new(
            Decimal32Array::from(vec![-3, 0, 2])
                .with_precision_and_scale(9, 0)
                .unwrap(),
        ),
        Arc::new(
            Decimal64Array::from(vec![-3, 0, 2])
                .with_precision_and_scale(18, 0)
                .unwrap(),
        ),
        Arc::new(
            Decimal128Array::from(vec![-3, 0, 2])
                .with_precision_and_scale(20, 0)
                .unwrap(),
        ),
        Arc::new(
            Decimal256Array::from(wide)
                .with_precision_and_scale(50, 0)
                .unwrap(),
        ),
    ];
    for array in arrays {
        let name = array.data_type().to_string();
        let table = only_column(array);
        assert_eq!(table.number("c").unwrap(), [-3.0, 0.0, 2.0], "{name}");
    }
    let arrays: [ArrayRef; 4] = [
        Arc::new(UInt8Array::from(vec![0, 200])),
        Arc::new(UInt16Array::from(vec![0, 200])),
        Arc::new(UInt32Array::from(vec![0, 200])),
        Arc::new(UInt64Array::from(vec![0, 200])),
    ];
    for array in arrays {
        assert_eq!(only_column(array).number("c").unwrap(), [0.0, 200.0]);
    }
}

#[test]
fn a_decimal_of_any_size_keeps_its_leading_digits() {
    let digits = [
        "99999999999999999999999999999999999999999999999999",
        "-170141183460469231731687303715884105729",
    ];
    let values = digits.map(|digits| i256::from_string(digits).unwrap());
    let array = Decimal256Array::from(values.to_vec());
    let table = only_column(Arc::new(array.with_precision_and_scale(76, 30).unwrap()));
    for (found, digits) in table.number("c").unwrap().iter().zip(digits) {
        let expected = digits.parse::<f64>().unwrap() / 1e30;
        assert!((found / expected - 1.0).abs() < 1e-15, "{found} {expected}");
    }
}

#[test]
fn times_are_seconds_and_dates_are_days() {
    let day = 86_400_000;
    let arrays: [ArrayRef; 13] = [
        Arc::new(Date64Array::from(vec![2 * day, -day])),
        Arc::new(TimestampSecondArray::from(vec![2, -1])),
        Arc::new(TimestampMillisecondArray::from(vec![2_000, -1_000])),
        Arc::new(TimestampMicrosecondArray::from(vec![2_000_000, -1_000_000])),
        Arc::new(
            TimestampNanosecondArray::from(vec![2_000_000_000, -1_000_000_000])
                .with_timezone("+02:00"),
        ),
        Arc::new(DurationSecondArray::from(vec![2, -1])),
        Arc::new(DurationMillisecondArray::from(vec![2_000, -1_000])),
        Arc::new(DurationMicrosecondArray::from(vec![2_000_000, -1_000_000])),
        Arc::new(DurationNanosecondArray::from(vec![
            2_000_000_000,
            -1_000_000_000,
        ])),
        Arc::new(Time32SecondArray::from(vec![2, -1])),
        Arc::new(Time32MillisecondArray::from(vec![2_000, -1_000])),
        Arc::new(Time64MicrosecondArray::from(vec![2_000_000, -1_000_000])),
        Arc::new(Time64NanosecondArray::from(vec![
            2_000_000_000,
            -1_000_000_000,
        ])),
    ];
    for array in arrays {
        let name = array.data_type().to_string();
        assert_eq!(
            only_column(array).number("c").unwrap(),
            [2.0, -1.0],
            "{name}"
        );
    }
}

#[test]
fn words_of_every_form_and_dictionaries_of_every_kind_are_read() {
    let words = vec![Some("b"), None, Some("a")];
    let long: DictionaryArray<UInt64Type> = words.iter().copied().collect();
    let arrays: [ArrayRef; 4] = [
        Arc::new(StringArray::from(words.clone())),
        Arc::new(LargeStringArray::from(words.clone())),
        Arc::new(StringViewArray::from(words)),
        Arc::new(long),
    ];
    for array in arrays {
        assert_eq!(only_column(array).category("c").unwrap().0, [1, MISSING, 0]);
    }
    let keys = || Int8Array::from(vec![Some(1), None, Some(0), Some(1)]);
    let truths = Arc::new(BooleanArray::from(vec![true, false]));
    let table = only_column(Arc::new(DictionaryArray::new(keys(), truths)));
    let expected = Column::Boolean(vec![Some(false), None, Some(true), Some(false)]);
    assert_eq!(table.column("c").unwrap(), &expected);
    let moments = Arc::new(TimestampMillisecondArray::from(vec![1_500, 250]));
    let table = only_column(Arc::new(DictionaryArray::new(keys(), moments)));
    let text = format!("{:?}", table.number("c").unwrap());
    assert_eq!(text, "[0.25, NaN, 1.5, 0.25]");
}

#[test]
fn integers_can_be_read_as_categories() {
    let place = scratch();
    let path = place.path().join("a.arrow");
    write_batch(
        &path,
        &batch(vec![("id", Arc::new(Int64Array::from(vec![10, 9, 10])))]),
    );
    let options = ReadOptions {
        categorical: vec!["id".into()],
        batch_rows: 1,
        ..ReadOptions::default()
    };
    let table = read_with(&path, &options).unwrap();
    let (codes, levels) = table.category("id").unwrap();
    assert_eq!(
        (codes, &levels[..]),
        ([1, 0, 1].as_slice(), &["9".to_string(), "10".into()][..])
    );
}

/// Whether a file marks its levels as ordered.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Given,
    Absent,
}

/// Grades in an order that is not alphabetical, with a level that no row has.
fn graded(order: Order) -> RecordBatch {
    let levels = Arc::new(StringArray::from(vec!["poor", "fair", "none", "good"]));
    let keys = Int32Array::from(vec![Some(3), Some(0), None, Some(1), Some(0)]);
    let grades: ArrayRef = Arc::new(DictionaryArray::new(keys, levels));
    let field = Field::new("grade", grades.data_type().clone(), true);
    let schema = Schema::new(vec![field.with_dict_is_ordered(order == Order::Given)]);
    RecordBatch::try_new(Arc::new(schema), vec![grades]).unwrap()
}

#[test]
fn an_ordered_dictionary_keeps_its_order() {
    let place = scratch();
    let path = place.path().join("a.arrow");
    for (order, expected) in [
        (Order::Given, ["poor", "fair", "good"]),
        (Order::Absent, ["fair", "good", "poor"]),
    ] {
        write_batch(&path, &graded(order));
        for batch_rows in [2, 100] {
            let options = ReadOptions {
                batch_rows,
                ..keeping()
            };
            let table = read_with(&path, &options).unwrap();
            let (codes, levels) = table.category("grade").unwrap();
            assert_eq!(**levels, expected);
            assert_eq!(levels[codes[0] as usize], "good");
            assert_eq!(codes[2], MISSING);
        }
    }
}

#[test]
fn parquet_keeps_an_order_that_its_writer_kept() {
    let place = scratch();
    let path = place.path().join("a.parquet");
    let batch = graded(Order::Given);
    // This writer stores levels in the order of the rows; pandas does not.
    for (writer, expected) in [
        ("parquet-cpp-arrow version 19.0.1", ["good", "poor", "fair"]),
        ("parquet-rs version 59.3.2", ["fair", "good", "poor"]),
    ] {
        let about = WriterProperties::builder().set_created_by(writer.into());
        let file = File::create(&path).unwrap();
        let mut out = ArrowWriter::try_new(file, batch.schema(), Some(about.build())).unwrap();
        for _ in 0..2 {
            out.write(&batch).unwrap();
            out.flush().unwrap();
        }
        out.close().unwrap();
        let table = read_with(&path, &keeping()).unwrap();
        let (codes, levels) = table.category("grade").unwrap();
        assert_eq!(**levels, expected, "{writer}");
        assert_eq!(levels[codes[8] as usize], "fair");
    }
}

#[test]
fn a_given_order_of_levels_is_kept_and_other_values_are_refused() {
    let place = scratch();
    let path = place.path().join("a.csv");
    std::fs::write(&path, "grade,n\ngood,3\npoor,1\nfair,2\npoor,1\n").unwrap();
    let ordered = |column: &str, levels: &[&str]| ReadOptions {
        levels: vec![(
            column.into(),
            levels.iter().map(ToString::to_string).collect(),
        )],
        batch_rows: 2,
        ..keeping()
    };
    let table = read_with(&path, &ordered("grade", &["poor", "fair", "good"])).unwrap();
    let (codes, levels) = table.category("grade").unwrap();
    assert_eq!(**levels, ["poor", "fair", "good"]);
    assert_eq!(codes, [2, 0, 1, 0]);
    let table = read_with(&path, &ordered("n", &["3", "2", "1"])).unwrap();
    assert_eq!(table.category("n").unwrap().0, [0, 2, 1, 2]);
    let error = read_with(&path, &ordered("grade", &["poor", "good"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "column \"grade\": expected one of poor, good, found \"fair\"\n  hint: list every level \
         in --levels, in order"
    );
}

#[test]
fn a_stream_reads_like_a_file() {
    let place = scratch();
    let path = place.path().join("a.arrows");
    let batch = batch(vec![("id", Arc::new(Int64Array::from(vec![10, 9])))]);
    let mut writer = StreamWriter::try_new(File::create(&path).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    assert_eq!(read(&path).unwrap().number("id").unwrap(), [10.0, 9.0]);
}

#[test]
fn a_list_is_refused_by_name_and_type_unless_it_is_left_out() {
    let place = scratch();
    let path = place.path().join("a.arrow");
    let lists = vec![Some(vec![Some(1)]), Some(vec![Some(2), Some(3)])];
    write_batch(
        &path,
        &batch(vec![
            ("y", Arc::new(Int64Array::from(vec![1, 2]))),
            (
                "visits",
                Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)),
            ),
        ]),
    );
    assert_eq!(
        message(&place, read(&path)),
        "a.arrow: column \"visits\" has type List(Int64), which cannot be read\n  \
         hint: leave the column out with --columns"
    );
    let options = ReadOptions {
        columns: Some(vec!["y".into()]),
        ..ReadOptions::default()
    };
    assert_eq!(read_with(&path, &options).unwrap().names(), ["y"]);
    assert_eq!(
        TableFiles::open_inputs(&[&path])
            .unwrap()
            .read_schema(&options)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn batches_of_any_size_give_the_same_table() {
    let place = scratch();
    let table = every_kind(1000);
    for name in ["a.parquet", "a.arrow", "a.csv"] {
        let path = place.path().join(name);
        let mut sink = Sink::create_file(&path, &table).unwrap();
        sink.push_table(&table).unwrap();
        sink.close_file().unwrap();
        let whole = read_with(&path, &keeping()).unwrap();
        for batch_rows in [1, 7, 999] {
            let options = ReadOptions {
                batch_rows,
                ..keeping()
            };
            assert!(
                same(&read_with(&path, &options).unwrap(), &whole),
                "{name} {batch_rows}"
            );
        }
    }
}
