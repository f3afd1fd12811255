//! Tables with unusual content that a simple reader would misread.

use lehr_table::{Column, MissingPolicy, ReadOptions, Table};

use crate::{keeping, lines, message, put, read, read_with, scratch};

#[test]
fn a_ragged_line_is_named() {
    let place = scratch();
    let path = put(&place, "a.csv", "a,b\n1,2\n1,2,3\n");
    assert_eq!(
        message(&place, read(&path)),
        "a.csv:3: expected 2 fields, found 3\n  \
         hint: a field that contains the delimiter must be quoted, and no row may end in one"
    );
    let path = put(&place, "b.csv", "a,b\r\n1,2\r\n1\r\n");
    assert!(message(&place, read(&path)).starts_with("b.csv:3: expected 2 fields, found 1"));
}

#[test]
fn bytes_that_are_not_utf8_are_named_by_their_place() {
    let place = scratch();
    let path = put(&place, "a.csv", b"a,b\n1,x\n2,caf\xe9\n");
    assert!(message(&place, read(&path)).starts_with("a.csv:3:2: expected UTF-8 text"));
    let path = put(&place, "b.csv", b"a,caf\xe9\n1,x\n");
    assert!(message(&place, read(&path)).starts_with("b.csv:1:2: expected UTF-8 text"));
}

#[test]
fn empty_files_are_refused() {
    let place = scratch();
    for name in ["a.csv", "a.csv.gz", "a.csv.zst", "a.parquet", "a.arrow"] {
        let error = message(&place, read(&put(&place, name, "")));
        assert!(error.starts_with(&format!("{name}: ")), "{error}");
    }
    let error = message(&place, read(&put(&place, "b.csv", "\n\n")));
    assert!(
        error.starts_with("b.csv: expected a table, found an empty file"),
        "{error}"
    );
}

#[test]
fn a_folder_in_the_place_of_a_file_is_one_clear_line() {
    let place = scratch();
    let inner = place.path().join("inner");
    std::fs::create_dir_all(inner.join("x.csv")).unwrap();
    let error = message(&place, read(&inner));
    assert!(
        error.starts_with("inner: the folder has no table in it"),
        "{error}"
    );
    let table = Table::new().with_number("a", vec![1.0]).unwrap();
    let error = message(&place, table.write(place.path().join("gone/out.csv")));
    assert!(error.starts_with("gone/out.csv: cannot write: "), "{error}");
    let folder = place.path().join("out.parquet");
    std::fs::create_dir(&folder).unwrap();
    let error = message(&place, table.write(&folder));
    assert!(error.starts_with("out.parquet: cannot write: "), "{error}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_read_is_one_clear_line() {
    let place = scratch();
    // A cycle of symbolic links cannot be opened, whatever the user's permissions.
    let link = place.path().join("loop.csv");
    std::os::unix::fs::symlink(&link, &link).unwrap();
    let error = message(&place, read(&link));
    assert!(error.starts_with("loop.csv: cannot open: "), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn duplicate_names_are_refused() {
    let place = scratch();
    let error = message(&place, read(&put(&place, "a.csv", "x,y,x\n1,2,3\n")));
    assert_eq!(
        error,
        "a.csv: columns 1 and 3 are both called \"x\"\n  hint: rename one of the two"
    );
}

#[test]
fn no_rows_and_one_row_are_tables() {
    let place = scratch();
    let table = read(&put(&place, "a.csv", "x,y\n")).unwrap();
    assert_eq!((table.n_rows(), table.names().len()), (0, 2));
    let parquet = place.path().join("a.parquet");
    table.write(&parquet).unwrap();
    assert_eq!(read(&parquet).unwrap(), table);
    let table = read(&put(&place, "b.csv", "x,y\n1,red")).unwrap();
    assert_eq!(table.n_rows(), 1);
    table.write(&parquet).unwrap();
    assert_eq!(read(&parquet).unwrap(), table);
}

#[test]
fn an_all_missing_column_is_counted_refused_or_leaves_no_row() {
    let place = scratch();
    let path = put(&place, "a.csv", "x,y,g\n1,,r\n2,NA,\n3, ,b\n");
    assert_eq!(
        message(&place, read(&path)),
        "missing values among 3 rows: \"y\" 3, \"g\" 1\n  \
         hint: column \"y\" has no value at all: leave it out of the formula"
    );
    let options = ReadOptions {
        missing: MissingPolicy::Drop,
        ..ReadOptions::default()
    };
    let table = read_with(&path, &options).unwrap();
    assert_eq!((table.n_rows(), table.dropped_rows()), (0, 3));
    assert_eq!(
        read_with(&path, &keeping())
            .unwrap()
            .column("y")
            .unwrap()
            .count_missing(),
        3
    );
}

#[test]
fn levels_of_dropped_rows_are_not_kept() {
    let place = scratch();
    let path = put(&place, "a.csv", "x,g\n1,r\n,only here\n3,b\n");
    let options = ReadOptions {
        missing: MissingPolicy::Drop,
        ..ReadOptions::default()
    };
    assert_eq!(
        read_with(&path, &options)
            .unwrap()
            .category("g")
            .unwrap()
            .1
            .len(),
        2
    );
}

#[test]
fn a_hundred_thousand_levels_are_kept_apart() {
    let place = scratch();
    let text = lines("g", 0..200_000, |row| {
        format!("level {}", (row * 7919) % 100_000)
    });
    let table = read(&put(&place, "a.csv", text)).unwrap();
    let (codes, levels) = table.category("g").unwrap();
    assert_eq!(levels.len(), 100_000);
    assert!(levels.is_sorted());
    assert_eq!(levels[codes[1] as usize], "level 7919");
    assert_eq!(
        levels[codes[199_999] as usize],
        format!("level {}", (199_999 * 7919) % 100_000)
    );
}

#[test]
fn infinities_are_kept_and_counted() {
    let place = scratch();
    let table = read(&put(&place, "a.csv", "x\ninf\n-Infinity\n1\n")).unwrap();
    assert_eq!(
        table.column("x").unwrap(),
        &Column::Number(vec![f64::INFINITY, f64::NEG_INFINITY, 1.0])
    );
    assert_eq!(table.column("x").unwrap().count_infinite(), 2);
}
