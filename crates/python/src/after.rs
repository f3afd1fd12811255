//! Analyses of finished fits: effects, leave-one-out, comparison.

use std::path::PathBuf;

use lehr::regression::{
    EffectAverager, EffectQuestion, EffectScale, Folds, Forecaster, Loo, LooSampling,
    PredictionLevel, SavedFit, best_of, columns_of, compare_models, leave_rows_out,
    optional_columns_of,
};
use lehr::report::write_page;
use lehr::table::Table;
use pyo3::prelude::*;
use serde::Serialize;

use crate::error::{message_error, refusal_error};
use crate::fit::PyFit;
use crate::request::{ReadingOptions, new_levels, parse_level};
use crate::source::PySource;

/// A question about the effects of a column.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Question {
    variable: String,
    at: Vec<(String, String)>,
    by: Option<String>,
    contrasts: Vec<String>,
    scale: String,
    points: usize,
    level: Option<String>,
    new_levels: String,
    draws: usize,
}

/// The selection of rows to leave out.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct LooSampleSettings {
    pub(crate) subsample: Option<usize>,
    pub(crate) seed: u64,
}

impl LooSampleSettings {
    pub(crate) fn rows(&self) -> LooSampling {
        LooSampling {
            subsample: self.subsample,
            seed: self.seed,
        }
    }
}

/// The rows to leave out by refitting.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct RefitSettings {
    /// The most influential rows to refit without.
    refit: usize,
    /// The number of parts of the table to leave out instead of single rows.
    folds: Option<usize>,
    /// A column whose groups of rows are kept in one part.
    folds_by: Option<String>,
}

/// Row, elpd and k of each row that was left out.
pub(crate) type LeftRows = (Vec<u64>, Vec<f64>, Vec<f64>);

impl Question {
    fn effect_question(self) -> PyResult<EffectQuestion> {
        let scale = match self.scale.as_str() {
            "response" => EffectScale::Response,
            "link" => EffectScale::Link,
            "odds" => EffectScale::Odds,
            other => {
                return Err(message_error(&format!(
                    "scale: expected \"response\", \"link\" or \"odds\", found {other:?}"
                )));
            }
        };
        Ok(EffectQuestion {
            at: self.at,
            by: self.by,
            contrasts: self.contrasts,
            scale,
            points: self.points,
            ..EffectQuestion::new(&self.variable)
        })
    }

    /// Whether the prediction includes group effects; with a table it does by default.
    fn prediction_level(&self, source: Option<&PySource>) -> PyResult<PredictionLevel> {
        match self.level.as_deref() {
            None if source.is_none() => Ok(PredictionLevel::Population),
            None => Ok(PredictionLevel::Groups),
            Some(name) => parse_level(name),
        }
    }
}

/// Effects of a column, averaged over the rows of a table or at the reference, as JSON.
#[pyfunction]
#[pyo3(signature = (fit, source, reading, asked))]
pub(crate) fn effects(
    fit: &Bound<'_, PyFit>,
    source: Option<&PySource>,
    reading: ReadingOptions,
    asked: Question,
) -> PyResult<String> {
    if asked.draws < 2 {
        let found = asked.draws;
        return Err(message_error(&format!(
            "draws: expected at least two draws, found {found}"
        )));
    }
    let saved = fit.get().saved();
    let forecaster = Forecaster {
        new_levels: new_levels(&asked.new_levels)?,
        level: asked.prediction_level(source)?,
        ..saved.forecaster(asked.draws)
    };
    let question = asked.effect_question()?;
    fit.py().detach(|| {
        let mut averager = EffectAverager::new(&forecaster, &question).map_err(refusal_error)?;
        let Some(source) = source else {
            return to_json(&averager.at_reference().map_err(refusal_error)?);
        };
        let options = reading.read_options(Some(averager.columns()))?;
        let table = source.read(&options.keep_columns(&averager.optional_columns()), &())?;
        averager.push(&table).map_err(refusal_error)?;
        to_json(&averager.finish().map_err(refusal_error)?)
    })
}

/// Leaves rows out of fits of one table, the same rows of each.
fn leave_out(
    fits: &[&SavedFit],
    source: &PySource,
    reading: &ReadingOptions,
    sampling: &LooSampleSettings,
) -> PyResult<Vec<Loo>> {
    // All fits use the same columns, so a row that one of them cannot use is left out of all or
    // none.
    let options = reading.read_options(Some(columns_of(fits)))?;
    let table = source.read(&options.keep_columns(&optional_columns_of(fits)), &())?;
    leave_rows_out(fits, sampling.rows(), &mut |visit| visit(&table)).map_err(refusal_error)
}

/// Leave-one-out predictive accuracy: the summary as JSON, and the results of each row.
#[pyfunction]
pub(crate) fn loo(
    fit: &Bound<'_, PyFit>,
    source: &PySource,
    reading: ReadingOptions,
    sampling: LooSampleSettings,
    again: RefitSettings,
) -> PyResult<(String, LeftRows)> {
    let saved = fit.get().saved();
    fit.py().detach(|| {
        let seed = sampling.seed;
        if again.folds.is_none() {
            let mut left = leave_out(&[saved], source, &reading, &sampling)?.swap_remove(0);
            if again.refit > 0 {
                let table = &again.read_table(saved, source, &reading)?;
                let folds = Folds { saved, table, seed };
                let done = folds.refit(&mut left, again.refit, &mut |_| ());
                done.map_err(refusal_error)?;
            }
            return describe_loo(&left);
        }
        let table = &again.read_table(saved, source, &reading)?;
        describe_loo(&again.run_folds(&Folds { saved, table, seed })?)
    })
}

impl RefitSettings {
    fn read_table(
        &self,
        saved: &SavedFit,
        source: &PySource,
        reading: &ReadingOptions,
    ) -> PyResult<Table> {
        let mut wanted = columns_of(&[saved]);
        let by = self.folds_by.clone();
        wanted.extend(by.filter(|by| !wanted.contains(by)));
        let options = reading.read_options(Some(wanted))?;
        source.read(
            &options.keep_columns(&saved.subject.optional_columns()),
            &(),
        )
    }

    /// Leaves out parts of the table, each by a fit of its own.
    fn run_folds(&self, folds: &Folds<'_>) -> PyResult<Loo> {
        let count = self.folds.unwrap_or_default();
        let parts = match &self.folds_by {
            Some(column) => folds.by(column, count),
            None => folds.evenly(count),
        };
        let parts = parts.map_err(refusal_error)?;
        folds.run(&parts, &mut |_| ()).map_err(refusal_error)
    }
}

/// The summary of leave-one-out as JSON, and the results of each row.
pub(crate) fn describe_loo(left: &Loo) -> PyResult<(String, LeftRows)> {
    let summary = to_json(&left.summary().map_err(refusal_error)?)?;
    let column = |of: &dyn Fn(&lehr::regression::LooRow) -> f64| -> Vec<f64> {
        left.rows.iter().map(of).collect()
    };
    let rows = left.rows.iter().map(|row| row.row).collect();
    let numbers = (column(&|row| row.left.elpd), column(&|row| row.left.shape));
    Ok((summary, (rows, numbers.0, numbers.1)))
}

/// A comparison of models by leaving the same rows out of each, as JSON.
#[pyfunction]
pub(crate) fn compare_left_out(
    fits: Vec<NamedFit<'_>>,
    source: &PySource,
    reading: ReadingOptions,
    sampling: LooSampleSettings,
    py: Python<'_>,
) -> PyResult<String> {
    let (names, saved) = split_fits(&fits);
    py.detach(|| {
        let left = leave_out(&saved, source, &reading, &sampling)?;
        compare_fits(names, &saved, left)
    })
}

/// A fit, with its name.
pub(crate) type NamedFit<'py> = (String, Bound<'py, PyFit>);

/// The names, and the fits.
pub(crate) fn split_fits<'a>(fits: &'a [NamedFit<'_>]) -> (Vec<String>, Vec<&'a SavedFit>) {
    let pairs = fits.iter();
    pairs
        .map(|(name, fit)| (name.clone(), fit.get().saved()))
        .unzip()
}

/// The comparison of models by leave-one-out results, as JSON.
pub(crate) fn compare_fits(
    names: Vec<String>,
    fits: &[&SavedFit],
    left: Vec<Loo>,
) -> PyResult<String> {
    let models: Vec<(String, &SavedFit, Loo)> = (names.into_iter().zip(fits).zip(left))
        .map(|((name, saved), loo)| (name, *saved, loo))
        .collect();
    to_json(&compare_models(&models).map_err(|error| message_error(&error.to_string()))?)
}

/// The place of the best fit.
#[pyfunction]
pub(crate) fn best(fits: Vec<Bound<'_, PyFit>>) -> PyResult<usize> {
    let saved: Vec<&SavedFit> = fits.iter().map(|fit| fit.get().saved()).collect();
    if saved.is_empty() {
        return Err(message_error("fits: expected at least one, found none"));
    }
    Ok(best_of(&saved))
}

/// Writes the page of the best fit with all fits for comparison, each with its score on held-out
/// rows.
#[pyfunction]
pub(crate) fn compared_report(
    fits: Vec<Bound<'_, PyFit>>,
    tests: Vec<Option<f64>>,
    path: PathBuf,
) -> PyResult<()> {
    let preferred = best(fits.clone())?;
    let mut data = fits[preferred].get().saved().report();
    let rows = fits.iter().zip(tests);
    let rows = rows.map(|(fit, test)| fit.get().saved().comparison(test));
    data.comparison = rows.collect();
    write_page(&data, &path).map_err(refusal_error)
}

pub(crate) fn to_json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| message_error(&error.to_string()))
}
