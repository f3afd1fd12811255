//! `lehr help`: the pages of the reference, and the help of commands.

use anyhow::{Result, anyhow};
use clap::{Args, Command};
use lehr::formula::nearest;
use serde::Serialize;

use crate::outcome::CommandOutcome;
use crate::session::Session;

/// The pages, by the name that asks for them.
const PAGES: &[(&str, &str)] = &[
    ("formula", include_str!("../../../../docs/formula.md")),
    ("priors", include_str!("../../../../docs/priors.md")),
    ("families", include_str!("../../../../docs/families.md")),
    ("smooth", include_str!("../../../../docs/smooth.md")),
    ("after", include_str!("../../../../docs/after.md")),
    ("verdict", include_str!("../../../../docs/verdict.md")),
    ("json", include_str!("../../../../docs/json.md")),
];

/// Print a page of the reference, or the help of a command
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr help formula
  lehr help priors
  lehr help fit

Pages: formula, priors, families, smooth, after, verdict, json.")]
pub(crate) struct HelpArgs {
    /// A page or a command [default: the help of lehr itself]
    topic: Option<String>,
}

#[derive(Serialize)]
struct HelpObject {
    topic: String,
    text: String,
}

impl HelpArgs {
    /// Prints the page; `whole` describes the command line.
    pub(crate) fn run_command(&self, session: &Session, whole: Command) -> Result<CommandOutcome> {
        let object = HelpObject {
            topic: self.topic.clone().unwrap_or_default(),
            text: self.format_text(whole)?,
        };
        session.print_answer(&object, || object.text.clone())?;
        Ok(CommandOutcome::Done)
    }

    fn format_text(&self, mut whole: Command) -> Result<String> {
        whole.build();
        let Some(topic) = &self.topic else {
            return Ok(whole.render_long_help().to_string());
        };
        if let Some((_, page)) = PAGES.iter().find(|(name, _)| name == topic) {
            return Ok((*page).to_owned());
        }
        if let Some(command) = whole.find_subcommand_mut(topic) {
            return Ok(command.render_long_help().to_string());
        }
        let pages: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
        let commands = whole.get_subcommands().map(Command::get_name);
        let known: Vec<&str> = pages.iter().copied().chain(commands).collect();
        let hint = match nearest(topic, &known) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("the pages are {}", pages.join(", ")),
        };
        Err(anyhow!(
            "help: no page or command {topic:?}\n  hint: {hint}"
        ))
    }
}
