//! The command `lehr`: tables, formulas, fits, predictions, a report.

mod acceptance;
mod argument;
mod choice;
mod command;
mod content;
mod failure;
mod fitting;
mod interrupt;
mod live;
mod memory;
mod object;
mod outcome;
mod output;
mod reading;
mod sample;
mod session;
mod stdin;
mod storing;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use argument::Cli;
use session::Session;

/// Runs the command of this process's arguments. Exit codes: 0 done, 1 done but the diagnostics
/// warn, 2 could not run.
fn main() -> ExitCode {
    failure::quieten_panics();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error),
    };
    let run = || -> anyhow::Result<_> {
        let session = Session::new(&cli)?;
        let outcome = session.in_pool(|| cli.command.run(&session));
        outcome.map_err(|error| session.retold(error))
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(outcome)) => outcome.into(),
        Ok(Err(error)) => failure::report(&error),
        Err(_) => failure::broken(),
    }
}
