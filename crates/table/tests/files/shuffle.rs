//! Rows in random order on disk.

use std::path::{Path, PathBuf};

use lehr_table::{
    Column, Kind, MISSING, MissingPolicy, Progress, ReadOptions, ShuffledRows, Stage, StoredColumn,
    Table, TableError,
};
use tempfile::TempDir;

use crate::{Conversion, keeping, message, put, read, read_with, scratch};

fn numbered(rows: usize) -> Table {
    let codes: Vec<u32> = (0..rows).map(|row| (row % 5) as u32).collect();
    let levels = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
    Table::new()
        .with_number("v", (0..rows).map(|row| row as f64).collect())
        .and_then(|table| {
            table.with_matrix("x", rows, 2, (0..2 * rows).map(|v| v as f64).collect())
        })
        .and_then(|table| table.with_category("g", codes, levels))
        .and_then(|table| table.with_boolean("b", (0..rows).map(|row| row % 3 == 0).collect()))
        .unwrap()
}

fn convert(place: &TempDir, table: &Table, seed: u64, memory_bytes: usize) -> ShuffledRows {
    let parquet = place.path().join("in.parquet");
    table.write(&parquet).unwrap();
    let how = Conversion {
        seed,
        memory_bytes,
        ..Conversion::default()
    };
    shuffle(&parquet, &place.path().join("out.rows"), &how).unwrap()
}

fn shuffle(from: &Path, to: &Path, how: &Conversion) -> Result<ShuffledRows, TableError> {
    crate::shuffle(from, to, how, &mut |_| ())
}

/// The numbers of all rows.
fn numbers(shuffled: &ShuffledRows) -> Vec<f64> {
    let mut numbers = vec![0.0; shuffled.n_rows() * shuffled.width()];
    shuffled
        .copy_rows(0..shuffled.n_rows(), &mut numbers)
        .unwrap();
    numbers
}

/// All rows as a table.
fn table_of(shuffled: &ShuffledRows) -> Table {
    let numbers = numbers(shuffled);
    let mut table = Table::new();
    for column in shuffled.columns() {
        let place = shuffled.column_place(&column.name).unwrap();
        let part = numbers
            .chunks(shuffled.width())
            .flat_map(|row| row[place.clone()].to_vec());
        let column = (column.name.clone(), typed(column, part.collect()));
        table.insert(column.0, column.1).unwrap();
    }
    table
}

fn typed(column: &StoredColumn, values: Vec<f64>) -> Column {
    let code = |value: &f64| {
        if value.is_nan() {
            MISSING
        } else {
            *value as u32
        }
    };
    let truth = |value: &f64| (!value.is_nan()).then_some(*value != 0.0);
    match column.kind {
        Kind::Number => Column::Number(values),
        Kind::Matrix { width } => Column::Matrix { width, values },
        Kind::Boolean => Column::Boolean(values.iter().map(truth).collect()),
        Kind::Category => Column::Category {
            codes: values.iter().map(code).collect(),
            levels: column.levels.clone(),
        },
    }
}

#[test]
fn shuffled_rows_are_a_permutation_in_which_rows_stay_whole() {
    let place = scratch();
    let table = numbered(20_000);
    // So little memory that buckets have to be split again.
    for memory_bytes in [1 << 10, 1 << 17, 1 << 28] {
        let shuffled = convert(&place, &table, 5, memory_bytes);
        assert_eq!((shuffled.n_rows(), shuffled.width()), (20_000, 5));
        shuffled.verify_checksums().unwrap();
        let back = table_of(&shuffled);
        let order: Vec<usize> = back
            .number("v")
            .unwrap()
            .iter()
            .map(|v| *v as usize)
            .collect();
        assert!(!order.is_sorted());
        assert_eq!(back, table.select_rows(&order));
        let mut sorted = order;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..20_000));
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let place = scratch();
    let bytes = |seed| {
        convert(&place, &numbered(3000), seed, 1 << 18);
        std::fs::read(place.path().join("out.rows")).unwrap()
    };
    let first = bytes(1);
    assert_eq!(first, bytes(1));
    assert_ne!(first, bytes(2));
}

#[test]
fn a_block_of_rows_is_a_random_sample() {
    let place = scratch();
    let shuffled = convert(&place, &numbered(20_000), 9, 1 << 16);
    let place = shuffled.column_place("v").unwrap();
    let means = (0..20).map(|block| {
        let mut rows = vec![0.0; 5000];
        let range = block * 1000..(block + 1) * 1000;
        shuffled.copy_rows(range, &mut rows).unwrap();
        rows.chunks(5).map(|row| row[place.start]).sum::<f64>() / 1000.0
    });
    // The mean of 1,000 numbers from 0..20,000 has standard deviation 178; the tolerance is five
    // times that.
    assert!(means.into_iter().all(|mean| (mean - 9999.5).abs() < 890.0));
}

#[test]
fn columns_know_their_place_kind_and_levels() {
    let place = scratch();
    let shuffled = convert(&place, &numbered(10), 1, 1 << 20);
    assert_eq!(shuffled.column_place("x").unwrap(), 1..3);
    assert_eq!(shuffled.columns()[1].kind, Kind::Matrix { width: 2 });
    assert_eq!(shuffled.columns()[2].levels.len(), 5);
    let error = shuffled.column_place("gg").unwrap_err().to_string();
    assert!(error.ends_with("did you mean \"g\"?"));
}

#[test]
fn levels_are_sorted_whatever_order_the_rows_came_in() {
    let place = scratch();
    let path = put(&place, "a.csv", "g\nzebra\napple\nzebra\nmango\n");
    let how = Conversion {
        read: ReadOptions {
            batch_rows: 1,
            ..ReadOptions::default()
        },
        ..Conversion::default()
    };
    let shuffled = shuffle(&path, &place.path().join("out"), &how).unwrap();
    let table = table_of(&shuffled);
    let (codes, levels) = table.category("g").unwrap();
    assert_eq!(
        levels[..],
        ["apple".to_string(), "mango".into(), "zebra".into()]
    );
    let mut words: Vec<&str> = codes
        .iter()
        .map(|code| levels[*code as usize].as_str())
        .collect();
    words.sort_unstable();
    assert_eq!(words, ["apple", "mango", "zebra", "zebra"]);
}

#[test]
fn missing_values_are_refused_dropped_or_kept() {
    let place = scratch();
    let path = put(&place, "a.csv", "x,g\n1,r\n,b\n3,\n4,b\n");
    let out = place.path().join("out");
    let how = |missing| Conversion {
        read: ReadOptions {
            missing,
            ..ReadOptions::default()
        },
        ..Conversion::default()
    };
    let error = message(&place, shuffle(&path, &out, &how(MissingPolicy::Refuse)));
    assert!(
        error.starts_with("missing values among 4 rows: \"x\" 1, \"g\" 1"),
        "{error}"
    );
    assert!(!out.exists());
    let shuffled = shuffle(&path, &out, &how(MissingPolicy::Drop)).unwrap();
    assert_eq!((shuffled.n_rows(), shuffled.dropped_rows()), (2, 2));
    let shuffled = shuffle(&path, &out, &how(MissingPolicy::Keep)).unwrap();
    let table = table_of(&shuffled);
    assert_eq!(
        table.count_missing(),
        read_with(&path, &keeping()).unwrap().count_missing()
    );
}

#[test]
fn progress_goes_through_both_stages() {
    let place = scratch();
    let parquet = place.path().join("in.parquet");
    numbered(20_000).write(&parquet).unwrap();
    let mut seen: Vec<Progress> = Vec::new();
    let out = place.path().join("out");
    let how = Conversion::default();
    crate::shuffle(&parquet, &out, &how, &mut |at| seen.push(at)).unwrap();
    let (reading, shuffling): (Vec<Progress>, Vec<Progress>) =
        seen.into_iter().partition(|at| at.stage == Stage::Reading);
    assert_eq!(
        reading.last().map(|at| (at.rows, at.share)),
        Some((20_000, 1.0))
    );
    assert_eq!(
        shuffling.last().map(|at| (at.rows, at.share)),
        Some((20_000, 1.0))
    );
}

#[test]
fn a_table_without_rows_can_be_shuffled() {
    let place = scratch();
    let path = put(&place, "a.csv", "x,y\n");
    let shuffled = shuffle(&path, &place.path().join("out"), &Conversion::default()).unwrap();
    assert_eq!(shuffled.n_rows(), 0);
    assert_eq!(table_of(&shuffled), read(&path).unwrap());
}

fn altered(place: &TempDir, alter: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
    convert(place, &numbered(50), 1, 1 << 20);
    let mut bytes = std::fs::read(place.path().join("out.rows")).unwrap();
    alter(&mut bytes);
    put(place, "altered.rows", bytes)
}

#[test]
fn damaged_and_newer_files_are_refused_clearly() {
    let place = scratch();
    let open = |path: &Path| message(&place, ShuffledRows::open(path));
    let cut = altered(&place, |bytes| bytes.truncate(bytes.len() - 3));
    assert_eq!(
        open(&cut),
        "altered.rows: the file is damaged: expected 2000 bytes of rows, found 1997\n  hint: convert the table again"
    );
    let cut = altered(&place, |bytes| bytes.truncate(100));
    assert!(open(&cut).contains("its header is cut short"));
    let cut = altered(&place, |bytes| bytes.truncate(10));
    assert!(open(&cut).contains("it is cut short"));
    let flipped = altered(&place, |bytes| bytes[80] ^= 1);
    assert!(open(&flipped).contains("its header does not match its checksum"));
    let newer = altered(&place, |bytes| bytes[8] = 2);
    assert_eq!(
        open(&newer),
        "altered.rows: expected format version 1 or older, found 2\n  \
         hint: a newer lehr wrote it; update, or convert the table again"
    );
    let other = put(&place, "other", [b'x'; 200]);
    assert!(open(&other).starts_with("other: expected shuffled rows, found another kind of file"));
    let empty = put(&place, "empty", "");
    assert!(open(&empty).starts_with("empty: "));
}

#[test]
fn altered_rows_are_found_on_demand() {
    let place = scratch();
    let path = altered(&place, |bytes| *bytes.last_mut().unwrap() ^= 1);
    let shuffled = ShuffledRows::open(&path).unwrap();
    assert!(
        message(&place, shuffled.verify_checksums())
            .contains("its rows do not match their checksum")
    );
}
