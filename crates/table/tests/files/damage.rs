//! Files with invalid bytes: every reader returns an error or a table and does not panic.

use std::sync::{Arc, OnceLock};

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};
use lehr_table::{Header, ReadOptions, ShuffledRows, Table};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::{Conversion, keeping, put, read_with, scratch, shuffle};

/// Text that resembles CSV closely enough to pass the header.
fn almost_csv() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b",".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"1.5".to_vec()),
        Just(b"true".to_vec()),
        Just("ä".as_bytes().to_vec()),
        Just(b"NA".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn written() -> Table {
    let words = ["a".to_string(), "b".into()].to_vec();
    Table::new()
        .with_number("v", (0..40).map(f64::from).collect())
        .and_then(|table| table.with_matrix("x", 40, 2, vec![0.5; 80]))
        .and_then(|table| table.with_category("g", (0..40).map(|row| row % 2).collect(), words))
        .and_then(|table| table.with_boolean("b", vec![true; 40]))
        .unwrap()
}

fn shuffled() -> Vec<u8> {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let bytes = BYTES.get_or_init(|| {
        let place = scratch();
        let csv = put(&place, "a.csv", "x,g\n1,r\n2,b\n3,r\n");
        let rows = place.path().join("rows");
        shuffle(&csv, &rows, &Conversion::default(), &mut |_| ()).unwrap();
        std::fs::read(&rows).unwrap()
    });
    bytes.clone()
}

/// An Arrow stream of strings, because its compressed form stores lengths of its own.
fn stream(packing: Option<CompressionType>) -> Vec<u8> {
    let words: DictionaryArray<Int32Type> = (0..500).map(|row| Some(["a", "b"][row % 2])).collect();
    let numbers = Int64Array::from_iter_values(0..500);
    let columns: [(&str, ArrayRef); 2] = [("w", Arc::new(words)), ("n", Arc::new(numbers))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = IpcWriteOptions::default()
        .try_with_compression(packing)
        .unwrap();
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn compressed_streams_are_read() {
    let place = scratch();
    for packing in [
        None,
        Some(CompressionType::LZ4_FRAME),
        Some(CompressionType::ZSTD),
    ] {
        let table = read_with(&put(&place, "a.arrows", stream(packing)), &keeping()).unwrap();
        assert_eq!(table.number("n").unwrap()[499], 499.0);
        assert_eq!(table.category("w").unwrap().0[..4], [0, 1, 0, 1]);
    }
}

/// Positions and values of bytes to overwrite, and the share of the file to keep.
fn wounds() -> impl Strategy<Value = (Vec<(f64, u8)>, f64)> {
    let wound = (0.0..1.0, any::<u8>());
    (
        proptest::collection::vec(wound, 0..6),
        prop_oneof![Just(1.0), 0.0..1.0],
    )
}

fn wounded(mut bytes: Vec<u8>, (wounds, keep): &(Vec<(f64, u8)>, f64)) -> Vec<u8> {
    for (at, value) in wounds {
        let at = (at * bytes.len() as f64) as usize;
        bytes[at] = *value;
    }
    bytes.truncate((keep * bytes.len() as f64) as usize);
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_500,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(17),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes_read_as_csv_without_a_panic(
        bytes in prop_oneof![almost_csv(), proptest::collection::vec(any::<u8>(), 0..300)],
        batch_rows in 0_usize..4,
        sample_rows in 0_usize..4,
    ) {
        let place = scratch();
        for (name, header) in [
            ("a.csv", Header::Present),
            ("a.csv.gz", Header::Absent),
            ("a.csv.zst", Header::Present),
            ("b.tsv", Header::Absent),
        ] {
            let path = put(&place, name, &bytes);
            let options = ReadOptions { header, batch_rows, sample_rows, ..keeping() };
            if let Ok(table) = read_with(&path, &options) {
                prop_assert!(!table.names().is_empty());
            }
        }
    }

    #[test]
    fn any_bytes_open_as_shuffled_rows_without_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        damage in wounds(),
    ) {
        let place = scratch();
        prop_assert!(ShuffledRows::open(&put(&place, "a", &bytes)).is_err());
        let path = put(&place, "b", wounded(shuffled(), &damage));
        if let Ok(shuffled) = ShuffledRows::open(&path) {
            let _ = shuffled.verify_checksums();
            let mut numbers = vec![0.0; shuffled.n_rows() * shuffled.width()];
            prop_assert!(shuffled.copy_rows(0..shuffled.n_rows(), &mut numbers).is_ok());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(18),
        ..ProptestConfig::default()
    })]

    #[test]
    fn damaged_parquet_and_arrow_files_are_answered_without_a_panic(damage in wounds()) {
        let place = scratch();
        let parquet = place.path().join("a.parquet");
        written().write(&parquet).unwrap();
        let bytes = wounded(std::fs::read(&parquet).unwrap(), &damage);
        let _ = read_with(&put(&place, "b.parquet", bytes), &keeping());
        let ipc = place.path().join("a.arrow");
        written().write(&ipc).unwrap();
        let bytes = std::fs::read(&ipc).unwrap();
        let _ = read_with(&put(&place, "b.arrow", wounded(bytes, &damage)), &keeping());
        for (name, packing) in [
            ("c.arrows", None),
            ("d.arrows", Some(CompressionType::LZ4_FRAME)),
            ("e.arrows", Some(CompressionType::ZSTD)),
        ] {
            let bytes = wounded(stream(packing), &damage);
            let _ = read_with(&put(&place, name, bytes), &keeping());
        }
    }

    #[test]
    fn any_bytes_read_as_parquet_and_arrow_without_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let place = scratch();
        for (name, frame) in [("a.parquet", "PAR1"), ("a.arrow", "ARROW1"), ("b.arrow", "")] {
            let framed = [frame.as_bytes(), &bytes, frame.as_bytes()].concat();
            let _ = read_with(&put(&place, name, framed), &keeping());
        }
    }
}
