//! The settings of a fit that Python passes to the facade.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lehr::infer::fit::Fit;
use lehr::infer::method::{self, METHODS, MethodInfo};
use lehr::infer::run::{Checkpoint, ExistingCheckpoint};
use lehr::regression::{Family, NewLevels, PredictionLevel, SavedFit, Specification};
use lehr::table::{Header, Memory, MissingPolicy, ReadOptions};
use pyo3::prelude::*;

use crate::error::{message_error, refusal_error};

/// The options of reading a table, from keyword arguments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ReadingOptions {
    missing: String,
    missing_text: Vec<String>,
    delimiter: Option<String>,
    header: bool,
    categorical: Vec<String>,
    levels: Vec<(String, Vec<String>)>,
}

impl ReadingOptions {
    /// The options, for some columns or all.
    pub(crate) fn read_options(&self, columns: Option<Vec<String>>) -> PyResult<ReadOptions> {
        let usual = ReadOptions::default();
        let markers = usual.missing_markers.iter().chain(&self.missing_text);
        let levels = self.levels.iter();
        Ok(ReadOptions {
            delimiter: self.delimiter.as_deref().map(parse_byte).transpose()?,
            header: if self.header {
                Header::Present
            } else {
                Header::Absent
            },
            missing_markers: markers.cloned().collect(),
            missing: match self.missing.as_str() {
                "drop" => MissingPolicy::Drop,
                "refuse" => MissingPolicy::Refuse,
                other => {
                    let message =
                        format!("missing: expected \"refuse\" or \"drop\", found {other:?}");
                    return Err(message_error(&message));
                }
            },
            columns,
            categorical: self.categorical.clone(),
            levels: levels
                .map(|(column, levels)| (column.clone(), Arc::from(levels.as_slice())))
                .collect(),
            ..usual
        })
    }

    /// The options for the columns that the model of a fit reads.
    pub(crate) fn fitted(&self, saved: &SavedFit) -> PyResult<ReadOptions> {
        let columns = saved.subject.columns().into_iter().map(str::to_owned);
        let options = self.read_options(Some(columns.collect()))?;
        Ok(options.keep_columns(&saved.subject.optional_columns()))
    }
}

/// One byte between fields.
fn parse_byte(text: &str) -> PyResult<u8> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(message_error(&format!(
            "delimiter: expected one character, found {text:?}"
        ))),
    }
}

/// The model, from the keyword arguments of a formula.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FormulaRequest {
    /// The formula of the response, and those of parameters of the family.
    formula: Vec<String>,
    family: Option<String>,
    prior: Vec<String>,
    /// Whether the prior alone is used.
    pub(crate) prior_only: bool,
    /// The most memory for the columns.
    memory: String,
}

impl FormulaRequest {
    /// The specification for a table with these columns.
    pub(crate) fn make_specification(
        &self,
        names: &[String],
        dates: Vec<String>,
    ) -> PyResult<Specification> {
        let (first, others) = split_formulas(&self.formula)?;
        let parsed = Specification::parse(first, names).map_err(refusal_error)?;
        let parsed = match &self.family {
            Some(names) => {
                let families = Family::parse_all(names).map_err(refusal_error)?;
                parsed.with_families(&families).map_err(refusal_error)?
            }
            None => parsed,
        };
        let parsed = parsed.with_formulas(others, names).map_err(refusal_error)?;
        Ok(parsed
            .with_priors(&self.prior)
            .map_err(refusal_error)?
            .with_dates(&dates))
    }

    /// The memory in bytes for the columns.
    pub(crate) fn memory_bytes(&self) -> PyResult<u64> {
        let memory: Result<Memory, String> = self.memory.parse();
        let memory = memory
            .map_err(|error| message_error(&format!("memory: {error}, found {:?}", self.memory)));
        Ok(memory?.0)
    }
}

/// The settings of a fit, from keyword arguments.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FitSettings {
    methods: Vec<String>,
    /// A callback for progress.
    pub(crate) progress: Option<Py<PyAny>>,
    settings: Vec<(String, String)>,
    draws: Option<usize>,
    pub(crate) seed: u64,
    pub(crate) threads: Option<usize>,
    checkpoint: Option<PathBuf>,
    checkpoint_every: f64,
    restart: bool,
    /// The file for rows that do not fit into memory; in a temporary folder if `None`.
    pub(crate) rows: Option<PathBuf>,
}

impl FitSettings {
    /// Draws and seed of a prior without a fit.
    pub(crate) fn of_prior(&self) -> PyResult<(usize, u64)> {
        const DRAWS: usize = 1000;
        if let Some((name, _)) = self.settings.first() {
            return Err(message_error(&format!(
                "--{name}: expected no setting of a method with --prior-only, which fits nothing\n  hint: leave it out"
            )));
        }
        Ok((self.draws.unwrap_or(DRAWS), self.seed))
    }

    /// A fit by each method. A single method must accept all settings; of several, each uses those
    /// that apply to it.
    pub(crate) fn make_fits(&self) -> PyResult<Vec<Fit<'static>>> {
        let each = self.methods.iter().map(|name| {
            let info = find_method(name)?;
            let own = info.settings();
            let is_own = |name: &str| own.iter().any(|one| one.name == name);
            self.fit_with(info, |name| self.methods.len() == 1 || is_own(name))
        });
        each.collect()
    }

    fn fit_with(
        &self,
        info: &MethodInfo,
        concerns: impl Fn(&str) -> bool,
    ) -> PyResult<Fit<'static>> {
        let mut fit = Fit::boxed((info.new)()).seed(self.seed);
        if let Some(draws) = self.draws {
            fit = fit.draws(draws);
        }
        for (name, value) in self.settings.iter().filter(|(name, _)| concerns(name)) {
            fit = fit
                .set(name, value)
                .map_err(|error| message_error(&error.to_string()))?;
        }
        Ok(match &self.checkpoint {
            None => fit,
            Some(path) => fit.checkpoint(Checkpoint {
                path: path.clone(),
                every: Duration::try_from_secs_f64(self.checkpoint_every).unwrap_or(Duration::MAX),
                older: if self.restart {
                    ExistingCheckpoint::Replace
                } else {
                    ExistingCheckpoint::Resume
                },
            }),
        })
    }
}

fn find_method(method: &str) -> PyResult<&'static MethodInfo> {
    method::find(method).map_err(|error| message_error(&error.to_string()))
}

/// The formula of the response, and those of parameters.
fn split_formulas(formulas: &[String]) -> PyResult<(&str, &[String])> {
    match formulas {
        [first, others @ ..] => Ok((first, others)),
        [] => Err(message_error("formula: expected a formula, found none")),
    }
}

/// The columns of a table that formulas read.
#[pyfunction]
pub(crate) fn needed(formula: Vec<String>, names: Vec<String>) -> PyResult<Vec<String>> {
    let (first, others) = split_formulas(&formula)?;
    let parsed = Specification::parse(first, &names).map_err(refusal_error)?;
    let parsed = parsed
        .with_formulas(others, &names)
        .map_err(refusal_error)?;
    Ok(parsed.columns().into_iter().map(str::to_owned).collect())
}

/// A name and its description.
type Entry = (&'static str, &'static str);

/// The methods, with the advice on each and the descriptions of its settings.
#[pyfunction]
pub(crate) fn methods() -> Vec<(&'static str, &'static str, Vec<Entry>)> {
    let settings = |row: &MethodInfo| {
        let settings = row.settings().into_iter();
        settings.map(|one| (one.name, one.help)).collect()
    };
    METHODS
        .iter()
        .map(|row| (row.name, row.when, settings(row)))
        .collect()
}

/// A family: its name, other names, link, parameters and description.
type FamilyEntry = (
    &'static str,
    Vec<&'static str>,
    &'static str,
    Vec<&'static str>,
    &'static str,
);

/// The families of responses.
#[pyfunction]
pub(crate) fn families() -> Vec<FamilyEntry> {
    let entry = |family: &Family| {
        (
            family.name(),
            family.aliases().to_vec(),
            family.link().name(),
            family.parameters(),
            family.help(),
        )
    };
    Family::ALL.iter().map(entry).collect()
}

/// The treatment of groups that were not fitted.
pub(crate) fn new_levels(name: &str) -> PyResult<NewLevels> {
    match name {
        "refuse" => Ok(NewLevels::Refuse),
        "sample" => Ok(NewLevels::Sample),
        "reference" => Ok(NewLevels::Reference),
        other => Err(message_error(&format!(
            "new_levels: expected \"refuse\", \"sample\" or \"reference\", found {other:?}"
        ))),
    }
}

/// Whether predictions include group effects.
pub(crate) fn parse_level(name: &str) -> PyResult<PredictionLevel> {
    match name {
        "groups" => Ok(PredictionLevel::Groups),
        "population" => Ok(PredictionLevel::Population),
        other => Err(message_error(&format!(
            "level: expected \"groups\" or \"population\", found {other:?}"
        ))),
    }
}
