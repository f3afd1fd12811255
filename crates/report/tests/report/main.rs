//! The report as a reader's programs see it.

mod arviz;
mod browser;
mod chain;
mod page;

#[path = "../../examples/demo_report/data.rs"]
mod demo;
