//! `lehr completions`: what a shell needs to complete commands and flags.

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::outcome::Outcome;
use crate::session::print_text;

/// Write shell completions to stdout
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr completions bash > ~/.local/share/bash-completion/completions/lehr
  lehr completions zsh > ~/.zfunc/_lehr
  lehr completions fish > ~/.config/fish/completions/lehr.fish")]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    /// Writes the completions; `whole` describes the command line.
    pub(crate) fn run_command(&self, mut whole: Command) -> Result<Outcome> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut whole, "lehr", &mut text);
        print_text(&String::from_utf8_lossy(&text))?;
        Ok(Outcome::Done)
    }
}
