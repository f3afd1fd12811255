//! The report as other programs read it.

mod arviz;
mod browser;
mod chain;
mod page;

#[path = "../../examples/demo_report/data.rs"]
mod demo;
