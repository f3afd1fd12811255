//! Bayesian inference for tables too large for MCMC: a model and a table in, posterior draws, a
//! bound on the log evidence and a verdict out.
//!
//! A regression is a formula:
//!
//! ```
//! use lehr::prelude::*;
//!
//! let table = Table::new()
//!     .with_number("x", (0..200).map(|i| f64::from(i) / 100.0 - 1.0).collect())?
//!     .with_number("y", (0..200).map(|i| f64::from(i % 3 == 0)).collect())?;
//! let fit = lehr::regress("y ~ x", &table)?
//!     .family("bernoulli")?
//!     .prior("x ~ normal(0, 1)")?
//!     .fit()?;
//! println!("{}", fit.verdict().sentence);
//! for coefficient in fit.coefficients(Groups::Leave) {
//!     println!("{}: {:.2}", coefficient.name, coefficient.best_summary().mean);
//! }
//! let probabilities = fit.predict(&table)?.means().expect("a mean in every row");
//! assert!(probabilities.iter().all(|p| (0.0..1.0).contains(p)));
//! assert!(fit.evaluate(&table)?.accuracy.expect("classes") > 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Any other model is a function:
//!
//! ```
//! use lehr::prelude::*;
//!
//! # let table = Table::new()
//! #     .with_number("x", (0..200).map(|i| f64::from(i) / 100.0 - 1.0).collect())?
//! #     .with_number("y", (0..200).map(|i| f64::from(i % 3 == 0)).collect())?;
//! let model = Model::new(|m| {
//!     let slope = m.sample("slope", Normal::new(0.0, 1.0));
//!     let level = m.sample("level", Normal::new(0.0, 2.0));
//!     m.rows(|row| {
//!         let logit = row.number("x") * slope + level;
//!         row.observe("y", Bernoulli::with_logit(logit));
//!     });
//! });
//! let density = model.bind(&table)?;
//! let posterior = Fit::new(FullRank::default()).seed(7).run(&density)?;
//! println!("{}", posterior.verdict());
//! let bound = posterior.bound().expect("a variational method has one");
//! let evidence = posterior.evidence.expect("and an estimate");
//! assert!(bound.mean < evidence.estimate.mean + 0.1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use lehr_density as density;
pub use lehr_file as file;
pub use lehr_formula as formula;
pub use lehr_graph as graph;
pub use lehr_infer as infer;
pub use lehr_learn as learn;
pub use lehr_model as model;
pub use lehr_numeric as numeric;
pub use lehr_report as report;
pub use lehr_table as table;
pub use lehr_workflow as workflow;

pub mod regression;

pub use lehr_infer::method::METHODS;
pub use lehr_workflow::{Error, SavedFit, regress};

use std::path::Path;

/// The names that most programs use.
pub mod prelude {
    pub use lehr_density::{Density, Support};
    pub use lehr_graph::Expr;
    pub use lehr_infer::fit::{Fit, FitError};
    pub use lehr_infer::judge::Level;
    pub use lehr_infer::method::{
        Auto, Bnaf, Collapse, Dais, FullRank, Hmc, Hmcecs, Iaf, LowRank, MeanField, Method,
        Ns2Dais, NsDais, Nuts, NutsCs, SemiDais, SlDais, SurrogateHmc,
    };
    pub use lehr_infer::posterior::Posterior;
    pub use lehr_infer::train::Iterations;
    pub use lehr_learn::NewLevels;
    pub use lehr_model::distribution::*;
    pub use lehr_model::{Model, Row};
    pub use lehr_regression::{Family, Groups};
    pub use lehr_table::Table;
    pub use lehr_workflow::{PosteriorReport, SavedFit, regress};
}

/// Loads a saved fit, whether [`SavedFit::save`] or the command wrote it.
pub fn load(path: impl AsRef<Path>) -> Result<SavedFit, Error> {
    SavedFit::load(path)
}

/// The README's Rust, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// The page of Rust, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
pub struct RustPage;

/// The Rust of the page on latents of single rows, compiled as a test.
#[cfg(doctest)]
#[doc = include_str!("../docs/locals.md")]
pub struct LocalsPage;
