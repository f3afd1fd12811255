//! From a formula and files to a saved fit: what `fit`, `compare` and `demo` share.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Result, anyhow};
use clap::Args;
use lehr_formula::{Expr, Formula, FormulaError, Terms};
use lehr_infer::fit::Fit;
use lehr_infer::train::{Checkpoint, Run};
use lehr_model::Bound;
use lehr_regression::{Family, Regression};
use lehr_table::{Column, Source, Table};

use crate::checking::Material;
use crate::live::Live;
use crate::reading::Reading;
use crate::saved::{SavedFit, today};

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
}

impl ModelArgs {
    /// Reads the columns that the formula names and makes the model.
    pub(crate) fn prepare(&self, reading: &Reading, live: &Live) -> Result<Prepared> {
        let clock = Instant::now();
        // A formula that does not parse is told before any file is opened.
        Formula::parse(&self.formula).map_err(|error| self.pointed(&error))?;
        let source = Source::open(&self.tables)?;
        let fields = source.schema(&reading.options(None)?)?;
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let terms = self.terms(&names)?;
        let columns = terms.columns().into_iter().map(str::to_owned).collect();
        let table = reading.table(&self.tables, Some(columns), live)?;
        live.show("making the model");
        let family = self.family.as_deref();
        let wish = Wish {
            formula: &self.formula,
            family: family.map(str::parse).transpose()?,
            priors: &self.priors,
        };
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

impl Prepared {
    /// Makes the model of a table; `clock` started with its reading.
    pub(crate) fn new(wish: &Wish<'_>, table: &Table, clock: Instant) -> Result<Prepared> {
        let family = wish.family.unwrap_or_else(|| guess(wish.formula, table));
        let origin = if wish.family.is_some() {
            "as asked"
        } else {
            "by the response"
        };
        let regression = Regression::new(wish.formula, family, wish.priors, table)?;
        let bound = regression.bind(table)?;
        Ok(Prepared {
            regression,
            bound,
            family_choice: format!("{family}, {origin}"),
            read_seconds: clock.elapsed().as_secs_f64(),
            dropped_rows: table.dropped_rows(),
        })
    }

    /// Fits by one method.
    pub(crate) fn fit(
        &self,
        fit: &Fit,
        live: &mut Live,
        checkpoint: Option<Checkpoint>,
    ) -> Result<SavedFit> {
        let mut run = Run {
            observer: live,
            checkpoint,
        };
        let mut posterior = fit.run(&self.bound, &mut run)?;
        let family = ("family".to_owned(), self.family_choice.clone());
        posterior.choices.insert(0, family);
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
fn guess(formula: &str, table: &Table) -> Family {
    let terms = Formula::parse(formula).and_then(|f| f.expand(table.names()));
    let Ok(terms) = terms else {
        return Family::Gaussian;
    };
    if terms.response.trials.is_some() {
        return Family::Binomial;
    }
    let Expr::Column(name) = &terms.response.outcome else {
        return Family::Gaussian;
    };
    match table.column(name) {
        Ok(Column::Boolean(_)) => Family::Bernoulli,
        Ok(Column::Category { levels, .. }) if levels.len() <= 2 => Family::Bernoulli,
        Ok(Column::Category { .. }) => Family::Categorical,
        Ok(Column::Number(y)) if y.iter().all(|&y| y == 0.0 || y == 1.0) => Family::Bernoulli,
        _ => Family::Gaussian,
    }
}
