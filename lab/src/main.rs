//! `lehr-lab`: the paper's tables and the speed tables.

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
  lehr-lab bench step --method sl-dais --threads 1";

/// What lehr is measured by: the paper's tables and the speed of a training step
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
    Paper(command::Paper),
}

impl Cli {
    fn run(&self) -> Result<()> {
        let session = Session::new(self)?;
        session.in_pool(|| match &self.command {
            Command::Bench(bench) => bench.run(&session),
            Command::Paper(paper) => paper.run(&session),
        })
    }
}

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
