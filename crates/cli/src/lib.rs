//! The command `lehr`: tables, formulas, fits, predictions, a report.

mod acceptance;
mod against;
mod argument;
mod choice;
mod command;
mod content;
mod failure;
mod fitting;
mod interrupt;
mod leaving;
mod live;
mod object;
mod one_response;
mod outcome;
mod output;
mod reading;
mod sample;
mod session;
mod stdin;
mod storing;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::Parser;
use lehr::graph::SimdLevel;

use argument::Cli;
use session::Session;

/// Runs the command with these arguments, the program's name first. Exit codes: 0 done, 1 done
/// but the diagnostics warn, 2 could not run.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    failure::quieten_panics();
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return failure::report_usage(&error),
    };
    let run = || -> anyhow::Result<_> {
        SimdLevel::from_environment().map_err(anyhow::Error::msg)?;
        let session = Session::new(cli.options)?;
        let outcome = session.in_pool(|| cli.command.run_command(&session));
        outcome.map_err(|error| session.retell_error(error))
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(outcome)) => outcome.exit_code(),
        Ok(Err(error)) => failure::report_error(&error),
        Err(_) => failure::report_broken(),
    }
}
