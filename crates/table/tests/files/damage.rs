//! Bytes that are no table: every reader answers with an error or a table, never with a panic.

use lehr_table::{Conversion, Header, ReadOptions, Shuffled, Source, Table, write_ipc, write_parquet};
use proptest::prelude::*;

use crate::{keeping, put, read_with, scratch};

/// Text that looks enough like CSV to get past the header.
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

/// Positions and values of bytes to overwrite, and how much of the file to keep.
fn wounds() -> impl Strategy<Value = (Vec<(f64, u8)>, f64)> {
    let wound = (0.0..1.0, any::<u8>());
    (proptest::collection::vec(wound, 0..6), prop_oneof![Just(1.0), 0.0..1.0])
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
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_read_as_csv_without_a_panic(
        bytes in prop_oneof![almost_csv(), proptest::collection::vec(any::<u8>(), 0..300)],
        batch_rows in 0_usize..4,
        sample_rows in 0_usize..4,
    ) {
        let place = scratch();
        for (name, header) in [("a.csv", Header::Present), ("a.csv.gz", Header::Absent), ("a.csv.zst", Header::Present), ("b.tsv", Header::Absent)] {
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
        prop_assert!(Shuffled::open(&put(&place, "a", &bytes)).is_err());
        let csv = put(&place, "a.csv", "x,g\n1,r\n2,b\n3,r\n");
        let source = Source::open(&[csv]).unwrap();
        let rows = place.path().join("rows");
        Shuffled::convert(&source, &rows, &Conversion::default(), &mut |_| ()).unwrap();
        let path = put(&place, "b", wounded(std::fs::read(&rows).unwrap(), &damage));
        if let Ok(shuffled) = Shuffled::open(&path) {
            let _ = shuffled.verify();
            let _ = shuffled.table(0..shuffled.n_rows());
        }
    }

    #[test]
    fn damaged_parquet_and_arrow_files_are_answered_without_a_panic(damage in wounds()) {
        let place = scratch();
        let parquet = place.path().join("a.parquet");
        write_parquet(&parquet, &written()).unwrap();
        let bytes = wounded(std::fs::read(&parquet).unwrap(), &damage);
        let _ = read_with(&put(&place, "b.parquet", bytes), &keeping());
        let ipc = place.path().join("a.arrow");
        write_ipc(&ipc, &written()).unwrap();
        let bytes = wounded(std::fs::read(&ipc).unwrap(), &damage);
        let _ = read_with(&put(&place, "b.arrow", bytes), &keeping());
    }
}
