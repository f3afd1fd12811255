//! From a formula and files to a saved fit: what `fit`, `compare` and `demo` share.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use clap::Args;
use lehr_density::Density;
use lehr_formula::{Expr, Formula, FormulaError, Terms};
use lehr_infer::fit::Fit;
use lehr_infer::method::Method;
use lehr_infer::train::{Checkpoint, Run};
use lehr_model::Bound;
use lehr_regression::{Blocks, Family, Regression};
use lehr_table::{Column, Source, Table};

use crate::checking::Material;
use crate::live::Live;
use crate::memory::Memory;
use crate::reading::Reading;
use crate::saved::{SavedFit, today};
use crate::storing::{self, Files, RowFile};

/// The model on the command line.
#[derive(Clone, Debug, Args)]
pub(crate) struct ModelArgs {
    /// The model, e.g. 'y ~ x1 + C(color) + (1 | site)'; `y ~ .` takes all columns
    pub(crate) formula: String,
    /// Files, folders or patterns that together are one table (csv, parquet, arrow; csv may be
    /// gz or zst)
    #[arg(required = true, value_name = "TABLE")]
    pub(crate) tables: Vec<PathBuf>,
    /// How the response is distributed: gaussian, student, bernoulli, binomial, poisson,
    /// negbinomial, gamma, beta, categorical, ordinal, `zero_inflated_poisson` or
    /// `zero_inflated_negbinomial` [default: by the response]
    #[arg(long, value_name = "NAME")]
    pub(crate) family: Option<String>,
    /// A prior, e.g. 'x1 ~ normal(0, 1)' or 'sd(site) ~ `half_normal(1)`' (may be repeated)
    #[arg(long = "prior", value_name = "PRIOR")]
    pub(crate) priors: Vec<String>,
    /// The most that the columns of the formula may take in memory, 8 bytes to a number; a
    /// larger table is kept on disk, shuffled, in a file beside the output (without one, in
    /// the folder for temporary files) that goes when the fit is done
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub(crate) memory: Memory,
}

/// A model and its rows, ready to be fitted by any method.
pub(crate) struct Prepared {
    /// The model without its rows.
    pub(crate) regression: Regression,
    /// The model on its rows.
    pub(crate) bound: Bound,
    /// How the family came about.
    family_choice: String,
    read_seconds: f64,
    dropped_rows: usize,
    /// The rows of the model where they are on disk.
    stored: Option<RowFile>,
}

impl ModelArgs {
    /// Reads the columns that the formula names and makes the model. Where the rows do not fit
    /// into memory they are kept beside `output`.
    pub(crate) fn prepare(
        &self,
        reading: &Reading,
        output: Option<&Path>,
        live: &Live,
    ) -> Result<Prepared> {
        let clock = Instant::now();
        // A formula that does not parse is told before any file is opened.
        Formula::parse(&self.formula).map_err(|error| self.pointed(&error))?;
        let source = Source::open(&self.tables)?;
        let fields = source.schema(&reading.options(None)?)?;
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let terms = self.terms(&names)?;
        let columns = terms.columns().into_iter().map(str::to_owned).collect();
        let options = reading.options(Some(columns))?;
        let family = self.family.as_deref();
        let wish = Wish {
            formula: &self.formula,
            family: family.map(str::parse).transpose()?,
            priors: &self.priors,
        };
        if source.expected_bytes(&options)? > self.memory.0 {
            let files = Files::new(&source, &options, live)?;
            return Prepared::on_disk(&wish, &files, output, clock);
        }
        let table = source.read(&options, &mut |progress| live.rows(progress))?;
        live.show("making the model");
        Prepared::new(&wish, &table, clock)
    }

    fn terms(&self, names: &[&str]) -> Result<Terms> {
        let read = || -> Result<Terms, FormulaError> {
            let terms = Formula::parse(&self.formula)?.expand(names)?;
            terms.check_columns(names)?;
            Ok(terms)
        };
        read().map_err(|error| self.pointed(&error))
    }

    fn pointed(&self, error: &FormulaError) -> anyhow::Error {
        anyhow!(error.render(&self.formula))
    }
}

/// A model in words.
pub(crate) struct Wish<'a> {
    /// The formula.
    pub(crate) formula: &'a str,
    /// The family; by the response if `None`.
    pub(crate) family: Option<Family>,
    /// The priors that were given.
    pub(crate) priors: &'a [String],
}

impl Wish<'_> {
    /// The model of a table, and how its family came about.
    fn regression(&self, table: &dyn Blocks) -> Result<(Regression, String)> {
        let (family, origin) = match self.family {
            Some(family) => (family, "as asked"),
            None => (guess(self.formula, table)?, "by the response"),
        };
        let regression = Regression::learn(self.formula, family, self.priors, table)?;
        Ok((regression, format!("{family}, {origin}")))
    }
}

impl Prepared {
    /// Makes the model of a table; `clock` started with its reading.
    pub(crate) fn new(wish: &Wish<'_>, table: &Table, clock: Instant) -> Result<Prepared> {
        let dropped = table.dropped_rows();
        ensure!(
            table.n_rows() > 0 || dropped == 0,
            "table: expected at least one row, found none: all {dropped} have a missing value\n  hint: leave columns that are seldom filled out of the formula"
        );
        let (regression, family_choice) = wish.regression(table)?;
        Ok(Prepared {
            bound: regression.bind(table)?,
            regression,
            family_choice,
            read_seconds: clock.elapsed().as_secs_f64(),
            dropped_rows: dropped,
            stored: None,
        })
    }

    /// Makes the model of a table that does not fit into memory.
    fn on_disk(
        wish: &Wish<'_>,
        files: &Files<'_>,
        output: Option<&Path>,
        clock: Instant,
    ) -> Result<Prepared> {
        let (regression, family_choice) = wish.regression(files)?;
        let stored = RowFile::new(output)?;
        let (bound, dropped_rows) = storing::bind(&regression, files, &stored)?;
        Ok(Prepared {
            regression,
            bound,
            family_choice,
            read_seconds: clock.elapsed().as_secs_f64(),
            dropped_rows,
            stored: Some(stored),
        })
    }

    /// Keeps the rows on disk, if there are any, for a fit that will be gone on with.
    pub(crate) fn keep_rows(&mut self) {
        if let Some(stored) = &mut self.stored {
            stored.keep();
        }
    }

    /// Fits by one method.
    pub(crate) fn fit(
        &self,
        fit: &Fit,
        live: &mut Live,
        checkpoint: Option<Checkpoint>,
    ) -> Result<SavedFit> {
        ensure!(
            self.stored.is_none() || fit.method != Method::Dais,
            "dais: expected rows in memory, found {} on disk\n  hint: sl-dais does not need them, or allow more with --memory",
            self.bound.n_rows()
        );
        let mut run = Run {
            observer: live,
            checkpoint,
        };
        let mut posterior = fit.run(&self.bound, &mut run)?;
        let family = ("family".to_owned(), self.family_choice.clone());
        posterior.choices.insert(0, family);
        if self.stored.is_some() {
            let rows = ("rows".to_owned(), "on disk, shuffled".to_owned());
            posterior.choices.insert(1, rows);
        }
        let rows = posterior.guide.contents(&self.bound)?;
        let mut saved = SavedFit {
            version: env!("CARGO_PKG_VERSION").into(),
            date: today(),
            regression: self.regression.clone(),
            posterior,
            read_seconds: self.read_seconds,
            dropped_rows: self.dropped_rows as u64,
            contents: String::new(),
            material: Material::default(),
        };
        saved.material = Material::new(&saved, &self.bound);
        saved.contents = saved.material.contents(&rows);
        Ok(saved)
    }
}

/// The family that suits a response if none was named.
fn guess(formula: &str, table: &dyn Blocks) -> Result<Family> {
    let terms = Formula::parse(formula).and_then(|f| f.expand(table.names()));
    let Ok(terms) = terms else {
        return Ok(Family::Gaussian);
    };
    if terms.response.trials.is_some() {
        return Ok(Family::Binomial);
    }
    let Expr::Column(name) = &terms.response.outcome else {
        return Ok(Family::Gaussian);
    };
    if !table.names().contains(name) {
        return Ok(Family::Gaussian);
    }
    let (mut levels, mut is_binary, mut is_text) = (HashSet::new(), true, false);
    // Rows are left out for the same missing values as in the fit.
    table.each(&terms.columns(), &mut |block| {
        match block.column(name) {
            Ok(Column::Boolean(_)) => {}
            Ok(Column::Category { levels: names, .. }) => {
                is_text = true;
                levels.extend(names.iter().take(3).cloned());
            }
            Ok(Column::Number(y)) => is_binary &= y.iter().all(|&y| y == 0.0 || y == 1.0),
            _ => is_binary = false,
        }
        Ok(())
    })?;
    Ok(match (is_text, is_binary) {
        (true, _) if levels.len() > 2 => Family::Categorical,
        (true, _) | (_, true) => Family::Bernoulli,
        _ => Family::Gaussian,
    })
}
