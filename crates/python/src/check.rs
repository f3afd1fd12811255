//! The full diagnostics of a fit: witnesses, shifts, priors, chains on all rows, simulated tables.

use lehr::regression::{
    Difference, PriorSensitivity, Ranks, SavedFit, Shift, Simulation, WitnessReport, columns_of,
};
use lehr::table::Table;
use pyo3::prelude::*;
use serde::Serialize;

use crate::after::to_json;
use crate::error::{message_error, refusal_error};
use crate::fit::PyFit;
use crate::request::{FitSettings, ReadingOptions};
use crate::source::PySource;
use crate::watch::{FitMonitor, MonitorObserver, run_watched};

#[derive(Serialize)]
struct FitDiagnostics {
    witnesses: Vec<WitnessReport>,
    shifts: Vec<Shift>,
    prior_sensitivity: Vec<PriorSensitivity>,
}

/// The comparison of a fit with Markov chains.
#[derive(Serialize)]
struct ChainReport {
    method: String,
    verdict: &'static str,
    sentence: String,
    /// Bounds of the log evidence from below and above, each with its error.
    lower: Option<(f64, f64)>,
    upper: Option<(f64, f64)>,
    differences: Vec<Difference>,
}

/// The diagnostics of a fit that do not need its table, as JSON.
#[pyfunction]
pub(crate) fn check(fit: &Bound<'_, PyFit>) -> PyResult<String> {
    let saved = fit.get().saved();
    fit.py().detach(|| {
        let verdict = saved.posterior.verdict();
        to_json(&FitDiagnostics {
            witnesses: WitnessReport::all(&verdict),
            shifts: saved.shifts(),
            prior_sensitivity: saved.prior_sensitivity().map_err(refusal_error)?,
        })
    })
}

/// The comparison of the fit with Markov chains on all rows of the fitted table, as JSON.
#[pyfunction]
pub(crate) fn against(
    fit: &Bound<'_, PyFit>,
    source: &PySource,
    reading: ReadingOptions,
    how: FitSettings,
) -> PyResult<String> {
    let saved = fit.get().saved();
    let chains = how.make_fits()?.into_iter().next();
    let chains = chains.ok_or_else(|| message_error("against: expected a method, found none"))?;
    run_watched(&how, fit.py(), |watch| {
        let table = fit_again(saved, source, &reading, watch)?;
        let found = saved.against(chains.observer(&mut MonitorObserver(watch)), &table);
        let found = found.map_err(refusal_error)?;
        let bound =
            |of: fn(&lehr::infer::bidirectional::Sandwich) -> lehr::infer::posterior::Estimate| {
                let one = found.bounds.as_ref().map(of);
                one.map(|one| (one.mean, one.error))
            };
        to_json(&ChainReport {
            lower: bound(|one| one.lower),
            upper: bound(|one| one.upper),
            method: found.method,
            verdict: found.verdict.level.name(),
            sentence: found.verdict.sentence,
            differences: found.differences,
        })
    })
}

/// The simulation settings: the number of data sets, their most rows, and the training steps of
/// each fit.
type Simulated = (usize, usize, Option<u64>);

/// Simulation-based calibration: the ranks of the true parameters among the draws of their fits, as
/// JSON.
#[pyfunction]
pub(crate) fn simulate(
    fit: &Bound<'_, PyFit>,
    source: &PySource,
    reading: ReadingOptions,
    simulated: Simulated,
    how: FitSettings,
) -> PyResult<String> {
    let (count, rows, iterations) = simulated;
    let saved = fit.get().saved();
    run_watched(&how, fit.py(), |watch| {
        let table = fit_again(saved, source, &reading, watch)?;
        let simulation = Simulation {
            saved,
            count,
            rows,
            iterations,
        };
        let mut note =
            |number: usize| watch.tell_counts("simulating", number, (count, "data sets"));
        let ranks: Vec<Ranks> = simulation.run(&table, &mut note).map_err(refusal_error)?;
        to_json(&ranks)
    })
}

/// The columns of the fitted table that the model reads.
fn fit_again(
    saved: &SavedFit,
    source: &PySource,
    reading: &ReadingOptions,
    watch: &FitMonitor,
) -> PyResult<Table> {
    let options = reading.read_options(Some(columns_of(&[saved])))?;
    source.read(
        &options.keep_columns(&saved.subject.optional_columns()),
        watch,
    )
}
