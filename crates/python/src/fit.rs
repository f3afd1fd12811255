//! A fit in Python.

use std::path::PathBuf;

use lehr::Error;
use lehr::model::Program;
use lehr::regression::cluster::{self, PartRows};
use lehr::regression::{
    DrawForm, Evaluation, Evaluator, Forecaster, Groups, NamedDraws, PredictionDetails, SavedFit,
};
use lehr::report::{Style, write_page};
use lehr::table::{Column, Table};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::arviz::{self, Group};
use crate::error::{message_error, refusal_error};
use crate::part::{PartOf, part_rows};
use crate::request::{ReadingOptions, new_levels, parse_level};
use crate::source::PySource;

/// A fit; `python/lehr` wraps it in its public interface.
#[pyclass(frozen, module = "lehr._lehr", name = "Fit")]
pub(crate) struct PyFit {
    saved: SavedFit,
}

/// A number with its Monte Carlo error.
type Estimate = (f64, f64);

/// Groups for ArviZ, the attributes of all, and the parts that were omitted.
type Exported<'py> = (Vec<Group<'py>>, Vec<(String, String)>, Vec<String>);

/// Draws of a quantity by its name.
type NamedArray<'py> = (String, Bound<'py, PyArray1<f64>>);

/// Named arrays in order.
type Arrays<'py> = Vec<(String, Bound<'py, PyAny>)>;

impl PyFit {
    pub(crate) fn new(saved: SavedFit) -> PyFit {
        PyFit { saved }
    }

    pub(crate) fn saved(&self) -> &SavedFit {
        &self.saved
    }

    /// The columns of a table that a prediction reads.
    fn new_rows(&self, source: &PySource, reading: &ReadingOptions) -> PyResult<Table> {
        let (mut names, _) = source.names(&reading.read_options(None)?)?;
        let wanted = self.saved.subject.predictor_columns();
        names.retain(|name| wanted.contains(&name.as_str()));
        let optional = self.saved.subject.optional_columns();
        source.read(
            &reading.read_options(Some(names))?.keep_columns(&optional),
            &(),
        )
    }

    fn forecaster(&self, by: &Forecast) -> PyResult<Forecaster<'_>> {
        forecaster(&self.saved, by)
    }
}

/// The recorded model, in words.
fn saved_program(saved: &SavedFit) -> Result<Option<String>, Error> {
    let stored = saved.posterior.origin.model.as_ref();
    let program = stored.map(Program::from_stored).transpose()?;
    Ok(program.map(|program| program.to_string()))
}

/// The predictor of a fit's rows.
fn forecaster<'f>(saved: &'f SavedFit, by: &Forecast) -> PyResult<Forecaster<'f>> {
    if by.draws == 0 {
        return Err(message_error("draws: expected at least one draw, found 0"));
    }
    if by.responses > by.draws {
        return Err(message_error(&format!(
            "responses: expected at most as many as draws, {}, found {}",
            by.draws, by.responses
        )));
    }
    if let Some(percent) = (by.quantiles.iter()).find(|one| !(0.0..=100.0).contains(*one)) {
        return Err(message_error(&format!(
            "quantiles: expected percent from 0 to 100, found {percent}"
        )));
    }
    Ok(Forecaster {
        new_levels: new_levels(&by.new_levels)?,
        level: parse_level(&by.level)?,
        seed: by.seed,
        details: PredictionDetails {
            quantiles: by.quantiles.iter().map(|percent| percent / 100.0).collect(),
            responses: by.responses,
            parameters: by.parameter.clone(),
        },
        ..saved.forecaster(by.draws)
    })
}

/// The settings of predictions, from keyword arguments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Forecast {
    new_levels: String,
    level: String,
    draws: usize,
    seed: u64,
    /// Quantiles in percent.
    quantiles: Vec<f64>,
    /// The number of response draws that are returned for each row.
    responses: usize,
    /// Parameters of the family that are returned, too.
    parameter: Vec<String>,
}

/// The rows to predict, and the file for the predictions.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PartTask {
    part: PartOf,
    path: PathBuf,
}

impl PartTask {
    fn rows(&self, reading: &ReadingOptions) -> PyResult<PartRows> {
        part_rows(self.part.clone(), reading)
    }
}

#[pymethods]
impl PyFit {
    /// Loads a fit that Python or the command saved.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<PyFit> {
        Ok(PyFit::new(SavedFit::load(path).map_err(refusal_error)?))
    }

    /// The fit of one response of several.
    fn response(&self, name: &str) -> PyResult<PyFit> {
        Ok(PyFit::new(
            self.saved.response(name).map_err(refusal_error)?,
        ))
    }

    fn save(&self, path: PathBuf) -> PyResult<()> {
        self.saved.save(path).map_err(refusal_error)
    }

    fn report(&self, path: PathBuf) -> PyResult<()> {
        write_page(&self.saved.report(), &path).map_err(refusal_error)
    }

    /// Verdict and coefficients as plain text.
    fn text(&self) -> String {
        let coefficients = self.saved.coefficients(Groups::Leave);
        let verdict = Style::PLAIN.format_verdict(&self.saved.verdict());
        verdict + "\n" + &Style::PLAIN.format_coefficients(&coefficients)
    }

    /// Level, sentence and advice.
    #[getter]
    fn verdict(&self) -> (&'static str, String, Vec<String>) {
        let verdict = self.saved.verdict();
        (verdict.level.name(), verdict.sentence, verdict.advice)
    }

    #[getter]
    fn elbo(&self) -> Option<Estimate> {
        let bound = self.saved.posterior.bound();
        bound.map(|one| (one.mean, one.error))
    }

    #[getter]
    fn evidence(&self) -> Option<Estimate> {
        let evidence = self.saved.posterior.evidence.as_ref();
        evidence.map(|one| (one.estimate.mean, one.estimate.error))
    }

    #[getter]
    fn khat(&self) -> Option<f64> {
        self.saved.posterior.pareto_shape()
    }

    #[getter]
    fn is_trusted(&self) -> bool {
        self.saved.is_trusted()
    }

    /// Further properties of the fit, by name.
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (saved, posterior) = (&self.saved, &self.saved.posterior);
        let family = saved.subject.family_names();
        let is_formula = family.is_some();
        let facts = PyDict::new(py);
        facts.set_item("method", posterior.method())?;
        facts.set_item("formula", is_formula.then(|| saved.subject.title()))?;
        facts.set_item("family", family)?;
        facts.set_item("model", saved.report_model())?;
        facts.set_item("program", saved_program(saved).map_err(refusal_error)?)?;
        facts.set_item("response", saved.subject.response())?;
        facts.set_item("classes", saved.subject.classes())?;
        facts.set_item("columns", saved.subject.columns())?;
        facts.set_item("predictor_columns", saved.subject.predictor_columns())?;
        facts.set_item("n_rows", posterior.origin.rows)?;
        facts.set_item("dropped_rows", saved.dropped_rows)?;
        facts.set_item("n_latents", posterior.n_latents())?;
        facts.set_item("n_draws", posterior.n_draws())?;
        facts.set_item("effective_sample_size", posterior.effective_size())?;
        facts.set_item("seed", posterior.origin.seed)?;
        facts.set_item("corrected", saved.is_corrected())?;
        facts.set_item("priors", is_formula.then(|| saved.subject.priors()))?;
        facts.set_item("choices", posterior.choices.clone())?;
        facts.set_item("notes", saved.notes())?;
        facts.set_item("seconds", saved.seconds().named_parts().to_vec())?;
        facts.set_item("version", &saved.version)?;
        let training = posterior.training();
        facts.set_item("iterations", training.map(|one| one.iterations))?;
        facts.set_item("converged", training.map(|one| one.converged))?;
        Ok(facts)
    }

    /// Name, mean, sd, 5 %, 50 % and 95 % of each coefficient.
    fn coefficients(&self, group_effects: bool) -> Vec<(String, [f64; 5])> {
        let coefficients = self.saved.coefficients(group_effects.into());
        coefficients.iter().map(coefficient_row).collect()
    }

    /// The same for shares of variance.
    fn explained(&self) -> Vec<(String, [f64; 5])> {
        self.saved.explained().iter().map(coefficient_row).collect()
    }

    /// The draws of each coefficient: of equal weight, or `raw` with their log weights.
    fn draws<'py>(&self, group_effects: bool, form: &str, py: Python<'py>) -> Vec<NamedArray<'py>> {
        let form = if form == "raw" {
            DrawForm::Raw
        } else {
            DrawForm::Even
        };
        let drawn = self.saved.export_draws(group_effects.into(), form);
        named_arrays(drawn, py)
    }

    /// Draws of the latents of some rows of the table that was fitted, counted from 1.
    fn local_draws<'py>(
        &self,
        source: &PySource,
        reading: ReadingOptions,
        rows: Vec<u64>,
        py: Python<'py>,
    ) -> PyResult<Vec<NamedArray<'py>>> {
        let drawn = py.detach(|| -> PyResult<Vec<NamedDraws>> {
            let table = source.read(&reading.fitted(&self.saved)?, &())?;
            self.saved.local_draws(&table, &rows).map_err(refusal_error)
        })?;
        Ok(named_arrays(drawn, py))
    }

    /// Predictions of a table's rows as columns.
    fn predict<'py>(
        &self,
        source: &PySource,
        reading: ReadingOptions,
        by: Forecast,
        py: Python<'py>,
    ) -> PyResult<Arrays<'py>> {
        let fits = self.saved.responses().map_err(refusal_error)?;
        let forecasters = fits.iter().map(|saved| forecaster(saved, &by));
        let forecasters: Vec<Forecaster<'_>> = forecasters.collect::<PyResult<_>>()?;
        let predicted = py.detach(|| -> PyResult<Table> {
            let table = self.new_rows(source, &reading)?;
            let mut all = Table::new();
            for forecaster in &forecasters {
                let predictions = forecaster.predict(&table, 0).map_err(refusal_error)?;
                all = predictions.beside(all).map_err(refusal_error)?;
            }
            Ok(all)
        })?;
        table_arrays(&predicted, py)
    }

    /// Predictions of the rows of a part, written to a file that gets its name when it is complete;
    /// returns the number of rows.
    fn predict_part(
        &self,
        task: PartTask,
        reading: ReadingOptions,
        by: Forecast,
        py: Python<'_>,
    ) -> PyResult<u64> {
        let forecaster = self.forecaster(&by)?;
        let rows = task.rows(&reading)?;
        let path = task.path;
        py.detach(|| rows.predict(&forecaster, &path))
            .map_err(refusal_error)
    }

    /// Scores of the rows of a part, for `evaluate_parts`.
    fn score_part<'py>(
        &self,
        task: PartTask,
        reading: ReadingOptions,
        by: Forecast,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let forecaster = self.forecaster(&by)?;
        let rows = task.rows(&reading)?;
        let scores = py
            .detach(|| rows.score(&forecaster))
            .map_err(refusal_error)?;
        Ok(PyBytes::new(py, &scores))
    }

    /// The scores of all parts together.
    fn evaluate_parts<'py>(
        &self,
        scores: Vec<PyBackedBytes>,
        by: Forecast,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let forecaster = self.forecaster(&by)?;
        let scores: Vec<Vec<u8>> = scores.iter().map(|one| one.to_vec()).collect();
        evaluation_dict(
            &cluster::evaluation(&forecaster, &scores).map_err(refusal_error)?,
            py,
        )
    }

    /// A response of each row under each draw, draw after draw.
    fn predictive_draws<'py>(
        &self,
        source: &PySource,
        reading: ReadingOptions,
        by: Forecast,
        py: Python<'py>,
    ) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
        let forecaster = self.forecaster(&by)?;
        let drawn = py.detach(|| -> PyResult<Vec<Vec<f64>>> {
            let table = self.new_rows(source, &reading)?;
            let predictions = forecaster.predict(&table, 0).map_err(refusal_error)?;
            Ok(predictions.responses().to_vec())
        })?;
        Ok(drawn.into_iter().map(|one| one.into_pyarray(py)).collect())
    }

    /// Scores on rows that have the response.
    fn evaluate<'py>(
        &self,
        source: &PySource,
        reading: ReadingOptions,
        by: Forecast,
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let forecaster = self.forecaster(&by)?;
        let scored = py.detach(|| -> PyResult<Evaluation> {
            let table = source.read(&reading.fitted(&self.saved)?, &())?;
            let mut evaluator = Evaluator::new(&forecaster);
            evaluator.push(&table, 0).map_err(refusal_error)?;
            evaluator
                .finish(table.dropped_rows())
                .map_err(refusal_error)
        })?;
        evaluation_dict(&scored, py)
    }

    /// Method, bound, its error, seconds, mean log likelihood of held-out rows, k.
    fn comparison(&self, test: Option<f64>) -> (String, [f64; 3], Option<f64>, Option<f64>) {
        let row = self.saved.comparison(test);
        let numbers = [row.bound, row.se, row.seconds];
        (row.method, numbers, row.test_log_likelihood, row.pareto_k)
    }

    /// The groups for ArviZ, and the parts that were omitted.
    #[pyo3(signature = (source, reading, group_effects))]
    fn arviz<'py>(
        &self,
        source: Option<&PySource>,
        reading: ReadingOptions,
        group_effects: bool,
        py: Python<'py>,
    ) -> PyResult<Exported<'py>> {
        let (data, left_out) = py.detach(|| -> PyResult<_> {
            let options = reading.fitted(&self.saved)?;
            let table = match source {
                Some(source) => Some(source.read(&options, &())?),
                None => None,
            };
            let mut export = self.saved.arviz(group_effects.into());
            export.table = table.as_ref();
            export.data().map_err(refusal_error)
        })?;
        let attributes = data.attributes.clone();
        Ok((arviz::data_groups(data, py), attributes, left_out))
    }
}

/// The name of a coefficient and its numbers.
fn coefficient_row(one: &lehr::report::Coefficient) -> (String, [f64; 5]) {
    let best = one.best_summary();
    let numbers = [best.mean, best.sd, best.q5, best.q50, best.q95];
    (one.name.clone(), numbers)
}

fn named_arrays(drawn: Vec<NamedDraws>, py: Python<'_>) -> Vec<NamedArray<'_>> {
    let array = |one: NamedDraws| (one.name.to_string(), one.values.into_pyarray(py));
    drawn.into_iter().map(array).collect()
}

/// The columns of a table as arrays; names of classes as lists.
fn table_arrays<'py>(table: &Table, py: Python<'py>) -> PyResult<Arrays<'py>> {
    let array = |(name, column): (&str, &Column)| {
        let values = match column {
            Column::Number(values) | Column::Matrix { values, .. } => {
                values.clone().into_pyarray(py).into_any()
            }
            Column::Boolean(values) => values.clone().into_pyobject(py)?.into_any(),
            Column::Category { codes, levels } => {
                let name = |code: &u32| levels.get(*code as usize).map(String::as_str);
                let names: Vec<Option<&str>> = codes.iter().map(name).collect();
                names.into_pyobject(py)?.into_any()
            }
        };
        Ok((name.to_owned(), values))
    };
    table.columns().map(array).collect()
}

fn evaluation_dict<'py>(scored: &Evaluation, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let scores = PyDict::new(py);
    scores.set_item("log_likelihood_per_row", scored.log_likelihood_per_row)?;
    if let Some(accuracy) = scored.accuracy {
        scores.set_item("accuracy", accuracy)?;
    }
    if let Some(rmse) = scored.rmse {
        scores.set_item("rmse", rmse)?;
    }
    scores.set_item("n_rows", scored.n_rows)?;
    scores.set_item("dropped_rows", scored.dropped_rows)?;
    scores.set_item("n_draws", scored.n_draws)?;
    let bins = scored.calibration.iter();
    let bins: Vec<_> = bins
        .map(|bin| (bin.predicted, bin.observed, bin.low, bin.high, bin.count))
        .collect();
    scores.set_item("calibration", bins)?;
    Ok(scores)
}
