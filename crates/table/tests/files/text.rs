//! CSV: types, positions, delimiters, quotes, headers and compression.

use std::io::Write;

use lehr_table::{Column, Header, MISSING, MissingPolicy, Progress, ReadOptions, TableFiles};

use crate::{keeping, lines, message, put, read, read_with, scratch};

#[test]
fn types_are_inferred_by_column() {
    let place = scratch();
    let path = put(
        &place,
        "a.csv",
        "n,e,b,c\n1,1e-3,true,red\n-2.5, inf ,FALSE,blue\n3,-inf,True,red\n",
    );
    let table = read(&path).unwrap();
    assert_eq!(table.names(), ["n", "e", "b", "c"]);
    assert_eq!(table.number("n").unwrap(), [1.0, -2.5, 3.0]);
    assert_eq!(table.column("e").unwrap().count_infinite(), 2);
    let truths = Column::Boolean(vec![Some(true), Some(false), Some(true)]);
    assert_eq!(table.column("b").unwrap(), &truths);
    let (codes, levels) = table.category("c").unwrap();
    assert_eq!(
        (codes, &levels[..]),
        (
            [1, 0, 1].as_slice(),
            &["blue".to_string(), "red".into()][..]
        )
    );
}

#[test]
fn a_cell_that_does_not_parse_is_named_by_line_and_field() {
    let place = scratch();
    let text = lines("a,b,c,age", 2..17, |line| format!("1,2,3,{line}"));
    let path = put(&place, "data.csv", text + "1,2,3,n/a\n");
    assert_eq!(
        message(&place, read(&path)),
        "data.csv:17:4: column \"age\" expects a number, found \"n/a\"\n  \
         hint: name missing values with --missing-text n/a, or read the column as text with --categorical age"
    );
    let marked = ReadOptions {
        missing_markers: vec!["n/a".into()],
        missing: MissingPolicy::Drop,
        ..ReadOptions::default()
    };
    let table = read_with(&path, &marked).unwrap();
    assert_eq!((table.n_rows(), table.dropped_rows()), (15, 1));
    let categorical = ReadOptions {
        categorical: vec!["age".into()],
        ..ReadOptions::default()
    };
    assert_eq!(
        read_with(&path, &categorical)
            .unwrap()
            .category("age")
            .unwrap()
            .1
            .len(),
        16
    );
}

#[test]
fn lines_are_counted_through_quotes_blank_lines_and_carriage_returns() {
    let place = scratch();
    let rows = "t,v\n\"two\nlines\",1\n\nx,2\n\ny,oops\nz,3\n";
    let path = put(&place, "lf.csv", rows);
    assert!(message(&place, read(&path)).starts_with("lf.csv:7:2: column \"v\" expects a number"));
    let path = put(&place, "crlf.csv", rows.replace('\n', "\r\n"));
    assert!(
        message(&place, read(&path)).starts_with("crlf.csv:7:2: column \"v\" expects a number")
    );
    let path = put(&place, "end.csv", "v\n1\n2\n3\nx");
    assert!(message(&place, read(&path)).starts_with("end.csv:5:1: column \"v\""));
}

#[test]
fn a_later_truth_value_of_another_word_is_refused() {
    let place = scratch();
    let path = put(&place, "b.csv", "b\ntrue\nfalse\nmaybe so\n");
    let sampled = ReadOptions {
        sample_rows: 2,
        ..ReadOptions::default()
    };
    assert_eq!(
        message(&place, read_with(&path, &sampled)),
        "b.csv:4:1: column \"b\" expects true or false, found \"maybe so\"\n  \
         hint: name missing values with --missing-text \"maybe so\", or read the column as text with --categorical b"
    );
}

#[test]
fn the_sample_goes_on_until_every_column_has_shown_a_value() {
    let place = scratch();
    let path = put(&place, "late.csv", "a,b\n1,\n2,\n3,word\n");
    let options = ReadOptions {
        sample_rows: 1,
        ..keeping()
    };
    let table = read_with(&path, &options).unwrap();
    assert_eq!(table.category("b").unwrap().0, [MISSING, MISSING, 0]);
}

#[test]
fn delimiters_are_given_or_guessed() {
    let place = scratch();
    for (name, text) in [
        ("c.csv", "a,b\n1,2\n"),
        ("s.csv", "a;b\n1;2\n"),
        ("p.txt", "a|b\n1|2\n"),
        ("t.tsv", "a\tb\n1\t2\n"),
        ("bom.csv", "\u{feff}a,b\r\n1,2\r\n"),
    ] {
        let table = read(&put(&place, name, text)).unwrap();
        assert_eq!(
            (table.number("a").unwrap(), table.number("b").unwrap()),
            (&[1.0][..], &[2.0][..]),
            "{name}"
        );
    }
    let options = ReadOptions {
        delimiter: Some(b'~'),
        quote: Some(b'\''),
        ..ReadOptions::default()
    };
    let path = put(&place, "odd.csv", "a~b\n'x~y'~2\n");
    let table = read_with(&path, &options).unwrap();
    assert_eq!(*table.category("a").unwrap().1[0], *"x~y");
}

#[test]
fn without_a_header_columns_are_numbered() {
    let place = scratch();
    let path = put(&place, "h.csv", "1,x\n2,y\n");
    let options = ReadOptions {
        header: Header::Absent,
        ..ReadOptions::default()
    };
    let table = read_with(&path, &options).unwrap();
    assert_eq!(table.names(), ["column_1", "column_2"]);
    assert_eq!(table.number("column_1").unwrap(), [1.0, 2.0]);
    let table = read(&put(&place, "index.csv", ",x\n0,5\n")).unwrap();
    assert_eq!(table.names(), ["column_1", "x"]);
}

#[test]
fn compressed_text_reads_like_plain_text() {
    let place = scratch();
    let text = lines("a,g", 0..20_000, |row| format!("{row},level{}", row % 7));
    let plain = read(&put(&place, "a.csv", &text)).unwrap();
    let mut packer = flate2_pack(&text);
    let gz = read(&put(&place, "b.csv.gz", &packer)).unwrap();
    assert_eq!(gz, plain);
    let zst = zstd_pack(&text);
    assert_eq!(read(&put(&place, "c.csv.zst", &zst)).unwrap(), plain);
    packer.truncate(packer.len() / 2);
    let error = message(&place, read(&put(&place, "d.csv.gz", &packer)));
    assert!(error.starts_with("d.csv.gz: cannot read: "), "{error}");
    let error = message(&place, read(&put(&place, "e.csv.zst", &text)));
    assert!(error.starts_with("e.csv.zst: cannot read: "), "{error}");
}

fn flate2_pack(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn zstd_pack(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).unwrap()
}

#[test]
fn written_text_reads_back_the_same() {
    let place = scratch();
    let path = put(
        &place,
        "a.csv",
        "n,größe,b,\"q,\"\"\"\n1e300,ä,true,\"x\ny\"\n0.1,,false,\"\"\"\"\n-inf,日本,,z\n",
    );
    let table = read_with(&path, &keeping()).unwrap();
    let back = place.path().join("b.csv");
    table.write(&back).unwrap();
    assert_eq!(read_with(&back, &keeping()).unwrap(), table);
    assert_eq!(
        table.count_missing(),
        [("größe".to_string(), 1), ("b".into(), 1)]
    );
}

#[test]
fn progress_only_grows_and_ends_at_one() {
    let place = scratch();
    let text = lines("a", 0..50_000, |row| row.to_string());
    let path = put(&place, "a.csv", text);
    let mut seen: Vec<Progress> = Vec::new();
    let source = TableFiles::open_inputs(&[&path]).unwrap();
    source
        .read_table(&ReadOptions::default(), &mut |at| seen.push(at))
        .unwrap();
    assert!(seen.len() > 3);
    assert!(seen.is_sorted_by_key(|at| at.rows) && seen.is_sorted_by(|a, b| a.share <= b.share));
    assert_eq!(
        seen.last().map(|at| (at.rows, at.share)),
        Some((50_000, 1.0))
    );
}

#[test]
fn only_the_columns_asked_for_are_read() {
    let place = scratch();
    let path = put(&place, "a.csv", "a,b,c\n1,x,2\n");
    let options = |columns: &[&str]| ReadOptions {
        columns: Some(columns.iter().map(ToString::to_string).collect()),
        ..ReadOptions::default()
    };
    assert_eq!(
        read_with(&path, &options(&["c", "a"])).unwrap().names(),
        ["a", "c"]
    );
    assert_eq!(
        message(&place, read_with(&path, &options(&["A1"]))),
        "no column \"A1\" in the table\n  hint: did you mean \"a\"?"
    );
    assert!(
        message(&place, read_with(&path, &options(&[])))
            .starts_with("a.csv: expected at least one column")
    );
}
