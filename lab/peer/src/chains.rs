//! Markov chains on a posterior, with the quality of their draws and their processor time.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lehr_density::Density;
use lehr_infer::fit::Fit;
use lehr_infer::observer::{Observer, Phase};
use lehr_model::distribution::{Distribution, HalfNormal, Normal};
use lehr_model::{Bound, Model};
use lehr_numeric::summary::{effective_size_bulk, split_rank_rhat};
use lehr_table::Table;
use serde_json::{Value, json};

use crate::logistic::doubles;

/// Processor seconds of this process, ended threads included.
fn processor_seconds() -> f64 {
    const TICKS: f64 = 100.0;
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may contain spaces; user and system time are the 14th and 15th field.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let times = fields.split_whitespace().skip(11).take(2);
    let ticks: f64 = times.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
    ticks / TICKS
}

/// Measures the time of the phases that lead to draws. The evidence and the confirming fit are not
/// measured, since the other side has no counterpart.
struct Clock {
    since: f64,
    counts: bool,
    seconds: f64,
}

impl Clock {
    fn turn(&mut self, counts: bool) {
        let now = processor_seconds();
        if self.counts {
            self.seconds += now - self.since;
        }
        (self.since, self.counts) = (now, counts);
    }
}

impl Observer for Clock {
    fn begin(&mut self, phase: Phase) {
        self.turn(![Phase::EVIDENCE, Phase::EXAMINE].contains(&phase));
    }
}

/// Runs a method; returns its effective draws and their cost.
pub(crate) fn run(density: &dyn Density, method: &str, seed: u64) -> Result<Value> {
    let mut clock = Clock {
        since: processor_seconds(),
        counts: true,
        seconds: 0.0,
    };
    let fit = Fit::named(method)?.seed(seed);
    let posterior = fit.observer(&mut clock).run(density)?;
    clock.turn(false);
    let importance = posterior.importance();
    let own = importance.map(|one| one.pareto.effective_size);
    let chains = posterior.chains().context("no chains");
    let bulk = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let effective = match own {
        Some(effective) => effective,
        None => bulk(&chains?.bulk),
    };
    let summaries = posterior.corrected_summaries();
    let means: Vec<f64> = summaries.iter().map(|one| one.mean).collect();
    let sds: Vec<f64> = summaries.iter().map(|one| one.sd).collect();
    Ok(json!({
        "processor_seconds": clock.seconds,
        "effective": effective,
        "pareto_k": importance.map(|one| one.pareto.shape),
        "draws": posterior.n_draws(),
        "verdict": posterior.verdict().to_string(),
        "mean": means,
        "sd": sds,
    }))
}

/// The smallest bulk effective size and the largest R̂ of draws that the other side has written,
/// one chain after another.
pub(crate) fn worth(path: &Path, chains: usize, size: usize) -> Result<Value> {
    let numbers = doubles(&std::fs::read(path)?);
    ensure!(
        numbers.len().is_multiple_of(chains * size),
        "chains of equal length were expected"
    );
    let columns = (0..size).map(|place| {
        let values = numbers.iter().skip(place).step_by(size);
        values.copied().collect::<Vec<f64>>()
    });
    let judged = columns.map(|column| {
        let parts: Vec<&[f64]> = column.chunks(column.len() / chains).collect();
        (effective_size_bulk(&parts), split_rank_rhat(&parts))
    });
    let start = (f64::INFINITY, 1.0_f64);
    let (effective, r_hat) = judged.fold(start, |a, b| (a.0.min(b.0), a.1.max(b.1)));
    Ok(json!({ "effective": effective, "r_hat": r_hat }))
}

/// yᵢ ~ N(effect of its group, noise), effects ~ N(mean, spread), with groups of equal size.
pub(crate) fn hierarchy(path: &Path, groups: usize) -> Result<Bound> {
    let y = doubles(&std::fs::read(path)?);
    let codes = (0..y.len()).map(|row| (row % groups) as u32).collect();
    let levels = (0..groups).map(|group| group.to_string()).collect();
    let table = Table::new()
        .with_number("y", y)?
        .with_category("group", codes, levels)?;
    let model = Model::new(move |m| {
        let mean = m.sample("mean", Normal::new(0.0, 1.0));
        let spread = m.sample("spread", HalfNormal::new(1.0));
        let noise = m.sample("noise", HalfNormal::new(1.0));
        let effect = m.sample("effect", Normal::new(mean, spread).expand([groups]));
        m.rows(|row| row.observe("y", Normal::new(effect.at(row.index("group")), noise)));
    });
    Ok(model.bind(&table)?)
}

/// Neal's funnel: v ~ N(0, 3²) and `size` variables x ~ N(0, e^v).
pub(crate) fn funnel(size: usize) -> Result<Bound> {
    let table = Table::new().with_number("y", vec![0.0])?;
    let model = Model::new(move |m| {
        let v = m.sample("v", Normal::new(0.0, 3.0));
        m.sample("x", Normal::new(0.0, (0.5 * v).exp()).expand([size]));
        m.rows(|row| row.observe("y", Normal::new(0.0, 1.0)));
    });
    Ok(model.bind(&table)?)
}
