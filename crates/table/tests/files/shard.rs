//! Folders and patterns of files as one table.

use lehr_table::{ReadOptions, Table, TableError, TableFiles};

use crate::{message, put, read, scratch};

#[test]
fn a_folder_and_a_pattern_are_one_table_in_order_of_names() {
    let place = scratch();
    put(&place, "part-2.csv", "a,g\n3,z\n");
    put(&place, "part-1.csv", "a,g\n1,z\n2,y\n");
    put(&place, "README.md", "not a table");
    put(&place, "_SUCCESS.csv", "");
    put(&place, ".hidden.csv", "");
    let table = read(place.path()).unwrap();
    assert_eq!(table.number("a").unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(table.category("g").unwrap().0, [1, 0, 1]);
    assert_eq!(read(&place.path().join("part-*.csv")).unwrap(), table);
    let source = TableFiles::open_inputs(&[
        place.path().join("part-2.csv"),
        place.path().join("part-1.csv"),
    ]);
    let table = source
        .unwrap()
        .read_table(&ReadOptions::default(), &mut |_| ())
        .unwrap();
    assert_eq!(table.number("a").unwrap(), [3.0, 1.0, 2.0]);
}

#[test]
fn a_disagreeing_shard_is_named_with_its_column() {
    let place = scratch();
    put(&place, "1.csv", "a,b\n1,2\n");
    put(&place, "2.csv", "a,c\n1,2\n");
    let same_columns = "\n  hint: all shards of a table have the same columns in the same order";
    assert_eq!(
        message(&place, read(place.path())),
        format!(
            "2.csv: column \"c\" (a number), but 1.csv has column \"b\" (a number){same_columns}"
        )
    );
    put(&place, "2.csv", "a\n1\n");
    assert_eq!(
        message(&place, read(place.path())),
        format!("2.csv: no column \"b\", but 1.csv has column \"b\" (a number){same_columns}")
    );
    put(&place, "2.csv", "a,b,c\n1,2,3\n");
    assert_eq!(
        message(&place, read(place.path())),
        format!("2.csv: column \"c\" (a number), but 1.csv has no column \"c\"{same_columns}")
    );
    put(&place, "2.csv", "b,a\n1,2\n");
    assert!(message(&place, read(place.path())).starts_with("2.csv: column \"b\""));
}

#[test]
fn a_csv_shard_of_another_type_is_named_with_its_cell() {
    let place = scratch();
    put(&place, "1.csv", "a\n1\n");
    put(&place, "2.csv", "a\nword\n");
    let expected = "2.csv:2:1: column \"a\" expects a number, found \"word\"";
    for sample_rows in [1, 10_000] {
        let options = ReadOptions {
            sample_rows,
            ..ReadOptions::default()
        };
        let result = TableFiles::open_inputs(&[place.path()])
            .unwrap()
            .read_table(&options, &mut |_| ());
        assert!(message(&place, result).starts_with(expected));
    }
    put(&place, "1.csv", "a\ntrue\n");
    let expected = "2.csv:2:1: column \"a\" expects true or false, found \"word\"";
    assert!(message(&place, read(place.path())).starts_with(expected));
    put(&place, "1.csv", "a\nNA\n");
    let error = message(&place, read(place.path()));
    assert!(
        error.starts_with("missing values among 2 rows: \"a\" 1"),
        "{error}"
    );
}

#[test]
fn a_parquet_shard_of_another_type_is_refused_on_opening() {
    let place = scratch();
    let numbers = Table::new().with_number("a", vec![1.0]).unwrap();
    let truths = Table::new().with_boolean("a", vec![true]).unwrap();
    numbers.write(place.path().join("1.parquet")).unwrap();
    truths.write(place.path().join("2.parquet")).unwrap();
    let error = message(&place, TableFiles::open_inputs(&[place.path()]));
    assert!(error.starts_with(
        "2.parquet: column \"a\" (true or false), but 1.parquet has column \"a\" (a number)"
    ));
}

#[test]
fn formats_are_not_mixed() {
    let place = scratch();
    put(&place, "1.csv", "a\n1\n");
    let table = Table::new().with_number("a", vec![1.0]).unwrap();
    table.write(place.path().join("2.parquet")).unwrap();
    let error = message(&place, TableFiles::open_inputs(&[place.path()]));
    assert!(error.starts_with("2.parquet: parquet data, but 1.csv has csv text"));
}

#[test]
fn paths_without_tables_say_so() {
    let place = scratch();
    let error = message(
        &place,
        TableFiles::open_inputs(&[place.path().join("none.csv")]),
    );
    assert!(error.starts_with("none.csv: cannot open: "), "{error}");
    let error = message(
        &place,
        TableFiles::open_inputs(&[place.path().join("x*.csv")]),
    );
    assert!(
        error.starts_with("x*.csv: no file matches the pattern"),
        "{error}"
    );
    let error = TableFiles::open_inputs(&[place.path()])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(": the folder has no table in it\n  hint: "),
        "{error}"
    );
    let error = message(&place, TableFiles::open_inputs(&[put(&place, "a.xyz", "")]));
    assert!(error.starts_with("a.xyz: expected a table, found an unknown file extension"));
    let none: [&str; 0] = [];
    assert!(TableFiles::open_inputs(&none).is_err());
}

/// The reason for the end of a scan.
#[derive(Debug)]
enum End {
    Enough(usize),
    Failed(TableError),
}

impl From<TableError> for End {
    fn from(error: TableError) -> End {
        End::Failed(error)
    }
}

#[test]
fn an_error_of_the_reader_ends_a_scan_of_any_format_and_is_returned() {
    let table = Table::new().with_number("x", vec![0.0; 5]).unwrap();
    let options = ReadOptions {
        batch_rows: 2,
        ..ReadOptions::default()
    };
    for extension in ["csv", "parquet", "arrow"] {
        let place = scratch();
        for shard in ["a", "b"] {
            let name = place.path().join(format!("{shard}.{extension}"));
            table.write(name).unwrap();
        }
        let source = TableFiles::open_inputs(&[place.path()]).unwrap();
        // Each shard has three batches: one scan ends within the first, the other within the second.
        for most in [2, 4] {
            let mut batches = 0;
            let scanned = source.scan_blocks(&options, &mut |_, _| {
                batches += 1;
                if batches < most {
                    return Ok(());
                }
                Err(End::Enough(batches))
            });
            assert!(
                matches!(scanned, Err(End::Enough(found)) if found == most),
                "{extension}: {scanned:?}"
            );
            assert_eq!(batches, most, "{extension}");
        }
    }
    let place = scratch();
    let path = put(&place, "a.csv", "x\n1\noops\n");
    let numbers = ReadOptions {
        sample_rows: 1,
        ..ReadOptions::default()
    };
    let source = TableFiles::open_inputs(&[path]).unwrap();
    let scanned = source.scan_blocks(&numbers, &mut |_, _| Ok::<(), End>(()));
    assert!(
        matches!(scanned, Err(End::Failed(TableError::Cell { .. }))),
        "{scanned:?}"
    );
}
