//! `lehr man`: the manual page, of the whole or of one command.

use anyhow::{Result, anyhow};
use clap::{Args, Command};
use clap_mangen::Man as Page;

use crate::outcome::CommandOutcome;
use crate::session::print_text;

/// Write the manual page to stdout
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr man > lehr.1
  lehr man fit > lehr-fit.1
  lehr man | man -l -")]
pub(crate) struct ManArgs {
    /// The command whose page is wanted [default: the page of lehr itself]
    command: Option<String>,
}

impl ManArgs {
    /// Writes the page; `whole` describes the command line.
    pub(crate) fn run_command(&self, mut whole: Command) -> Result<CommandOutcome> {
        whole.build();
        let page = match &self.command {
            None => Page::new(whole),
            Some(name) => {
                let found = whole.find_subcommand(name).cloned();
                let command = found.ok_or_else(|| {
                    anyhow!("man: no command {name:?}\n  hint: lehr --help lists the commands")
                })?;
                Page::new(command)
            }
        };
        let mut text = Vec::new();
        page.render(&mut text)?;
        print_text(&String::from_utf8_lossy(&text))?;
        Ok(CommandOutcome::Done)
    }
}
