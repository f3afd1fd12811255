//! `lehr methods`: the table of methods and surrogates.

use anyhow::Result;
use clap::Args;
use lehr::infer::method::METHODS;
use lehr::infer::surrogate::SurrogateKind;
use serde::Serialize;
use std::fmt::Write;

use crate::outcome::CommandOutcome;
use crate::session::Session;

/// List the methods and surrogates, and when to choose which
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr methods
  lehr methods --json")]
pub(crate) struct MethodsArgs {}

#[derive(Serialize)]
struct MethodRow {
    name: &'static str,
    aliases: &'static [&'static str],
    help: &'static str,
    cost: &'static str,
    when: &'static str,
}

#[derive(Serialize)]
struct SurrogateRow {
    name: &'static str,
    help: &'static str,
}

#[derive(Serialize)]
struct MethodList {
    methods: Vec<MethodRow>,
    surrogates: Vec<SurrogateRow>,
}

impl MethodsArgs {
    pub(crate) fn run_command(session: &Session) -> Result<CommandOutcome> {
        let methods = METHODS.iter().map(|info| MethodRow {
            name: info.name,
            aliases: info.aliases,
            help: info.help,
            cost: info.cost,
            when: info.when,
        });
        let listing = MethodList {
            methods: methods.collect(),
            surrogates: SurrogateKind::all()
                .map(|kind| SurrogateRow {
                    name: kind.name(),
                    help: kind.help(),
                })
                .collect(),
        };
        session.print_answer(&listing, || listing.format_text())?;
        Ok(CommandOutcome::Done)
    }
}

impl MethodList {
    fn format_text(&self) -> String {
        let mut out = String::from("Methods (--method)\n");
        for row in &self.methods {
            let _ = writeln!(out, "  {:<11} {}", row.name, row.help);
            if !row.aliases.is_empty() {
                let _ = writeln!(out, "  {:<11} also: {}", "", row.aliases.join(", "));
            }
            let _ = writeln!(out, "  {:<11} cost of a step: {}", "", row.cost);
            let _ = writeln!(out, "  {:<11} choose it for: {}", "", row.when);
        }
        out += "\nSurrogates of sl-dais (--surrogate; +- may be written for ±)\n";
        for row in &self.surrogates {
            let _ = writeln!(out, "  {:<11} {}", row.name, row.help);
        }
        out
    }
}
