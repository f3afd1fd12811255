//! A fitted posterior as terminal tables, plots, one self-contained page and ArviZ-readable files.
//! The caller fills a [`ReportData`]; parts that it leaves empty do not appear in the report.
//!
//! ```
//! use lehr_report::{Coefficient, Level, ReportData, Summary, Verdict, render_page};
//!
//! let data = ReportData {
//!     title: "y ~ x".into(),
//!     method: "sl-dais".into(),
//!     verdict: Verdict { level: Level::Reliable, sentence: "k = 0.31".into(), advice: vec![] },
//!     coefficients: vec![Coefficient::new("x", Summary::normal_summary(1.2, 0.1))],
//!     ..ReportData::default()
//! };
//! assert!(render_page(&data).starts_with("<!DOCTYPE html>"));
//! ```

mod abbreviation;
mod arviz;
mod chain;
mod data;
mod error;
mod html;
mod listing;
mod markup;
mod name;
mod number;
mod plot;
mod sheet;
mod terminal;

pub use arviz::{Dimension, Group, InferenceData, Lead, Variable};
pub use chain::{ChainQuantity, ChainReport};
pub use data::{
    AllLevels, CalibrationBin, Choice, Coefficient, Comparison, CountBin, Draws, EffectCurve,
    EffectPoint, Estimate, FittedFunction, FunctionCurve, FunctionShape, FunctionSurface,
    GroupEffects, Level, PredictiveCheck, Prior, ReportData, Residual, Seconds, Summary,
    TracePoint, Verdict,
};
pub use error::ReportError;
pub use html::{render_page, write_page};
pub use name::{AxisKind, Effect, Name, Place};
pub use plot::{Axis, Chart, Dots, Law, Lines, Mark, Series};
pub use sheet::{Part, Sheet, TextTable};
pub use terminal::{Color, Style};
