//! From a formula and files to a saved fit: the common part of `fit`, `compare` and `demo`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use clap::Args;
use lehr::formula::Formulas;
use lehr::infer::fit::Fit;
use lehr::infer::method::MethodInfo;
use lehr::infer::observer::Observer;
use lehr::infer::run::Checkpoint;
use lehr::regression::{
    AnyModel, BoundRegression, Family, OpenRequest, PriorPredictive, SavedFit, Specification,
    TableInput, open,
};
use lehr::table::{Memory, TableFiles};

use crate::interrupt::{self, Reaction};
use crate::live::Live;
use crate::reading::ReadingArgs;
use crate::session::Session;
use crate::storing::RowFile;

/// The model on the command line.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModelArgs {
    /// The model, e.g. 'y ~ x1 + C(color) + (1 | site)'; `y ~ .` takes all columns;
    /// 'mvbind(y1, y2) ~ x + (1 |p| site)' has several responses
    pub(crate) formula: String,
    /// Files, folders or patterns that together are one table (csv, parquet, arrow; csv may be
    /// gz or zst); - reads stdin
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    /// How the response is distributed, e.g. gaussian, bernoulli, poisson (lehr families lists them); of
    /// several responses one for all or one for each, e.g. gaussian,poisson [default: by the response]
    #[arg(long, value_name = "NAME")]
    pub(crate) family: Option<String>,
    /// The formula of a parameter of the family, e.g. 'sigma ~ x1' (may be repeated)
    #[arg(long = "formula", value_name = "FORMULA")]
    pub(crate) formulas: Vec<String>,
    /// A prior, e.g. 'x1 ~ normal(0, 1)' or 'sd(site) ~ `half_normal(1)`' (may be repeated)
    #[arg(long = "prior", value_name = "PRIOR")]
    pub(crate) priors: Vec<String>,
    /// The most that the columns of the formula may take in memory, 8 bytes to a number. From a
    /// quarter of that on, Parquet files are read anew for each of a few passes where the model
    /// allows it; any other table that is larger is kept on disk, shuffled, in a file beside the
    /// output (without one, in the folder for temporary files) that goes when the fit is done
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub(crate) memory: Memory,
}

/// The inputs of a model.
pub(crate) struct ModelInputs<'a> {
    model: &'a ModelArgs,
    formula: Formulas,
    source: TableFiles,
    clock: Instant,
}

/// A model and its rows, ready to be fitted by any method.
pub(crate) struct FitTask {
    bound: BoundRegression,
    /// The file of the rows, if they are on disk.
    stored: Option<RowFile>,
}

impl ModelArgs {
    /// Parses the formula and finds the files. A formula that does not parse is reported before any
    /// file is opened.
    pub(crate) fn resolve_inputs(&self, session: &Session) -> Result<ModelInputs<'_>> {
        let clock = Instant::now();
        let formula = Formulas::parse(&self.formula);
        let formula = formula.map_err(|error| anyhow!(error.render(&self.formula)))?;
        Ok(ModelInputs {
            model: self,
            formula,
            source: session.open_tables(&self.tables)?,
            clock,
        })
    }

    fn make_specification(&self, formula: &Formulas, names: &[String]) -> Result<Specification> {
        let specification = Specification::new(formula, names)?;
        let specification = match &self.family {
            Some(names) => specification.with_families(&Family::parse_all(names)?)?,
            None => specification,
        };
        let specification = specification.with_formulas(&self.formulas, names)?;
        Ok(specification.with_priors(&self.priors)?)
    }
}

impl ModelInputs<'_> {
    /// The input files.
    pub(crate) fn paths(&self) -> Vec<&Path> {
        self.source.paths().collect()
    }

    /// Reads the columns that the formula names and builds the model for these methods. Rows that
    /// do not fit into memory, and are not read from their own files, are stored beside `output`.
    pub(crate) fn prepare_task(
        &self,
        reading: &ReadingArgs,
        (output, methods): (Option<&Path>, &[&MethodInfo]),
        live: &Live,
    ) -> Result<FitTask> {
        let source = &self.source;
        let options = reading.read_options(None)?;
        let fields = source.read_schema(&options)?;
        let dates = fields.iter().filter(|field| field.is_date());
        let dates: Vec<String> = dates.map(|field| field.name.clone()).collect();
        let names: Vec<String> = fields.into_iter().map(|field| field.name).collect();
        let specification = self.model.make_specification(&self.formula, &names);
        let specification = specification.map_err(|error| with_header_hint(error, &names))?;
        let specification = specification.with_dates(&dates);
        let opening = OpenRequest {
            options: &options,
            memory: self.model.memory.0,
            methods,
            observer: live,
            clock: self.clock,
        };
        let mut stored = None;
        let bound = open(
            &specification,
            &TableInput::Files(source),
            &opening,
            &mut || -> Result<PathBuf> {
                let file = stored.insert(RowFile::new(output)?);
                interrupt::set_reaction(Reaction::Finish);
                Ok(file.path().to_owned())
            },
        );
        if stored.is_some() {
            interrupt::set_reaction(Reaction::End);
        }
        Ok(FitTask {
            bound: bound?,
            stored,
        })
    }
}

/// A hint on a missing header: column names that are numbers are data, and if most names are empty
/// the first line is a title.
fn with_header_hint(error: anyhow::Error, names: &[String]) -> anyhow::Error {
    let is_number = |name: &&String| name.parse::<f64>().is_ok();
    let is_empty = |name: &&String| name.starts_with("column_");
    if names.iter().any(|name| is_number(&name)) {
        anyhow!("{error}\n  hint: the first line looks like data; --no-header reads it as such")
    } else if names.len() > 1 && names.iter().filter(is_empty).count() + 1 >= names.len() {
        anyhow!(
            "{error}\n  hint: the first line looks like a title; delete what stands above the names"
        )
    } else {
        error
    }
}

impl FitTask {
    /// Draws from the priors.
    pub(crate) fn prior_predictive(&self, draws: usize, seed: u64) -> Result<PriorPredictive> {
        ensure!(draws > 0, "--draws: expected a number above 0, found 0");
        Ok(self.bound.prior_predictive(draws, seed)?)
    }

    /// Draws of the prior in place of a fit.
    pub(crate) fn prior_only(&self, draws: usize, seed: u64) -> Result<SavedFit> {
        Ok(self.bound.prior_only(draws, seed)?)
    }

    /// The model without its rows.
    pub(crate) fn subject(&self) -> &AnyModel {
        &self.bound.subject
    }

    /// Keeps the rows on disk, if there are any, for a fit that will be resumed.
    pub(crate) fn keep_rows(&mut self) {
        if let Some(stored) = &mut self.stored {
            stored.keep_file();
        }
    }

    /// Fits by one method.
    pub(crate) fn run_fit(
        &self,
        fit: Fit<'_>,
        live: &mut Live,
        checkpoint: Option<Checkpoint>,
    ) -> Result<SavedFit> {
        let fit = match checkpoint {
            Some(checkpoint) => fit.checkpoint(checkpoint),
            None => fit,
        };
        if let Some(words) = self.bound.ahead() {
            live.remark(&words);
        }
        Ok(self.bound.fit(fit.observer(live))?)
    }
}
