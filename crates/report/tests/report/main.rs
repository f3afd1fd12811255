//! The report as a reader's programs see it.

mod arviz;
mod browser;
mod page;

#[path = "../../examples/demo_report/data.rs"]
mod demo;
