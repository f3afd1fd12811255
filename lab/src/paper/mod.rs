//! The tables and figures of Jankowiak & Phan 2022, run again: published figures beside ours, by
//! the paper's recipe and by our defaults, with the gap to the log evidence beside every gain.
//!
//! ```no_run
//! use lehr_lab::paper::{Settings, Table};
//!
//! let answer = Table::Convergence.run(&Settings::quick(), &mut ())?;
//! println!("{}", answer.text(&lehr_report::Style::PLAIN));
//! # Ok::<(), lehr_lab::paper::PaperError>(())
//! ```

mod answer;
mod baseline;
pub mod cell;
mod dataset;
mod entry;
mod error;
#[expect(dead_code, reason = "bounds of chains are for the tests")]
#[path = "../../../crates/infer/tests/exact_regression/mod.rs"]
mod exact_regression;
mod fitting;
pub mod job;
mod labelled;
mod problem;
mod process;
pub mod published;
mod rank;
mod robust;
mod runner;
mod setting;
mod store;
mod study;
mod table;

pub use answer::{Answer, Section};
pub use dataset::{Dataset, Origin, PUBLISHED_ROWS};
pub use error::PaperError;
pub use labelled::Labelled;
pub use problem::{Predicted, Problem};
pub use runner::Watcher;
pub use setting::{PUBLISHED_ITERATIONS, Settings};
pub use table::{Table, UnknownTable};
