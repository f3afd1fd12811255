//! The one door from a formula and a table to a model: where rows are, and how often files are read.

use std::time::Instant;

use lehr_infer::fit::Fit;
use lehr_infer::method::find;
use lehr_table::{ReadOptions, TableFiles};
use lehr_workflow::{BoundRegression, Error, OpenRequest, TableInput, open};

use crate::cluster::{divided, table};
use crate::streamed::asked;

/// The model of some files with so much memory; rows beyond that go to `rows.lehr` in the same folder.
fn opened(
    formula: &str,
    files: &TableFiles,
    memory: u64,
) -> (Result<BoundRegression, Error>, Option<std::path::PathBuf>) {
    let folder = files.paths().next().unwrap().parent().unwrap().to_owned();
    let mut named = None;
    let opening = OpenRequest {
        options: &ReadOptions::default(),
        memory,
        methods: &[find("auto").unwrap()],
        observer: &(),
        clock: Instant::now(),
    };
    let specification = asked((formula, None), files);
    let bound = open(
        &specification,
        &TableInput::Files(files),
        &opening,
        &mut || Ok(named.insert(folder.join("rows.lehr")).clone()),
    );
    (bound, named)
}

#[test]
fn a_text_file_is_opened_at_most_twice_by_a_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    table(400).write(&path).unwrap();
    let files = TableFiles::open_inputs(&[&path]).unwrap();
    let (bound, rows) = opened("y ~ x + color", &files, 1 << 30);
    let saved = bound.unwrap().fit(Fit::default().seed(1)).unwrap();
    assert_eq!((saved.posterior.n_draws() > 0, rows), (true, None));
    assert!(files.reads()[0].opened <= 2, "{:?}", files.reads());
}

#[test]
fn a_footer_is_parsed_once_by_a_fit_that_reads_parts_for_every_pass() {
    let folder = tempfile::tempdir().unwrap();
    let files = divided(&table(30_000), folder.path());
    let (bound, rows) = opened("hit ~ x + z + color", &files, 0);
    let bound = bound.unwrap();
    assert!(
        bound.ahead().is_some() && rows.is_none(),
        "rows stay in files"
    );
    bound.fit(Fit::default().seed(1)).unwrap();
    for reads in files.reads() {
        assert!(reads.opened > 3 && reads.parsed_footers == 1, "{reads:?}");
    }
}

#[test]
fn rows_that_neither_fit_nor_stay_go_to_disk_and_not_to_every_method() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    table(400).write(&path).unwrap();
    let files = TableFiles::open_inputs(&[&path]).unwrap();
    let (bound, rows) = opened("hit ~ x", &files, 0);
    assert!(rows.is_some_and(|rows| rows.exists()));
    let refusal = bound.unwrap().fit(Fit::named("nuts").unwrap());
    let refusal = refusal.map(|_| ()).unwrap_err().to_string();
    assert!(
        refusal.contains("nuts: expected rows in memory, found 400 on disk"),
        "{refusal}"
    );
}
