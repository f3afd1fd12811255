//! `lehr priors`: what a model believes before it sees the rows.

use std::fmt::Write;

use anyhow::Result;
use clap::Args;
use lehr::regression::{PriorLine, PriorSummary};
use serde::Serialize;

use crate::fitting::ModelArgs;
use crate::live::Live;
use crate::outcome::CommandOutcome;
use crate::reading::ReadingArgs;
use crate::session::Session;

/// List the priors of a model, and who set each
///
/// Reads the table, to which default priors are scaled, and fits nothing. With --predictive it also
/// draws coefficients and responses from the priors, beside the response of the table.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr priors 'y ~ x + (1 | site)' train.parquet
  lehr priors 'y ~ x' data.csv --predictive
  lehr priors 'y ~ x' data.csv --prior 'weight ~ normal(0, 1)' --formula 'sigma ~ x'")]
pub(crate) struct PriorsArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// Draw from the priors: what coefficients and responses they expect
    #[arg(long)]
    predictive: bool,
    /// How many draws
    #[arg(long, value_name = "N", default_value_t = 500, requires = "predictive")]
    draws: usize,
    /// The seed of the draws
    #[arg(long, value_name = "N", default_value_t = 0, requires = "predictive")]
    seed: u64,
    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Serialize)]
struct PriorsObject {
    formula: String,
    family: String,
    priors: Vec<PriorLineObject>,
    /// Present if draws were requested.
    predictive: Option<PredictiveObject>,
}

#[derive(Serialize)]
struct PredictiveObject {
    draws: usize,
    #[serde(flatten)]
    summary: PriorSummary,
}

#[derive(Serialize)]
struct PriorLineObject {
    name: String,
    prior: String,
    origin: String,
}

impl PriorLineObject {
    fn new(line: PriorLine) -> PriorLineObject {
        PriorLineObject {
            name: line.name,
            prior: line.distribution,
            origin: line.origin.to_string(),
        }
    }
}

impl PriorsArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        let live = Live::new(session, "priors");
        let inputs = self.model.resolve_inputs(session)?;
        let task = inputs.prepare_task(&self.reading, (None, &[]), &live)?;
        drop(live);
        let predictive = self
            .predictive
            .then(|| task.prior_predictive(self.draws, self.seed));
        let subject = task.subject();
        let lines = subject.prior_lines();
        let object = PriorsObject {
            formula: subject.title(),
            family: subject.family_names().unwrap_or_default(),
            priors: lines.iter().cloned().map(PriorLineObject::new).collect(),
            predictive: predictive.transpose()?.map(|drawn| PredictiveObject {
                draws: self.draws,
                summary: drawn.into_summary(),
            }),
        };
        let words = || {
            let drawn = object.predictive.as_ref().map(describe_predictive);
            format_text(&lines) + &drawn.unwrap_or_default()
        };
        session.print_answer(&object, words)?;
        Ok(CommandOutcome::Done)
    }
}

/// The prior predictive quantiles, as tables.
fn describe_predictive(PredictiveObject { draws, summary }: &PredictiveObject) -> String {
    let head = |title: &str, first: &str| {
        format!(
            "\n{title}\n{:28}{first}{:>12}{:>12}{:>12}\n",
            "", "5 %", "50 %", "95 %"
        )
    };
    let mut text = head(&format!("coefficients in {draws} draws of the prior"), "");
    for one in &summary.coefficients {
        let [q5, q50, q95] = [one.q5, one.q50, one.q95].map(format_short);
        let _ = writeln!(text, "{:28}{q5:>12}{q50:>12}{q95:>12}", one.name);
    }
    if summary.response.is_empty() {
        return text;
    }
    let title = format!("the response in {} rows, by the prior", summary.rows);
    text += &head(&title, &format!("{:>12}", "in the table"));
    for one in &summary.response {
        let [observed, q5, q50, q95] = [one.observed, one.q5, one.q50, one.q95].map(format_short);
        let mark = if one.is_surprising() { "  outside" } else { "" };
        let _ = writeln!(
            text,
            "{:28}{observed:>12}{q5:>12}{q50:>12}{q95:>12}{mark}",
            one.name
        );
    }
    text
}

/// The number with four digits.
fn format_short(value: f64) -> String {
    match value.abs() {
        size if size != 0.0 && !(1e-3..1e6).contains(&size) => format!("{value:.2e}"),
        size if size >= 100.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

fn format_text(lines: &[PriorLine]) -> String {
    let width = |part: fn(&PriorLine) -> usize| lines.iter().map(part).max().unwrap_or(0);
    let name = width(|line| line.name.chars().count());
    let prior = width(|line| line.distribution.chars().count());
    let line = |line: &PriorLine| {
        format!(
            "{:name$}  {:prior$}  {}\n",
            line.name, line.distribution, line.origin
        )
    };
    lines.iter().map(line).collect()
}
