//! The full diagnostics of a fit: witnesses, shifts, priors, chains on all rows, simulated tables.

use lehr::regression::{
    Difference, PriorSensitivity, Ranks, SavedFit, Shift, Simulation, Testimony, columns_of,
};
use lehr::table::Table;
use pyo3::prelude::*;
use serde::Serialize;

use crate::after::to_json;
use crate::error::{message_error, refusal_error};
use crate::fit::Fit;
use crate::request::{How, Reading};
use crate::source::Source;
use crate::watch::{Watch, Watched, run_watched};

#[derive(Serialize)]
struct Checked {
    witnesses: Vec<Testimony>,
    shifts: Vec<Shift>,
    prior_sensitivity: Vec<PriorSensitivity>,
}

/// The comparison of a fit with Markov chains.
#[derive(Serialize)]
struct Compared {
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
pub(crate) fn check(fit: &Bound<'_, Fit>) -> PyResult<String> {
    let saved = fit.get().saved();
    fit.py().detach(|| {
        let verdict = saved.posterior.verdict();
        to_json(&Checked {
            witnesses: Testimony::all(&verdict),
            shifts: saved.shifts(),
            prior_sensitivity: saved.prior_sensitivity().map_err(refusal_error)?,
        })
    })
}

/// The comparison of the fit with Markov chains on all rows of the fitted table, as JSON.
#[pyfunction]
pub(crate) fn against(
    fit: &Bound<'_, Fit>,
    source: &Source,
    reading: Reading,
    how: How,
) -> PyResult<String> {
    let saved = fit.get().saved();
    let chains = how.make_fits()?.into_iter().next();
    let chains = chains.ok_or_else(|| message_error("against: expected a method, found none"))?;
    run_watched(&how, fit.py(), |watch| {
        let table = fit_again(saved, source, &reading, watch)?;
        let found = saved.against(chains.observer(&mut Watched(watch)), &table);
        let found = found.map_err(refusal_error)?;
        let bound =
            |of: fn(&lehr::infer::bidirectional::Sandwich) -> lehr::infer::posterior::Estimate| {
                let one = found.bounds.as_ref().map(of);
                one.map(|one| (one.mean, one.error))
            };
        to_json(&Compared {
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
    fit: &Bound<'_, Fit>,
    source: &Source,
    reading: Reading,
    simulated: Simulated,
    how: How,
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
    source: &Source,
    reading: &Reading,
    watch: &Watch,
) -> PyResult<Table> {
    let options = reading.read_options(Some(columns_of(&[saved])))?;
    source.read(
        &options.keep_columns(&saved.subject.optional_columns()),
        watch,
    )
}
