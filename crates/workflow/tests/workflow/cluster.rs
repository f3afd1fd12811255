//! Regressions on tables that are divided among workers, here within one process.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use lehr_density::Density;
use lehr_density::job::local_rows;

use super::sums::{gradient, sums};
use lehr_infer::fit::Fit;
use lehr_numeric::stream::Stream;
use lehr_regression::{Groups, Specification};
use lehr_table::{ReadOptions, Table, TableFiles};
use lehr_workflow::cluster::{ClusterDraft, ClusterRegression, Partition, Tasks, Workers};
use lehr_workflow::{BoundRegression, Error, SavedFit};
use serde_json::Value;

use crate::streamed::grouped;

/// Workers that forget everything after each answer, as if each had been lost and replaced.
struct Forgetful {
    parts: Vec<lehr_table::Part>,
    model: Mutex<Option<Vec<u8>>>,
}

/// Workers that keep their rows.
struct Steady {
    parts: Vec<Mutex<Partition>>,
    model: Mutex<Option<Vec<u8>>>,
}

impl Workers for Forgetful {
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
        let answer = |(k, part): (usize, &lehr_table::Part)| {
            let mut made = Partition::new(part.clone(), ReadOptions::default());
            let answer = made.answer(model.as_deref(), tasks.of(k));
            answer.map_err(|error| error.to_string())
        };
        parts.map(answer).collect()
    }
}

impl Workers for Steady {
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
        let answer = |(k, part): (usize, &Mutex<Partition>)| {
            let answer = (part.lock().unwrap()).answer(model.as_deref(), tasks.of(k));
            answer.map_err(|error| error.to_string())
        };
        parts.map(answer).collect()
    }
}

/// Rows with numbers, text, counts and truth values.
pub(crate) fn table(rows: usize) -> Table {
    let mut stream = Stream::new(11, "cluster table", 0);
    let mut normal =
        |scale: f64| -> Vec<f64> { (0..rows).map(|_| scale * stream.normal()).collect() };
    let (x, z) = (normal(1.0), normal(3.0));
    let far: Vec<f64> = normal(0.5).iter().map(|value| value + 1e4).collect();
    let noise = normal(1.0);
    let site: Vec<u32> = (0..rows).map(|k| (k * 7 % 11) as u32).collect();
    let color: Vec<u32> = (0..rows).map(|k| (k / 5 % 7).min(2) as u32).collect();
    let predictor = |k: usize| 0.5 + 0.8 * x[k] - 0.3 * z[k] / 3.0 + 0.1 * f64::from(color[k]);
    let y: Vec<f64> = (0..rows)
        .map(|k| 40.0 + 3.0 * predictor(k) + noise[k])
        .collect();
    let mut uniform = Stream::new(12, "cluster table", 0);
    let hit = |k: usize| uniform.uniform() < 1.0 / (1.0 + (-predictor(k)).exp());
    let hit: Vec<f64> = (0..rows)
        .map(hit)
        .map(|hit| f64::from(u8::from(hit)))
        .collect();
    let count: Vec<f64> = (0..rows)
        .map(|k| (predictor(k) + 2.0 + noise[k]).max(0.0).floor())
        .collect();
    let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
    Table::new()
        .with_number("x", x)
        .and_then(|table| table.with_number("z", z))
        .and_then(|table| table.with_number("far", far))
        .and_then(|table| table.with_category("color", color, names("red green blue")))
        .and_then(|table| table.with_category("site", site, names("a b c d e f g h i j k")))
        .and_then(|table| table.with_number("y", y))
        .and_then(|table| table.with_number("hit", hit))
        .and_then(|table| table.with_number("n", count))
        .unwrap()
}

/// Writes the rows to files of unequal length.
pub(crate) fn divided(table: &Table, folder: &Path) -> TableFiles {
    let n = table.n_rows();
    let cuts = [0, n / 7, n / 7 + 1, n / 2, n - 3, n];
    for (k, pair) in cuts.windows(2).enumerate() {
        let rows: Vec<usize> = (pair[0]..pair[1]).collect();
        let path = folder.join(format!("part-{k}.parquet"));
        table.select_rows(&rows).write(path).unwrap();
    }
    TableFiles::open_inputs(&[folder]).unwrap()
}

fn draft<'a>(files: &TableFiles, specification: &'a Specification) -> ClusterDraft<'a> {
    ClusterDraft {
        specification,
        fields: files.read_schema(&ReadOptions::default()).unwrap(),
        sample: 8192,
        seed: 5,
        clock: Instant::now(),
    }
}

fn steady(files: &TableFiles) -> Arc<Steady> {
    let parts = files.split_parts(1 << 20).unwrap().into_iter();
    let parts = parts.map(|part| Mutex::new(Partition::new(part, ReadOptions::default())));
    Arc::new(Steady {
        parts: parts.collect(),
        model: Mutex::default(),
    })
}

fn asked(formula: &str, family: &str, table: &Table) -> Specification {
    let parsed = Specification::parse(formula, table.names()).unwrap();
    parsed.with_family(family.parse().unwrap())
}

fn learnt(
    formula: &str,
    family: &str,
    table: &Table,
    folder: &Path,
) -> Result<ClusterRegression, Error> {
    let files = divided(table, folder);
    let specification = asked(formula, family, table);
    draft(&files, &specification).learn(steady(&files))
}

/// Refuses numbers that differ by more than rounding errors, and any other difference.
fn same(one: &Value, other: &Value, at: &str) {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            let scale = a.abs().max(b.abs()).max(1.0);
            assert!((a - b).abs() <= 1e-10 * scale, "{at}: {a} and {b}");
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{at}");
            let pairs = a.iter().zip(b).enumerate();
            pairs.for_each(|(k, (a, b))| same(a, b, &format!("{at}[{k}]")));
        }
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{at}");
            let pairs = a.iter().zip(b.values());
            pairs.for_each(|((key, a), b)| same(a, b, &format!("{at}.{key}")));
        }
        // Numbers in text have at most six digits, the last of which may be rounded differently.
        (Value::String(a), Value::String(b)) if at.contains("priors") => {
            assert!(a.len().abs_diff(b.len()) < 12, "{at}: {a} and {b}");
        }
        (a, b) => assert_eq!(a, b, "{at}"),
    }
}

#[test]
fn what_partitions_learn_is_what_the_table_tells() {
    let table = table(3000);
    for (formula, family) in [
        ("y ~ x + z + far + color", "gaussian"),
        ("y ~ 0 + x * color + poly(far, 3) + scale(z)", "gaussian"),
        ("hit ~ x + C(n) + center(far) + offset(x)", "bernoulli"),
        ("n ~ x + (1 + z | site) + offset(log(far))", "poisson"),
        ("color ~ x + z", "categorical"),
        ("n ~ x + I(2 * x) + z", "negbinomial"),
        ("y ~ (1 | site:color)", "student"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let found = learnt(formula, family, &table, folder.path());
        let found = found.unwrap_or_else(|error| panic!("{formula}: {error}"));
        let files = TableFiles::open_inputs(&[folder.path()]).unwrap();
        let read = files
            .read_table(&ReadOptions::default(), &mut |_| ())
            .unwrap();
        let local = asked(formula, family, &table).learn(&read).unwrap();
        let as_json = |one| serde_json::to_value(one).unwrap();
        same(&as_json(found.regression()), &as_json(&local), formula);
    }
}

#[test]
fn a_family_is_guessed_from_all_partitions() {
    let table = table(300);
    let folder = tempfile::tempdir().unwrap();
    let files = divided(&table, folder.path());
    let specification = Specification::parse("hit ~ x", table.names()).unwrap();
    let found = draft(&files, &specification).learn(steady(&files)).unwrap();
    assert_eq!(found.regression().family().name(), "bernoulli");
    let specification = Specification::parse("n ~ x", table.names()).unwrap();
    let refused = draft(&files, &specification).learn(steady(&files));
    let refused = refused.err().expect("whole numbers").to_string();
    assert!(
        refused.contains("expected a family to be named"),
        "{refused}"
    );
}

#[test]
fn sums_over_partitions_are_those_over_the_table() {
    let table = table(20_000);
    let folder = tempfile::tempdir().unwrap();
    let found = learnt("hit ~ x + z + color", "bernoulli", &table, folder.path()).unwrap();
    let density = found.density();
    assert_eq!((density.n_rows(), density.total_rows()), (8192, 20_000));
    let bound = found.regression().bind(&table).unwrap();
    let there = sums(density, density.elsewhere().unwrap());
    let here = sums(&bound, &local_rows(&bound));
    for (a, b) in there.iter().flatten().zip(here.iter().flatten()) {
        assert!((a - b).abs() <= 1e-11 * b.abs().max(1.0), "{a} and {b}");
    }
}

#[test]
fn rows_of_the_sample_stand_for_all_rows() {
    let table = table(20_000);
    let folder = tempfile::tempdir().unwrap();
    let found = learnt("hit ~ x + z + color", "bernoulli", &table, folder.path()).unwrap();
    let density = found.density();
    let z = super::point(density.latents().size());
    let here = gradient(density, &local_rows(density), &z)[0];
    let there = gradient(density, density.elsewhere().unwrap(), &z)[0];
    // The log likelihood of a row varies by about 0.4, and the estimate from 8,192 of 20,000 rows
    // by 0.4 · 20,000 · √((1 − 0.41)/8192) = 68.
    assert!((here - there).abs() < 4.0 * 68.0, "{here} and {there}");
}

#[test]
fn it_does_not_matter_who_answers() {
    let table = table(5000);
    let folder = tempfile::tempdir().unwrap();
    let files = divided(&table, folder.path());
    let specification = asked("hit ~ x + z + color", "bernoulli", &table);
    let forgetful = Forgetful {
        parts: files.split_parts(1 << 20).unwrap(),
        model: Mutex::default(),
    };
    let fits = [steady(&files) as Arc<dyn Workers>, Arc::new(forgetful)].map(|workers| {
        let made = draft(&files, &specification).learn(workers).unwrap();
        made.fit(Fit::named("full-rank").unwrap().seed(3)).unwrap()
    });
    assert_eq!(fits[0].posterior.draws, fits[1].posterior.draws);
    assert_eq!(fits[0].posterior.evidence, fits[1].posterior.evidence);
}

/// Means of coefficients with their standard deviations.
pub(crate) fn means(fit: &SavedFit) -> Vec<(String, f64, f64)> {
    let all = fit.coefficients(Groups::Leave).into_iter();
    all.map(|one| {
        (
            one.name.clone(),
            one.best_summary().mean,
            one.best_summary().sd,
        )
    })
    .collect()
}

#[test]
fn a_sample_of_a_fifth_fits_like_all_rows() {
    let table = table(40_000);
    let folder = tempfile::tempdir().unwrap();
    let found = learnt("hit ~ x + z + color", "bernoulli", &table, folder.path()).unwrap();
    let specification = asked("hit ~ x + z + color", "bernoulli", &table);
    let local = BoundRegression::new(&specification, &table, Instant::now()).unwrap();
    let local = means(&local.fit(Fit::named("full-rank").unwrap().seed(1)).unwrap());
    for method in [
        "full-rank",
        "mean-field",
        "surrogate-hmc",
        "sl-dais",
        "auto",
    ] {
        let fit = found.fit(Fit::named(method).unwrap().seed(1)).unwrap();
        assert!(fit.is_trusted(), "{method}: {}", fit.verdict().sentence);
        assert_eq!(fit.posterior.origin.rows, 40_000);
        for ((name, mean, sd), (_, all, all_sd)) in means(&fit).iter().zip(&local) {
            // A thousand draws determine a mean to 0.03 sd and a standard deviation to 2 %.
            assert!(
                (mean - all).abs() < 0.15 * all_sd,
                "{method}: {name} {mean} {all}"
            );
            assert!(
                (sd / all_sd - 1.0).abs() < 0.12,
                "{method}: {name} {sd} {all_sd}"
            );
        }
    }
}

/// A few chains for which the workers compute every gradient.
fn nuts() -> Fit<'static> {
    let fit = Fit::named("nuts").unwrap().seed(1).draws(600);
    fit.set("chains", "3")
        .and_then(|fit| fit.set("warm-up", "150"))
        .unwrap()
}

#[test]
fn chains_that_ask_for_every_gradient_draw_from_the_posterior_of_all_rows() {
    let table = table(12_000);
    let folder = tempfile::tempdir().unwrap();
    // The second formula has group effects, whose standard deviation an expansion at a mode cannot
    // determine.
    for formula in ["hit ~ x + z + color", "hit ~ x + (1 | site)"] {
        let found = learnt(formula, "bernoulli", &table, folder.path()).unwrap();
        let specification = asked(formula, "bernoulli", &table);
        let local = BoundRegression::new(&specification, &table, Instant::now()).unwrap();
        let [there, here] = [found.fit(nuts()), local.fit(nuts())].map(Result::unwrap);
        let pairs = means(&there).into_iter().zip(means(&here));
        for ((name, mean, sd), (_, all, all_sd)) in pairs {
            // The sites do not differ, and few draws determine a standard deviation near 0 poorly.
            if name.starts_with("sd(") {
                continue;
            }
            // 600 draws in either fit determine a mean to 0.08 sd if each counts as half a draw.
            // The posterior of the sample alone is about 0.7 sd away.
            let away = (mean - all).abs() / all_sd;
            assert!(away < 0.35, "{formula}: {name} {mean} {all} ± {all_sd}");
            assert!((sd / all_sd - 1.0).abs() < 0.3, "{name} {sd} {all_sd}");
        }
    }
}

#[test]
fn effects_by_group_are_integrated_out_from_what_workers_sum() {
    let (table, folder) = (grouped(30_000), tempfile::tempdir().unwrap());
    let formula = "sales ~ z + (1 + x | shop) + (1 | site)";
    let found = learnt(formula, "gaussian", &table, folder.path()).unwrap();
    let specification = asked(formula, "gaussian", &table);
    let local = BoundRegression::new(&specification, &table, Instant::now()).unwrap();
    let local = local.fit(Fit::default().seed(1)).unwrap();
    for method in ["auto", "collapse"] {
        let fit = found.fit(Fit::named(method).unwrap().seed(1)).unwrap();
        assert!(fit.is_trusted(), "{method}: {}", fit.verdict().sentence);
        assert_eq!(fit.posterior.origin.rows, 30_000);
        for ((name, mean, sd), (_, all, all_sd)) in means(&fit).iter().zip(means(&local)) {
            // The same sums except for rounding errors.
            let off = (mean - all).abs() / all_sd + (sd / all_sd - 1.0).abs();
            assert!(off < 1e-4, "{method}: {name} {mean} {all} {sd} {all_sd}");
        }
    }
    let refused = found.fit(Fit::named("sl-dais").unwrap()).unwrap_err();
    assert!(refused.to_string().contains("by collapse"), "{refused}");
}

#[test]
fn chains_are_the_same_whoever_answers_and_on_any_threads() {
    let table = table(1200);
    let folder = tempfile::tempdir().unwrap();
    let files = divided(&table, folder.path());
    let specification = asked("hit ~ x + z", "bernoulli", &table);
    let fits = [1, 3].map(|threads| {
        let made = draft(&files, &specification).learn(steady(&files)).unwrap();
        made.fit(nuts().draws(60).threads(threads)).unwrap()
    });
    assert_eq!(fits[0].posterior.draws, fits[1].posterior.draws);
    assert_eq!(fits[0].posterior.evidence, fits[1].posterior.evidence);
}

#[test]
fn gaussian_rows_are_condensed_where_they_are() {
    let table = table(9000);
    let folder = tempfile::tempdir().unwrap();
    for formula in ["y ~ x + z + far + color", "y ~ x + (1 | site)"] {
        let found = learnt(formula, "gaussian", &table, folder.path()).unwrap();
        let specification = asked(formula, "gaussian", &table);
        let local = BoundRegression::new(&specification, &table, Instant::now()).unwrap();
        // Chains that diverge through rounding errors agree only within their Monte Carlo errors.
        let fit = || Fit::named("nuts").unwrap().seed(4).draws(4000);
        let (fit, local) = (found.fit(fit()).unwrap(), local.fit(fit()).unwrap());
        assert!(fit.posterior.origin.condensed && fit.posterior.origin.rows == 9000);
        for ((name, mean, _), (_, all, sd)) in means(&fit).iter().zip(&means(&local)) {
            // The same chain on the same triangular factor except for rounding errors, which chains
            // amplify.
            assert!(
                (mean - all).abs() < 0.2 * sd,
                "{formula}: {name} {mean} {all}"
            );
        }
    }
}

#[test]
fn methods_and_models_that_need_all_rows_here_are_refused() {
    let table = table(6000);
    let folder = tempfile::tempdir().unwrap();
    let refused = |formula: &str, family: &str, method: &str| {
        let made = learnt(formula, family, &table, folder.path());
        let fitted = made.and_then(|made| made.fit(Fit::named(method).unwrap()));
        fitted.expect_err("a refusal").to_string()
    };
    let words = refused("hit ~ x", "bernoulli", "hmc");
    assert!(words.contains("found 6000 on a cluster"), "{words}");
    assert!(words.contains("full-rank, low-rank, sl-dais"), "{words}");
    let words = refused("n ~ x + (1 | site)", "poisson", "auto");
    assert!(words.contains("no spread among the latents"), "{words}");
    let words = refused("y ~ s(x)", "gaussian", "auto");
    assert!(words.contains("terms that a cluster can learn"), "{words}");
    assert!(words.contains("found s(x"), "{words}");
    let words = refused("y ~ ns(x, df = 3)", "gaussian", "auto");
    assert!(words.contains("found ns(x"), "{words}");
    let words = refused("n ~ x", "poisson_lognormal", "auto");
    assert!(
        words.contains("one without a latent for every row"),
        "{words}"
    );
}

#[test]
fn a_file_that_is_lost_or_damaged_is_named() {
    let table = table(6000);
    let folder = tempfile::tempdir().unwrap();
    let files = divided(&table, folder.path());
    let specification = asked("hit ~ x", "bernoulli", &table);
    let forgetful = || {
        Arc::new(Forgetful {
            parts: files.split_parts(1 << 20).unwrap(),
            model: Mutex::default(),
        })
    };
    let path = folder.path().join("part-2.parquet");
    let whole = std::fs::read(&path).unwrap();
    let fit = |made: &ClusterRegression| {
        let fit = made.fit(Fit::named("full-rank").unwrap());
        fit.expect_err("rows are lost").to_string()
    };
    let made = draft(&files, &specification).learn(forgetful()).unwrap();
    std::fs::remove_file(&path).unwrap();
    let words = fit(&made);
    assert!(words.contains("part-2.parquet: cannot open"), "{words}");
    let mut damaged = whole.clone();
    let half = damaged.len() / 2;
    damaged[4..half].fill(0x5a);
    std::fs::write(&path, &damaged).unwrap();
    let words = fit(&made);
    assert!(words.contains("part-2.parquet"), "{words}");
    let other: Vec<usize> = (0..17).collect();
    table.select_rows(&other).write(&path).unwrap();
    let words = fit(&made);
    assert!(words.contains("found 17; the file was replaced"), "{words}");
    std::fs::write(&path, &whole).unwrap();
    assert!(made.fit(Fit::named("full-rank").unwrap()).is_ok());
}
