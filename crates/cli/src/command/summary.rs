//! `lehr summary`: a saved fit in words and numbers.

use std::fmt::Write;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use lehr::infer::chains::Chains;
use lehr::infer::posterior::{Diagnostics, Evidence, Posterior, Proposal};
use lehr::regression::{Groups, SavedFit};

use crate::live::format_seconds;
use crate::object::FitObject;
use crate::outcome::CommandOutcome;
use crate::session::Session;

/// Show a saved fit: verdict, coefficients, priors, choices
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr summary fit.lehr
  lehr summary fit.lehr --groups
  lehr summary fit.lehr --json | jq '.coefficients[] | select(.name == \"x1\")'")]
pub(crate) struct SummaryArgs {
    /// A file written by lehr fit; - reads stdin
    fit: PathBuf,
    /// List the effects of single groups too
    #[arg(long)]
    groups: bool,
}

impl SummaryArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        let saved = SavedFit::load(session.resolve_input(&self.fit)?)?;
        let groups = Groups::from(self.groups);
        session.print_answer(&FitObject::new(&saved, groups), || {
            format_text(&saved, groups)
        })?;
        Ok(CommandOutcome::from(&saved))
    }
}

/// A summary in words of the work that was done.
fn describe_work(posterior: &Posterior) -> String {
    if posterior.is_prior() {
        return format!("{} draws", posterior.n_draws());
    }
    match &posterior.diagnostics {
        Diagnostics::Importance(one) => match &one.proposal {
            Proposal::Guide(training) => format!("{} iterations", training.iterations),
            Proposal::Chains(chains) => of_chains(posterior, chains),
        },
        Diagnostics::Chains(chains) => of_chains(posterior, chains),
    }
}

fn of_chains(posterior: &Posterior, chains: &Chains) -> String {
    let (draws, count, gradients) = (posterior.n_draws(), chains.count, chains.gradients);
    format!("{draws} draws of {count} chains, {gradients} gradients")
}

/// The log evidence in words.
fn evidence_words(evidence: &Evidence) -> String {
    let estimate = evidence.estimate;
    let bound = evidence.bound.map_or_else(String::new, |bound| {
        format!(", at least {:.2} ± {:.2} (bound)", bound.mean, bound.error)
    });
    let (mean, error) = (estimate.mean, estimate.error);
    format!("log evidence {mean:.2} ± {error:.2}{bound}\n")
}

/// The verdict, the coefficients, and the settings of the fit.
pub(crate) fn format_text(saved: &SavedFit, groups: Groups) -> String {
    let style = Session::style();
    let posterior = &saved.posterior;
    let mut out = style.format_verdict(&saved.verdict());
    out.push('\n');
    out += &style.format_coefficients(&saved.coefficients(groups));
    out.push('\n');
    let explained = saved.explained();
    if !explained.is_empty() {
        out += &style.format_shares(&explained);
        out.push('\n');
    }
    if let Some(evidence) = &posterior.evidence {
        out += &evidence_words(evidence);
    }
    let _ = writeln!(
        out,
        "{}, {} rows{}, {} latents, {} in {}",
        posterior.method(),
        posterior.origin.rows,
        describe_dropped(saved),
        posterior.n_latents(),
        describe_work(posterior),
        format_seconds(saved.seconds().total())
    );
    out += &describe_model(saved);
    let choices = posterior.choices.iter();
    out += &list_lines(
        "choices",
        choices
            .map(|(key, value)| format!("{key}: {value}"))
            .collect(),
    );
    out += &list_lines("notes", saved.notes());
    out += &list_lines("the file holds", vec![saved.contents.clone()]);
    out
}

/// The expanded formula and its priors, or the statements of any other model.
fn describe_model(saved: &SavedFit) -> String {
    let regressions = saved.subject.regressions();
    if regressions.is_empty() {
        let lines = saved.posterior.origin.description.lines();
        return list_lines("model", lines.map(str::to_owned).collect());
    }
    let priors = saved.subject.priors().into_iter();
    let priors = priors.map(|(name, prior)| format!("{name} ~ {prior}"));
    let formulas = regressions.into_iter().flat_map(|regression| {
        let terms = regression.terms();
        let formulas = std::iter::once(terms).chain(&terms.parameters);
        formulas.map(ToString::to_string)
    });
    list_lines("model", formulas.collect()) + &list_lines("priors", priors.collect())
}

fn describe_dropped(saved: &SavedFit) -> String {
    match saved.dropped_rows {
        0 => String::new(),
        count => format!(" ({count} with missing values left out)"),
    }
}

/// A heading and its lines; empty without lines.
fn list_lines(heading: &str, lines: Vec<String>) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let body: Vec<String> = lines
        .into_iter()
        .map(|line| format!("  {line}\n"))
        .collect();
    format!("{heading}\n{}", body.concat())
}
