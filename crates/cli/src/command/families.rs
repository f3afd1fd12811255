//! `lehr families`: how a response may be distributed.

use anyhow::Result;
use clap::Args;
use lehr::regression::Family;
use serde::Serialize;

use crate::outcome::CommandOutcome;
use crate::session::Session;

/// List the families of responses, their links and their parameters
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr families
  lehr families --json | jq -r '.families[].name'")]
pub(crate) struct FamiliesArgs {}

#[derive(Serialize)]
struct FamilyObject {
    name: &'static str,
    aliases: &'static [&'static str],
    link: &'static str,
    parameters: Vec<&'static str>,
    help: &'static str,
}

#[derive(Serialize)]
struct FamiliesObject {
    families: Vec<FamilyObject>,
}

impl FamilyObject {
    fn new(family: Family) -> FamilyObject {
        FamilyObject {
            name: family.name(),
            aliases: family.aliases(),
            link: family.link().name(),
            parameters: family.parameters(),
            help: family.help(),
        }
    }
}

impl FamiliesArgs {
    pub(crate) fn run_command(session: &Session) -> Result<CommandOutcome> {
        let families = Family::ALL.iter().copied().map(FamilyObject::new);
        let object = FamiliesObject {
            families: families.collect(),
        };
        session.print_answer(&object, || format_text(&object))?;
        Ok(CommandOutcome::Done)
    }
}

fn format_text(object: &FamiliesObject) -> String {
    let width = object.families.iter().map(|one| one.name.len()).max();
    let width = width.unwrap_or(0);
    let line = |one: &FamilyObject| format!("{:width$}  {}\n", one.name, one.help);
    object.families.iter().map(line).collect()
}
