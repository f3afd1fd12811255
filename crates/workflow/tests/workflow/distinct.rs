//! Files with few distinct rows: each distinct row is kept with its count, and nothing is read
//! again.

use std::path::Path;
use std::time::Instant;

use lehr_density::job::local_rows;

use super::sums::sums;
use lehr_infer::fit::Fit;
use lehr_infer::method::find;
use lehr_numeric::stream::Stream;
use lehr_table::{ReadOptions, Table, TableFiles};
use lehr_workflow::{BoundRegression, FileTable, StreamOptions};

use crate::cluster::{divided, means};
use crate::streamed::{asked, choice};

/// A table with only a few hundred distinct rows.
fn coarse(rows: usize) -> Table {
    let mut stream = Stream::new(31, "coarse table", 0);
    let mut below = |n: u32| -> Vec<u32> {
        let one = |_| (stream.uniform() * f64::from(n)) as u32;
        (0..rows).map(one).collect()
    };
    let (dose, kind, chance) = (below(5), below(3), below(1000));
    let trials: Vec<f64> = below(3).iter().map(|n| f64::from(4 + n)).collect();
    let share = |k: usize| 0.2 + 0.1 * f64::from(dose[k]) + 0.05 * f64::from(kind[k]);
    let drawn = |k: usize| f64::from(chance[k]) / 1000.0;
    let rank = |k: usize| f64::from(u8::from(drawn(k) < share(k)));
    let column = |of: &dyn Fn(usize) -> f64| (0..rows).map(of).collect::<Vec<f64>>();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let number = |table: Table, name: &str, of: &dyn Fn(usize) -> f64| {
        table.with_number(name, column(of)).unwrap()
    };
    let mut table = Table::new()
        .with_category("kind", kind.clone(), names)
        .unwrap();
    table = number(table, "dose", &|k| f64::from(dose[k]));
    table = number(table, "hit", &rank);
    table = number(table, "n", &|k| (4.0 * share(k) * drawn(k)).floor());
    table = number(table, "hits", &|k| {
        (trials[k] * share(k) * drawn(k)).floor()
    });
    table = number(table, "trials", &|k| trials[k]);
    number(table, "y", &|k| (10.0 * (share(k) + drawn(k))).round())
}

const MODELS: [(&str, Option<&str>); 4] = [
    ("hit ~ dose * kind", Some("bernoulli")),
    ("n ~ dose + kind", Some("poisson")),
    ("hits | trials(trials) ~ dose + kind", Some("binomial")),
    ("y ~ dose + kind", Some("gaussian")),
];

fn streamed(model: (&str, Option<&str>), files: &TableFiles, distinct: usize) -> BoundRegression {
    let options = ReadOptions::default();
    let table = FileTable::new(files, &options, &()).unwrap();
    let streaming = StreamOptions {
        memory: 0,
        methods: &[find("auto").unwrap()],
        sample: 4096,
        distinct,
        clock: Instant::now(),
    };
    let made = BoundRegression::streamed(&asked(model, files), &table, &streaming);
    made.unwrap().expect("it can be streamed")
}

fn written(rows: usize, folder: &Path) -> (Table, TableFiles) {
    let table = coarse(rows);
    let files = divided(&table, folder);
    (table, files)
}

fn near(one: &[Vec<f64>], other: &[Vec<f64>], rows: f64) {
    for (one, other) in one.iter().flatten().zip(other.iter().flatten()) {
        let off = (one - other).abs() / (other.abs() + rows);
        assert!(off < 1e-10, "{one} {other}");
    }
}

#[test]
fn sums_over_different_rows_are_those_over_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (table, files) = written(30_000, folder.path());
    for model in MODELS {
        let found = streamed(model, &files, StreamOptions::DISTINCT);
        assert!(found.ahead().unwrap().contains("no further pass"));
        let density = found.density();
        let whole = found.subject.regression().unwrap().bind(&table).unwrap();
        let there = sums(density, density.elsewhere().unwrap());
        let here = sums(&whole, &local_rows(&whole));
        near(&there, &here, 30_000.0);
    }
}

#[test]
fn a_fit_reads_the_files_once_and_is_that_of_all_passes() {
    let folder = tempfile::tempdir().unwrap();
    let (_, files) = written(60_000, folder.path());
    for model in MODELS {
        let fitted = |distinct: usize| {
            let found = streamed(model, &files, distinct);
            found.fit(Fit::default().seed(4)).unwrap()
        };
        let (once, passes) = (fitted(StreamOptions::DISTINCT), fitted(0));
        assert_eq!(
            choice(&once, "passes"),
            "1 over all rows: 1 to learn from, 0 to fit"
        );
        assert!(choice(&once, "rows").contains("different ones, each in memory"));
        assert!(!choice(&passes, "passes").contains(" 0 to fit"));
        assert_eq!(once.posterior.origin.rows, 60_000);
        for ((name, mean, sd), (_, all, all_sd)) in means(&once).iter().zip(means(&passes)) {
            // The sums differ by rounding errors, and the search for the mode ends within its
            // tolerance.
            let off = ((mean - all).abs() / all_sd).max((sd / all_sd - 1.0).abs());
            assert!(
                off < 1e-5,
                "{model:?}: {name} is off by {off} standard deviations"
            );
        }
    }
}

#[test]
fn rows_that_all_differ_are_read_in_passes() {
    let folder = tempfile::tempdir().unwrap();
    let (_, files) = written(12_000, folder.path());
    // There are 30 distinct rows, more than may be kept.
    let found = streamed(MODELS[0], &files, 29);
    assert!(found.ahead().unwrap().contains("passes over all"));
    assert!(
        streamed(MODELS[0], &files, 30)
            .ahead()
            .unwrap()
            .contains("no further pass")
    );
}
