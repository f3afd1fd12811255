//! The command line as one description, from which help, completions and the man page come.

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use crate::command;
use crate::outcome::CommandOutcome;
use crate::session::{Session, SessionOptions};

const EXAMPLES: &str = "\
Examples:
  lehr demo
  lehr fit 'y ~ x1 + x2 + (1 | site)' train.parquet --family bernoulli -o fit.lehr
  lehr summary fit.lehr
  lehr predict fit.lehr new.parquet -o scored.parquet

Exit codes: 0 done, 1 done but the diagnostics warn, 2 could not run.";

/// Bayesian inference for tables too large for MCMC
///
/// Give a formula and a table (CSV, Parquet, Arrow; one file, a folder or a pattern) and get
/// posterior draws, a bound on the log evidence, predictions and a verdict on all of them.
#[derive(Debug, Parser)]
#[command(name = "lehr", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(args_override_self = true, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) options: SessionOptions,
}

/// The commands, each in a file of its own.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(command::DemoArgs),
    Fit(command::FitArgs),
    Summary(command::SummaryArgs),
    Draws(command::DrawsArgs),
    Predict(command::PredictArgs),
    Effects(command::EffectsArgs),
    Evaluate(command::EvaluateArgs),
    Loo(command::LooArgs),
    Compare(command::CompareArgs),
    Report(command::ReportArgs),
    Priors(command::PriorsArgs),
    Methods(command::MethodsArgs),
    Families(command::FamiliesArgs),
    Check(command::CheckArgs),
    Help(command::HelpArgs),
    Completions(command::CompletionsArgs),
    Man(command::ManArgs),
}

impl Command {
    /// Runs the command.
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        match self {
            Command::Demo(command) => command.run_command(session),
            Command::Fit(command) => command.run_command(session),
            Command::Summary(command) => command.run_command(session),
            Command::Draws(command) => command.run_command(session),
            Command::Predict(command) => command.run_command(session),
            Command::Effects(command) => command.run_command(session),
            Command::Evaluate(command) => command.run_command(session),
            Command::Loo(command) => command.run_command(session),
            Command::Compare(command) => command.run_command(session),
            Command::Report(command) => command.run_command(session),
            Command::Priors(command) => command.run_command(session),
            Command::Methods(_) => command::MethodsArgs::run_command(session),
            Command::Families(_) => command::FamiliesArgs::run_command(session),
            Command::Check(command) => command.run_command(session),
            Command::Help(command) => command.run_command(session, Cli::command()),
            Command::Completions(command) => command.run_command(Cli::command()),
            Command::Man(command) => command.run_command(Cli::command()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            assert!(
                help.contains("lehr "),
                "{} has no example",
                command.get_name()
            );
        }
    }
}
