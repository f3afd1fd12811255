//! Regressions on files that are read again for every pass, compared with the same rows in memory.

use std::path::Path;
use std::time::Instant;

use lehr_density::Density;
use lehr_density::job::{HessianProducts, LogLikelihood, local_rows};
use lehr_rows::fold;

use super::sums::{gradient, sums};
use lehr_infer::fit::Fit;
use lehr_infer::method::find;
use lehr_numeric::stream::Stream;
use lehr_regression::Specification;
use lehr_table::{MissingPolicy, ReadOptions, Table, TableError, TableFiles};
use lehr_workflow::cluster::{ClusterDraft, Partition, RowStorage, Tasks, Workers};
use lehr_workflow::{BoundRegression, Error, FileTable, SavedFit, StreamOptions};

use crate::cluster::{divided, means, table};

/// The model on these files, whatever their size.
fn streamed(
    formula: (&str, Option<&str>),
    files: &TableFiles,
    options: &ReadOptions,
    sample: usize,
) -> Result<Option<BoundRegression>, Error> {
    let table = FileTable::new(files, options, &())?;
    let streaming = StreamOptions {
        memory: 0,
        methods: &[find("auto").unwrap()],
        sample,
        distinct: StreamOptions::DISTINCT,
        clock: Instant::now(),
    };
    BoundRegression::streamed(&asked(formula, files), &table, &streaming)
}

pub(crate) fn asked((formula, family): (&str, Option<&str>), files: &TableFiles) -> Specification {
    let fields = files.read_schema(&ReadOptions::default()).unwrap();
    let names: Vec<String> = fields.into_iter().map(|field| field.name).collect();
    let parsed = Specification::parse(formula, &names).unwrap();
    match family {
        Some(family) => parsed.with_family(family.parse().unwrap()),
        None => parsed,
    }
}

pub(crate) fn choice<'s>(saved: &'s SavedFit, name: &str) -> &'s str {
    let mut choices = saved.posterior.choices.iter();
    let found = choices.find(|(known, _)| known == name);
    found.map_or("", |(_, words)| words.as_str())
}

const MODELS: [(&str, Option<&str>); 4] = [
    ("hit ~ x + z + color", None),
    ("y ~ x * color + far", Some("student")),
    ("n ~ x + log(z * z + 1)", Some("poisson")),
    ("y ~ x + z + far", None),
];

#[test]
fn sums_over_files_are_those_over_rows_in_memory() {
    let (table, folder) = (table(30_000), tempfile::tempdir().unwrap());
    let files = divided(&table, folder.path());
    for model in MODELS {
        let found = streamed(model, &files, &ReadOptions::default(), 5000);
        let found = found.unwrap().expect("it can be streamed");
        let (density, whole) = (
            found.density(),
            found.subject.regression().unwrap().bind(&table).unwrap(),
        );
        assert_eq!((density.n_rows(), density.total_rows()), (5000, 30_000));
        let there = sums(density, density.elsewhere().unwrap());
        let here = sums(&whole, &local_rows(&whole));
        for (one, other) in there.iter().flatten().zip(here.iter().flatten()) {
            let off = (one - other).abs();
            assert!(off < 1e-9 * (other.abs() + 30_000.0), "{one} {other}");
        }
    }
}

/// Whether the coefficients of two fits differ by at most this share of their standard deviations.
fn alike(one: &SavedFit, other: &SavedFit, most: f64) {
    for (one, other) in means(one).iter().zip(means(other)) {
        assert_eq!(one.0, other.0);
        let (off, ratio) = ((one.1 - other.1).abs() / other.2, one.2 / other.2);
        let name = &one.0;
        assert!(
            off < most,
            "{name}: means differ by {off} standard deviations"
        );
        assert!(
            (ratio - 1.0).abs() < most,
            "{name}: standard deviations in a ratio of {ratio}"
        );
    }
}

#[test]
fn a_fit_from_files_is_that_of_rows_in_memory_and_takes_few_passes() {
    let (table, folder) = (table(60_000), tempfile::tempdir().unwrap());
    let files = divided(&table, folder.path());
    let fit = || Fit::default().seed(3).draws(2000);
    for (model, passes) in [
        (MODELS[0], "7 over all rows: 1 to learn from, 6 to fit"),
        (MODELS[2], "6 over all rows: 1 to learn from, 5 to fit"),
        (MODELS[3], "2 over all rows: 1 to learn from, 1 to fit"),
    ] {
        let found = streamed(model, &files, &ReadOptions::default(), 8192);
        let saved = found.unwrap().unwrap().fit(fit()).unwrap();
        let here = BoundRegression::new(&asked(model, &files), &table, Instant::now());
        let whole = here.unwrap().fit(fit()).unwrap();
        // 2,000 draws determine a mean to 0.022 standard deviations, and a standard deviation to
        // 0.016.
        alike(&saved, &whole, 0.1);
        assert_eq!(choice(&saved, "passes"), passes, "{model:?}");
        let rows = choice(&saved, "rows");
        assert!(rows.starts_with("60000 in the files"), "{rows}");
    }
}

/// A table with effects of sites and of pairs of site and color.
pub(crate) fn grouped(rows: usize) -> Table {
    let plain = table(rows);
    let mut stream = Stream::new(17, "grouped", 0);
    let y = plain.number("y").unwrap().to_vec();
    let x = plain.number("x").unwrap().to_vec();
    let noise: Vec<f64> = (0..700).map(|_| stream.normal()).collect();
    let code: Vec<u32> = (0..rows).map(|k| (k * 31 % 700) as u32).collect();
    let effect = |k: usize| {
        let own = noise[code[k] as usize];
        2.0 * own + (0.5 * own + noise[(code[k] as usize + 350) % 700]) * x[k]
    };
    let y = (0..rows).map(|k| y[k] + effect(k)).collect();
    let levels = (0..700).map(|k| format!("shop {k}")).collect();
    plain
        .with_number("sales", y)
        .and_then(|table| table.with_category("shop", code, levels))
        .unwrap()
}

#[test]
fn effects_by_group_are_fitted_from_files_in_two_passes() {
    let (table, folder) = (grouped(60_000), tempfile::tempdir().unwrap());
    let files = divided(&table, folder.path());
    let fit = || Fit::default().seed(3).draws(2000);
    // With 11 levels all latents could be condensed, with 700 not.
    for formula in [
        "sales ~ z + (1 + x | shop) + (1 | site)",
        "y ~ x + z + (1 | site) + (1 | site:color)",
    ] {
        let model = (formula, None);
        let found = streamed(model, &files, &ReadOptions::default(), 8192);
        let saved = found.unwrap().unwrap().fit(fit()).unwrap();
        let here = BoundRegression::new(&asked(model, &files), &table, Instant::now());
        let whole = here.unwrap().fit(fit()).unwrap();
        assert!(saved.is_trusted(), "{}", saved.verdict().sentence);
        assert_eq!(saved.posterior.origin.method.name, "collapse");
        assert_eq!(saved.posterior.origin.rows, 60_000);
        // The same sums, points and random numbers.
        alike(&saved, &whole, 1e-4);
        let passes = "2 over all rows: 1 to learn from, 1 to fit";
        assert_eq!(choice(&saved, "passes"), passes, "{formula}");
    }
}

#[test]
fn threads_do_not_change_a_bit_of_effects_by_group() {
    let (table, folder) = (grouped(20_000), tempfile::tempdir().unwrap());
    let files = divided(&table, folder.path());
    let model = ("sales ~ z + (1 + x | shop)", None);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let found = streamed(model, &files, &ReadOptions::default(), 5000);
            let fit = found.unwrap().unwrap().fit(Fit::default().seed(1));
            fit.unwrap().posterior.draws
        })
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn threads_do_not_change_a_bit() {
    let (table, folder) = (table(20_000), tempfile::tempdir().unwrap());
    let files = divided(&table, folder.path());
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let found = streamed(MODELS[0], &files, &ReadOptions::default(), 5000);
            let found = found.unwrap().unwrap();
            let z = vec![0.1; found.density().latents().size()];
            let density = found.density();
            let sums = gradient(density, density.elsewhere().unwrap(), &z);
            (
                sums,
                found.fit(Fit::default().seed(1)).unwrap().posterior.draws,
            )
        })
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn levels_that_come_late_are_learnt() {
    let folder = tempfile::tempdir().unwrap();
    let n = 20_000;
    let mut stream = Stream::new(4, "late levels", 0);
    let x: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
    let kind: Vec<u32> = (0..n)
        .map(|k| u32::from(k >= 19_000) + u32::from(k % 3 == 0))
        .collect();
    let hit: Vec<f64> = (0..n)
        .map(|k| f64::from(stream.uniform() < 0.3 + 0.2 * f64::from(kind[k])))
        .collect();
    let names = ["a", "b", "c"].map(str::to_owned).to_vec();
    let table = Table::new().with_number("x", x).unwrap();
    let table = table.with_category("kind", kind, names).unwrap();
    let table = table.with_number("hit", hit).unwrap();
    let files = divided(&table, folder.path());
    let model = ("hit ~ x + kind", None);
    let found = streamed(model, &files, &ReadOptions::default(), 8192);
    let saved = found.unwrap().unwrap().fit(Fit::default().seed(5)).unwrap();
    assert!(choice(&saved, "passes").contains("2 to learn from"));
    let here = BoundRegression::new(&asked(model, &files), &table, Instant::now());
    alike(
        &saved,
        &here.unwrap().fit(Fit::default().seed(5)).unwrap(),
        0.15,
    );
}

fn with_gaps(folder: &Path) -> (Table, TableFiles) {
    let whole = table(9000);
    let mut x = whole.number("x").unwrap().to_vec();
    for row in (0..9000).step_by(10) {
        x[row] = f64::NAN;
    }
    let mut gaps = whole;
    gaps.replace("x", lehr_table::Column::Number(x)).unwrap();
    let files = divided(&gaps, folder);
    (gaps, files)
}

#[test]
fn rows_with_gaps_are_counted_in_all_parts_or_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (gaps, files) = with_gaps(folder.path());
    let refused = streamed(MODELS[0], &files, &ReadOptions::default(), 5000);
    let words = refused.err().expect("gaps are refused").to_string();
    assert!(
        words.contains("x (900)") || words.contains("900"),
        "{words}"
    );
    let options = ReadOptions {
        missing: MissingPolicy::Drop,
        ..ReadOptions::default()
    };
    let found = streamed(MODELS[0], &files, &options, 5000)
        .unwrap()
        .unwrap();
    assert_eq!(
        (found.dropped_rows, found.density().total_rows()),
        (900, 8100)
    );
    let whole = found
        .subject
        .regression()
        .unwrap()
        .bind(&gaps.drop_missing())
        .unwrap();
    let z = vec![0.2; whole.latents().size()];
    let density = found.density();
    let all = gradient(density, density.elsewhere().unwrap(), &z);
    let here = gradient(&whole, &local_rows(&whole), &z);
    assert!((all[0] - here[0]).abs() < 1e-8 * here[0].abs());
}

#[test]
fn what_a_sample_and_passes_do_not_serve_is_left_to_others() {
    let (table, folder) = (table(3000), tempfile::tempdir().unwrap());
    let files = divided(&table, folder.path());
    for (formula, family) in [
        ("y ~ s(x)", "gaussian"),
        ("y ~ mo(color) + x", "gaussian"),
        ("y ~ x + (1 | site)", "student"),
        ("hit ~ x + (1 | site)", "bernoulli"),
    ] {
        let asked = (formula, Some(family));
        let found = streamed(asked, &files, &ReadOptions::default(), 5000);
        assert!(found.is_ok_and(|found| found.is_none()), "{formula}");
    }
    let specification = asked(MODELS[0], &files);
    let options = ReadOptions::default();
    let table = FileTable::new(&files, &options, &()).unwrap();
    for (memory, method) in [(0, "nuts"), (1 << 30, "auto")] {
        let streaming = StreamOptions {
            memory,
            methods: &[find(method).unwrap()],
            sample: 5000,
            distinct: 5000,
            clock: Instant::now(),
        };
        let found = BoundRegression::streamed(&specification, &table, &streaming);
        assert!(found.is_ok_and(|found| found.is_none()), "{method}");
    }
}

#[test]
fn a_file_that_vanishes_is_named() {
    let (table, folder) = (table(6000), tempfile::tempdir().unwrap());
    let files = divided(&table, folder.path());
    let found = streamed(MODELS[0], &files, &ReadOptions::default(), 5000);
    std::fs::remove_file(folder.path().join("part-3.parquet")).unwrap();
    let error = found.unwrap().unwrap().fit(Fit::default()).err().unwrap();
    assert!(error.to_string().contains("part-3.parquet"), "{error}");
}

/// Seconds of processor time that this process has used.
fn spent() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(") ").next().unwrap_or_default();
    let ticks = |place: usize| -> f64 {
        let field = after.split(' ').nth(place);
        field.and_then(|one| one.parse().ok()).unwrap_or(f64::NAN)
    };
    (ticks(11) + ticks(12)) / 100.0
}

/// Removes the files of a folder from the page cache if this is requested, so that they are read
/// from the disk.
fn forget(folder: &str) {
    if std::env::var_os("LEHR_COLD").is_none() {
        return;
    }
    for file in std::fs::read_dir(folder).unwrap() {
        let named = format!("if={}", file.unwrap().path().display());
        let mut dd = std::process::Command::new("dd");
        let done = dd.args([&named, "iflag=nocache", "count=0", "status=none"]);
        assert!(done.status().unwrap().success(), "{named}");
    }
}

/// The time of a pass compared with the time to read the same columns, in turns: a table of
/// lab/results.
#[test]
#[ignore = "prints a table: LEHR_TABLE is a folder of lab/scale/table.py; with LEHR_COLD it is read from the disk"]
fn a_pass_beside_reading_alone() {
    let folder = std::env::var("LEHR_TABLE").unwrap();
    let files = TableFiles::open_inputs(&[&folder]).unwrap();
    let terms: Vec<String> = (1..10).map(|k| format!("x{k}")).collect();
    let formula = format!("y ~ {}", terms.join(" + "));
    let began = spent();
    let found = streamed(
        (&formula, Some("bernoulli")),
        &files,
        &ReadOptions::default(),
        1 << 16,
    );
    println!("learn {:.2} s", spent() - began);
    let found = found.unwrap().unwrap();
    let density = found.density();
    let rows = density.elsewhere().unwrap();
    let size = density.latents().size();
    let mut best = [(f64::INFINITY, f64::INFINITY); 4];
    for turn in 1..4 {
        // Repeated queries are answered from memory.
        let z = vec![0.01 * f64::from(turn); size];
        let many = vec![0.01 * f64::from(turn); 16 * size];
        let read = || {
            let each = &mut |_, _| Ok::<(), TableError>(());
            drop(files.scan_blocks(&ReadOptions::default(), each).unwrap());
        };
        let curved = HessianProducts::new(density, (&z, &[]), &many[..size * size]);
        let values = LogLikelihood::new(density, &many, &[]);
        let work: [&dyn Fn(); 4] = [
            &read,
            &|| drop(gradient(density, rows, &z)),
            &|| drop(fold(rows, &curved).unwrap()),
            &|| drop(fold(rows, &values).unwrap()),
        ];
        for (best, work) in best.iter_mut().zip(work) {
            forget(&folder);
            let (began, clock) = (spent(), Instant::now());
            work();
            best.0 = best.0.min(spent() - began);
            best.1 = best.1.min(clock.elapsed().as_secs_f64());
        }
    }
    let total = found.density().total_rows() as f64;
    for (name, (spent, passed)) in ["read", "slopes", "curvature", "16 draws"].iter().zip(best) {
        let (each, share) = (1e9 * spent / total, 100.0 * best[0].0 / spent);
        let (clock, by_clock) = (1e9 * passed / total, 100.0 * best[0].1 / passed);
        println!(
            "{name}: {each:.0} ns of a processor a row, {share:.0} % of the speed of reading; \
             {clock:.0} ns by the clock, {by_clock:.0} %"
        );
    }
}

/// Workers that read their rows again for every task.
struct Reading {
    parts: Vec<std::sync::Mutex<Partition>>,
    model: std::sync::Mutex<Option<Vec<u8>>>,
}

impl Workers for Reading {
    fn partitions(&self) -> usize {
        self.parts.len()
    }

    fn bind(&self, model: &[u8]) -> Result<(), String> {
        *self.model.lock().unwrap() = Some(model.to_vec());
        Ok(())
    }

    fn answer(&self, tasks: Tasks<'_>) -> Result<Vec<Vec<u8>>, String> {
        let model = self.model.lock().unwrap();
        let parts = self.parts.iter().enumerate();
        let answers = parts.map(|(k, part)| {
            let mut part = part.lock().unwrap();
            part.answer(model.as_deref(), tasks.of(k))
        });
        answers
            .collect::<Result<_, _>>()
            .map_err(|error: Error| error.to_string())
    }
}

#[test]
fn workers_that_do_not_keep_their_rows_give_the_same_fit() {
    let (table, folder) = (table(12_000), tempfile::tempdir().unwrap());
    let files = divided(&table, folder.path());
    let fitted = |keeping: RowStorage| {
        let parts = files.split_parts(1 << 20).unwrap().into_iter().map(|part| {
            let partition = Partition::new(part, ReadOptions::default());
            std::sync::Mutex::new(partition.keeping(keeping))
        });
        let workers = Reading {
            parts: parts.collect(),
            model: std::sync::Mutex::default(),
        };
        let draft = ClusterDraft {
            specification: &asked(MODELS[0], &files),
            fields: files.read_schema(&ReadOptions::default()).unwrap(),
            sample: 5000,
            seed: 5,
            clock: Instant::now(),
        };
        let found = draft.learn(std::sync::Arc::new(workers)).unwrap();
        found.fit(Fit::default().seed(2)).unwrap()
    };
    let (kept, read) = (fitted(RowStorage::Memory), fitted(RowStorage::Files));
    // The same sample and the same draws: the only differences are rounding errors.
    alike(&read, &kept, 1e-4);
}
