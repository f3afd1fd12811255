//! `lehr completions`: what a shell needs to complete commands and flags.

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::outcome::CommandOutcome;
use crate::session::print_text;

/// Write shell completions to stdout
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr completions bash > ~/.local/share/bash-completion/completions/lehr
  lehr completions zsh > ~/.zfunc/_lehr
  lehr completions fish > ~/.config/fish/completions/lehr.fish")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

impl CompletionsArgs {
    /// Writes the completions; `whole` describes the command line.
    pub(crate) fn run_command(&self, mut whole: Command) -> Result<CommandOutcome> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut whole, "lehr", &mut text);
        print_text(&String::from_utf8_lossy(&text))?;
        Ok(CommandOutcome::Done)
    }
}
