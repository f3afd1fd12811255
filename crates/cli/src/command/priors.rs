//! `lehr priors`: what a model believes before it sees the rows.

use anyhow::Result;
use clap::Args;
use lehr::regression::PriorLine;
use serde::Serialize;

use crate::fitting::ModelArgs;
use crate::live::Live;
use crate::outcome::Outcome;
use crate::reading::Reading;
use crate::session::Session;

/// List the priors of a model, and who set each
///
/// Reads the table, to which default priors are scaled, and fits nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr priors 'y ~ x + (1 | site)' train.parquet
  lehr priors 'y ~ x' data.csv --prior 'weight ~ normal(0, 1)' --formula 'sigma ~ x'")]
pub(crate) struct Priors {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Serialize)]
struct PriorsObject {
    formula: String,
    family: String,
    priors: Vec<PriorObject>,
}

#[derive(Serialize)]
struct PriorObject {
    name: String,
    prior: String,
    origin: String,
}

impl PriorObject {
    fn new(line: PriorLine) -> PriorObject {
        PriorObject {
            name: line.name,
            prior: line.distribution,
            origin: line.origin.to_string(),
        }
    }
}

impl Priors {
    pub(crate) fn run(&self, session: &Session) -> Result<Outcome> {
        let live = Live::new(session, "priors");
        let inputs = self.model.inputs(session)?;
        let task = inputs.prepare(&self.reading, None, &live)?;
        drop(live);
        let regression = task.regression();
        let lines = regression.prior_lines();
        let object = PriorsObject {
            formula: regression.formula().to_owned(),
            family: regression.family().to_string(),
            priors: lines.iter().cloned().map(PriorObject::new).collect(),
        };
        session.answer(&object, || text(&lines))?;
        Ok(Outcome::Done)
    }
}

fn text(lines: &[PriorLine]) -> String {
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
