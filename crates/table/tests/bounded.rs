//! The memory for rows on disk does not grow with their number.
#![cfg(all(feature = "files", target_os = "linux"))]

use std::path::Path;

use lehr_table::{Kind, Provenance, ReadOptions, Shuffler, Sink, Table, TableFiles};

/// The peak memory of this process, in kilobytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn rows(range: std::ops::Range<u32>) -> Table {
    let width = 10;
    let values = (range.clone()).flat_map(|row| (0..width).map(move |at| f64::from(row * at)));
    let count = range.len();
    Table::new()
        .with_matrix("x", count, width as usize, values.collect())
        .unwrap()
}

fn write(path: &Path, total: u32) {
    let mut sink = Sink::create_file(path, &rows(0..1)).unwrap();
    for start in (0..total).step_by(5000) {
        sink.push_table(&rows(start..start + 5000)).unwrap();
    }
    sink.close_file().unwrap();
}

#[test]
fn converting_and_reading_forty_megabytes_takes_less_than_eight() {
    let place = tempfile::tempdir().unwrap();
    let arrow = place.path().join("in.arrow");
    write(&arrow, 500_000);
    let before = peak();
    let source = TableFiles::open_inputs(&[&arrow]).unwrap();
    let out = place.path().join("out.rows");
    let columns = vec![("x".to_string(), Kind::Matrix { width: 10 })];
    let mut shuffler = Shuffler::create(&out, columns, 1, 2 << 20).unwrap();
    source
        .scan_blocks(&ReadOptions::default(), &mut |batch, _| {
            shuffler.push_table(batch)
        })
        .unwrap();
    let shuffled = shuffler
        .into_rows(Provenance::default(), &mut |_| ())
        .unwrap();
    shuffled.verify_checksums().unwrap();
    let mut numbers = vec![0.0; 1000 * 10];
    for start in (0..shuffled.n_rows()).step_by(1000) {
        shuffled
            .copy_rows(start..start + 1000, &mut numbers)
            .unwrap();
    }
    let grown = peak() - before;
    assert_eq!(std::fs::metadata(&out).unwrap().len() / 1_000_000, 40);
    assert!(grown < 8 << 10, "grown by {grown} kB");
}
