//! Regressions of a table whose rows are held by two workers within this process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Result;
use lehr::prelude::*;
use lehr::regression::cluster::{
    self, ClusterDraft, PartRows, Partition, RowStorage, Tasks, Workers,
};
use lehr::regression::{LooSampling, Specification};
use lehr::table::{ReadOptions, TableFiles};

use super::json::record;
use super::table;
use super::{Case, Shell};

/// The name of the table's folder.
const TABLE: &str = "long-parts";

/// A regression and its settings.
#[derive(Clone, Copy)]
struct Asked {
    formula: &'static str,
    family: &'static str,
    method: &'static str,
    settings: &'static [(&'static str, &'static str)],
}

const LINE: Asked = Asked {
    formula: "y ~ x1 + x2 + color",
    family: "gaussian",
    method: "full-rank",
    settings: &[],
};

const EVENTS: Asked = Asked {
    formula: "hit ~ x1 + x2 + color",
    family: "bernoulli",
    method: "full-rank",
    settings: &[("iterations", "60")],
};

const CHAINS: Asked = Asked {
    formula: "hit ~ x1 + (1 | site)",
    family: "bernoulli",
    method: "nuts",
    settings: &[("chains", "2"), ("warm-up", "40")],
};

const GROUPS: Asked = Asked {
    formula: "y ~ x1 + (1 + x1 | site) + (1 | teacher)",
    family: "gaussian",
    method: "collapse",
    settings: &[],
};

const SURROGATE: Asked = Asked {
    formula: "count ~ x1 + offset(log(dose))",
    family: "poisson",
    method: "sl-dais",
    settings: &[("iterations", "40")],
};

/// Fits whose workers keep their rows or read them again for every task.
pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::program("workers/linear", |shell| {
            fit(shell, LINE, RowStorage::Memory)
        }),
        Case::program("workers/events", |shell| {
            fit(shell, EVENTS, RowStorage::Memory)
        }),
        Case::program("workers/events in files", |shell| {
            fit(shell, EVENTS, RowStorage::Files)
        }),
        Case::program("workers/chains", |shell| {
            fit(shell, CHAINS, RowStorage::Memory)
        }),
        Case::program("workers/groups", |shell| {
            fit(shell, GROUPS, RowStorage::Memory)
        }),
        Case::program("workers/groups in files", |shell| {
            fit(shell, GROUPS, RowStorage::Files)
        }),
        Case::program("workers/surrogate", |shell| {
            fit(shell, SURROGATE, RowStorage::Memory)
        }),
    ]
}

/// Runs the fit, records the workers' results, saves it, and runs commands on the file.
fn fit(shell: &mut Shell, asked: Asked, keeping: RowStorage) -> Result<()> {
    table::write(&shell.path(""), TABLE)?;
    let files = TableFiles::open_inputs(&[shell.path(TABLE)])?;
    let fields = files.read_schema(&ReadOptions::default())?;
    let names: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    let specification = Specification::parse(asked.formula, &names)?;
    let specification = specification.with_family(asked.family.parse()?);
    let draft = ClusterDraft {
        specification: &specification,
        fields,
        sample: 4096,
        seed: 5,
        clock: Instant::now(),
    };
    let regression = draft.learn(Arc::new(Pair::of(&files, keeping)?))?;
    let mut fit = Fit::named(asked.method)?.seed(10).draws(100);
    for (name, value) in asked.settings {
        fit = fit.set(name, value)?;
    }
    let saved = regression.fit(fit)?;
    left_out(shell, &saved, &files)?;
    saved.save(shell.path("fit.lehr"))?;
    shell.run("summary fit.lehr --groups")?;
    shell.run("draws fit.lehr -o draws.csv --raw")?;
    shell.run("evaluate fit.lehr new.csv --draws 50")
}

/// Records the result of leaving out some rows of every part.
fn left_out(shell: &mut Shell, saved: &SavedFit, files: &TableFiles) -> Result<()> {
    let options = ReadOptions::default();
    let parts: Vec<PartRows> = (files.split_parts(1 << 20)?.into_iter())
        .map(|part| PartRows {
            part,
            options: options.clone(),
        })
        .collect();
    let estimates = parts.iter().map(|part| part.cheap_estimates(&[saved]));
    let estimates = estimates.collect::<Result<Vec<_>, _>>()?;
    let sampling = LooSampling {
        subsample: Some(50),
        seed: 3,
    };
    let chosen = cluster::to_leave_out(&estimates, sampling)?;
    let left = parts
        .iter()
        .zip(&chosen)
        .map(|(part, rows)| part.leave_out(&[saved], rows));
    let left = left.collect::<Result<Vec<_>, _>>()?;
    let summaries = cluster::left_out(&[saved], &estimates, &left)?;
    let name = shell.name("left out");
    for one in summaries {
        record(
            &mut shell.transcript,
            &name,
            &serde_json::to_value(one.summary()?)?,
        );
    }
    Ok(())
}

/// Two workers: one has the first half of the partitions, the other has the rest.
struct Pair {
    halves: [Mutex<Vec<Partition>>; 2],
    model: Mutex<Option<Vec<u8>>>,
}

impl Pair {
    fn of(files: &TableFiles, keeping: RowStorage) -> Result<Pair> {
        let partition = |part| Partition::new(part, ReadOptions::default()).keeping(keeping);
        let mut first: Vec<Partition> = files
            .split_parts(1 << 20)?
            .into_iter()
            .map(partition)
            .collect();
        let second = first.split_off(first.len() / 2);
        Ok(Pair {
            halves: [first, second].map(Mutex::new),
            model: Mutex::default(),
        })
    }

    /// How many partitions the first worker has.
    fn middle(&self) -> usize {
        locked(&self.halves[0]).len()
    }

    /// The answers of one worker, whose partitions begin with this one.
    fn half(&self, half: usize, begin: usize, tasks: Tasks<'_>) -> Result<Vec<Vec<u8>>, String> {
        let model = locked(&self.model).clone();
        let mut partitions = locked(&self.halves[half]);
        let answer = |(k, partition): (usize, &mut Partition)| {
            let answer = partition.answer(model.as_deref(), tasks.of(begin + k));
            answer.map_err(|error| error.to_string())
        };
        partitions.iter_mut().enumerate().map(answer).collect()
    }
}

impl Workers for Pair {
    fn partitions(&self) -> usize {
        self.halves.iter().map(|half| locked(half).len()).sum()
    }

    fn bind(&self, model: &[u8]) -> Result<(), String> {
        *locked(&self.model) = Some(model.to_vec());
        Ok(())
    }

    fn answer(&self, tasks: Tasks<'_>) -> Result<Vec<Vec<u8>>, String> {
        let middle = self.middle();
        let (first, second) =
            rayon::join(|| self.half(0, 0, tasks), || self.half(1, middle, tasks));
        Ok([first?, second?].concat())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
