//! `lehr fit`: a formula and a table in, a saved fit out.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use lehr::infer::fit::FitError;
use lehr::infer::run::Checkpoint;
use lehr::infer::train::TrainError;
use lehr::regression::{Error, Groups, SavedFit};
use lehr::table::Shuffler;

use crate::choice::{Choice, method};
use crate::fitting::ModelArgs;
use crate::interrupt;
use crate::live::Live;
use crate::object::FitObject;
use crate::outcome::Outcome;
use crate::output::writable;
use crate::reading::Reading;
use crate::session::Session;
use crate::storing;

use super::summary::text;

/// Fit a model to a table
///
/// Prints the verdict first, then the coefficients on the original scale of the columns.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr fit 'y ~ .' train.parquet --family bernoulli --method sl-dais -o fit.lehr
  lehr fit 'score ~ 1 + service + (1 | d) + (1 | s)' ratings.csv.gz -o fit.lehr
  lehr fit 'cbind(hits, misses) ~ age + (1 + age | player)' 'season-*.parquet' -o fit.lehr
  lehr fit 'y ~ x' data.csv --prior 'x ~ normal(0, 1)' --missing drop --missing-text n/a
  lehr fit 'y ~ .' train.parquet -o fit.lehr --resume     # after Ctrl-C or a crash

Exit codes: 0 done, 1 done but the diagnostics warn, 2 could not run.")]
pub(crate) struct Fit {
    #[command(flatten)]
    model: ModelArgs,
    /// The method (see lehr methods)
    #[arg(long, default_value = "sl-dais")]
    method: String,
    /// Where the fit goes; without it nothing is saved
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Resume from the checkpoint beside the output
    #[arg(long, requires = "output")]
    resume: bool,
    /// Seconds between checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    checkpoint_every: f64,
    /// List the effects of single groups too
    #[arg(long)]
    groups: bool,
    #[command(flatten)]
    choice: Choice,
    #[command(flatten)]
    reading: Reading,
}

impl Fit {
    pub(crate) fn run(&self, session: &Session) -> Result<Outcome> {
        let fit = self.choice.fit(method(&self.method)?)?;
        let checkpoint = self.checkpoint(session)?;
        interrupt::listen();
        let mut live = Live::new(session, "fit");
        let output = self.output.as_deref();
        let mut prepared = self.model.prepare(&self.reading, output, &live)?;
        let beside = checkpoint
            .as_ref()
            .map(|checkpoint| checkpoint.path.clone());
        let made = prepared.fit(fit, &mut live, checkpoint);
        drop(live);
        if made.is_err() && beside.as_deref().is_some_and(Path::exists) {
            prepared.keep_rows();
        }
        let saved = made.map_err(|error| stopped(error, beside.as_deref()))?;
        drop(prepared);
        self.keep(&saved, beside.as_deref())?;
        let groups = if self.groups {
            Groups::Include
        } else {
            Groups::Leave
        };
        let object = FitObject::new(&saved, groups).with_output(self.output.as_deref());
        session.answer(&object, || text(&saved, groups) + &self.ending())?;
        Ok(Outcome::from(&saved))
    }

    /// Where checkpoints go, once it is clear that the output can be written at all.
    fn checkpoint(&self, session: &Session) -> Result<Option<Checkpoint>> {
        let Some(output) = &self.output else {
            return Ok(None);
        };
        ensure!(
            self.checkpoint_every >= 0.0 && self.checkpoint_every < 1e9,
            "--checkpoint-every: expected a number of seconds, found {}",
            self.checkpoint_every
        );
        writable(output)?;
        Shuffler::tidy_beside(output);
        let path = beside(output);
        match (self.resume, path.exists()) {
            (true, false) => bail!(
                "{}: there is no unfinished fit to resume\n  hint: leave out --resume to start anew",
                path.display()
            ),
            (false, true) => {
                session.remark(&format!(
                    "{}: the unfinished fit is discarded; --resume would have continued it",
                    path.display()
                ));
                std::fs::remove_file(&path)
                    .map_err(|error| anyhow!("{}: cannot remove: {error}", path.display()))?;
            }
            _ => {}
        }
        Ok(Some(Checkpoint {
            path,
            every: Duration::from_secs_f64(self.checkpoint_every),
        }))
    }

    /// Saves the fit; the checkpoint has done its duty.
    fn keep(&self, saved: &SavedFit, checkpoint: Option<&Path>) -> Result<()> {
        if let Some(output) = &self.output {
            saved.save(output)?;
            storing::tidy(output);
        }
        if let Some(path) = checkpoint {
            let _ = std::fs::remove_file(path);
        }
        Ok(())
    }

    fn ending(&self) -> String {
        match &self.output {
            Some(path) => format!("\nsaved to {}\n", path.display()),
            None => "\nnot saved; -o fit.lehr keeps it\n".into(),
        }
    }
}

/// The checkpoint of an output: `fit.lehr.checkpoint`.
fn beside(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".checkpoint");
    PathBuf::from(name)
}

/// An interrupted fit says how to resume it.
fn stopped(error: anyhow::Error, checkpoint: Option<&Path>) -> anyhow::Error {
    let step = match error.downcast_ref() {
        Some(Error::Fit(FitError::Train(TrainError::Stopped { step, .. }))) => *step,
        _ => return error,
    };
    match checkpoint {
        Some(path) => anyhow!(
            "fit: stopped after {step} iterations, which are saved in {}\n  hint: the same command with --resume continues from there",
            path.display()
        ),
        None => anyhow!(
            "fit: stopped after {step} iterations, nothing is saved\n  hint: with -o fit.lehr a stopped fit can be resumed"
        ),
    }
}
