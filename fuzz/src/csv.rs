//! Bytes as a CSV file.

use std::fs;

use lehr::table::{ReadOptions, TableFiles};

/// Reads bytes as a CSV file. A table that is read must have columns of one length.
///
/// # Panics
/// If that fails.
pub fn check_csv(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder for scratch files");
    let path = folder.path().join("any.csv");
    fs::write(&path, bytes).expect("a file in it");
    let Ok(files) = TableFiles::open_inputs(&[&path]) else {
        return;
    };
    if let Ok(table) = files.read_table(&ReadOptions::default(), &mut |_| ()) {
        assert!(!table.names().is_empty());
        let numbers = table
            .names()
            .iter()
            .filter_map(|name| table.number(name).ok());
        numbers.for_each(|column| assert_eq!(column.len(), table.n_rows()));
    }
}
