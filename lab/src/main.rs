//! `lehr-lab`: the paper's tables, the speed tables, the study of verdicts, and the bits of many small fits.

mod command;
mod live;
mod session;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use session::Session;

const EXAMPLES: &str = "\
Examples:
  lehr-lab paper convergence --quick
  lehr-lab bench step --method sl-dais --threads 1
  lehr-lab families --rows 5000
  lehr-lab golden -o target/golden.txt
  lehr-lab multilevel --threads 1
  lehr-lab verdict --seeds 20";

/// What lehr is measured by: the paper's tables, the speed of a training step, the truth of verdicts
#[derive(Debug, Parser)]
#[command(name = "lehr-lab", version, after_help = EXAMPLES, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Answer with one JSON value (keys: lab/README.md)
    #[arg(long, global = true, help_heading = "Everywhere")]
    json: bool,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    quiet: bool,
    /// Threads to use at most [default: one per core]
    #[arg(long, global = true, value_name = "N", help_heading = "Everywhere")]
    threads: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Bench(command::Bench),
    Families(command::Families),
    Golden(command::Golden),
    Multilevel(command::Multilevel),
    Paper(command::Paper),
    Verdict(command::Verdict),
}

impl Command {
    fn run(&self, session: &Session) -> Result<ExitCode> {
        let done = match self {
            Command::Bench(bench) => bench.run(session),
            Command::Families(families) => families.run(),
            Command::Golden(golden) => return golden.run(session),
            Command::Multilevel(multilevel) => multilevel.run(),
            Command::Paper(paper) => paper.run(session),
            Command::Verdict(verdict) => verdict.run(session),
        };
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Cli {
    fn run(&self) -> Result<ExitCode> {
        let session = Session::new(self)?;
        session.in_pool(|| self.command.run(&session))
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).peekable();
    if arguments.next_if(|first| first == command::LEHR).is_some() {
        let name = std::iter::once(command::LEHR.into());
        return ExitCode::from(lehr_cli::run(name.chain(arguments)));
    }
    match Cli::parse().run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::from(2)
        }
    }
}
