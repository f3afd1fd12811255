//! `lehr fit`: a formula and a table in, a saved fit out.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use lehr::infer::error::TrainError;
use lehr::infer::fit::FitError;
use lehr::infer::run::{Checkpoint, ExistingCheckpoint};
use lehr::regression::{Error, Groups, SavedFit};
use lehr::table::Shuffler;

use crate::choice::{FittingArgs, find_method};
use crate::content::FileKind;
use crate::fitting::{ModelArgs, ModelInputs};
use crate::interrupt;
use crate::live::Live;
use crate::object::FitObject;
use crate::outcome::CommandOutcome;
use crate::output::{Force, OutputFile, OutputRequest};
use crate::reading::ReadingArgs;
use crate::session::Session;
use crate::stdin::STREAM;
use crate::storing;

use super::summary::format_text;

/// Fit a model to a table
///
/// Prints the verdict first, then the coefficients on the original scale of the columns.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  lehr fit 'y ~ .' train.parquet --family bernoulli -o fit.lehr --budget 300
  lehr fit 'y ~ .' train.parquet --family bernoulli --method sl-dais -o fit.lehr
  lehr fit 'score ~ 1 + service + (1 | d) + (1 | s)' ratings.csv.gz --family gaussian -o fit.lehr
  lehr fit 'cbind(hits, misses) ~ age + (1 + age | player)' 'season-*.parquet' -o fit.lehr
  lehr fit 'y ~ x' data.csv --prior 'x ~ normal(0, 1)' --missing drop --missing-text n/a
  lehr fit 'y ~ x' data.csv --prior 'x ~ normal(0, 1)' --prior-only -o prior.lehr
  lehr fit 'y ~ .' train.parquet -o fit.lehr --resume     # after Ctrl-C or a crash

Exit codes: 0 done, 1 done but the diagnostics warn, 2 could not run.")]
pub(crate) struct FitArgs {
    #[command(flatten)]
    model: ModelArgs,
    /// The method (see lehr methods); auto chooses by the model and the table, and tries another one
    /// while the verdict is not reliable and --budget allows it
    #[arg(long, default_value = "auto")]
    method: String,
    /// Where the fit goes; without it nothing is saved; - is stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Continue an unfinished fit from the checkpoint beside the output
    #[arg(long, requires = "output")]
    resume: bool,
    /// Start anew although there is an unfinished fit; its checkpoint stays until the new fit
    /// has one of its own
    #[arg(long, requires = "output", conflicts_with = "resume")]
    restart: bool,
    /// Seconds between checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    checkpoint_every: f64,
    #[command(flatten)]
    prior: PriorOnly,
    /// List the effects of single groups too
    #[arg(long)]
    groups: bool,
    #[command(flatten)]
    choice: FittingArgs,
    #[command(flatten)]
    reading: ReadingArgs,
}

/// Whether anything is fitted.
#[derive(Clone, Copy, Debug, Args)]
struct PriorOnly {
    /// Draw from the prior and fit nothing: no likelihood is used, though default priors are scaled to
    /// the table. What is saved predicts and reports as a fit does, and says what it is
    #[arg(long, conflicts_with_all = ["resume", "restart", "method"])]
    prior_only: bool,
}

impl FitArgs {
    pub(crate) fn run_command(&self, session: &Session) -> Result<CommandOutcome> {
        if self.prior.prior_only {
            return self.run_prior(session);
        }
        let info = find_method(&self.method)?;
        let fit = self.choice.make_fit(info)?;
        let inputs = self.model.resolve_inputs(session)?;
        let output = self.open_output(&inputs)?;
        let file = output.as_ref().and_then(OutputFile::file);
        let checkpoint = self.open_checkpoint(file)?;
        interrupt::name_checkpoint(checkpoint.as_ref().map(|one| one.path.as_path()));
        interrupt::listen_signals();
        let mut live = Live::new(session, "fit");
        let mut prepared = inputs.prepare_task(&self.reading, (file, &[info]), &live)?;
        let beside = checkpoint
            .as_ref()
            .map(|checkpoint| checkpoint.path.clone());
        let made = prepared.run_fit(fit, &mut live, checkpoint);
        drop(live);
        if made.is_err() && beside.as_deref().is_some_and(Path::exists) {
            prepared.keep_rows();
        }
        let saved = made.map_err(|error| stopped_error(error, beside.as_deref()))?;
        // Chains that were stopped can show their draws and be resumed.
        let unfinished = is_unfinished(&saved) && beside.as_deref().is_some_and(Path::exists);
        if unfinished {
            prepared.keep_rows();
        }
        drop(prepared);
        if let Some(output) = &output {
            let done = beside.as_deref().filter(|_| !unfinished);
            save_fit(&saved, output, done)?;
        }
        self.print_answer(
            session,
            &saved,
            output.as_ref(),
            unfinished.then_some(RESUME),
        )
    }

    /// Draws from the prior.
    fn run_prior(&self, session: &Session) -> Result<CommandOutcome> {
        let (draws, seed) = self.choice.of_prior()?;
        let inputs = self.model.resolve_inputs(session)?;
        let output = self.open_output(&inputs)?;
        let live = Live::new(session, "prior");
        let file = output.as_ref().and_then(OutputFile::file);
        let saved = inputs
            .prepare_task(&self.reading, (file, &[]), &live)?
            .prior_only(draws, seed)?;
        drop(live);
        if let Some(output) = &output {
            save_fit(&saved, output, None)?;
        }
        self.print_answer(session, &saved, output.as_ref(), None)
    }

    /// Shows a fit.
    fn print_answer(
        &self,
        session: &Session,
        saved: &SavedFit,
        output: Option<&OutputFile>,
        more: Option<&str>,
    ) -> Result<CommandOutcome> {
        let groups = Groups::from(self.groups);
        let object = FitObject::new(saved, groups).with_output(self.output.as_deref());
        let words = || format_text(saved, groups) + &self.closing_line(more);
        match output {
            Some(output) => output.print_answer(session, &object, words)?,
            None => session.print_answer(&object, words)?,
        }
        Ok(CommandOutcome::from(saved))
    }

    fn open_output(&self, inputs: &ModelInputs<'_>) -> Result<Option<OutputFile>> {
        let order = |name| OutputRequest::new(name, FileKind::Fit, self.force);
        let output = self.output.as_deref().map(order);
        output
            .map(|order| order.open_output(&inputs.paths()))
            .transpose()
    }

    /// The checkpoint file. An unfinished fit is neither continued nor replaced without request.
    fn open_checkpoint(&self, output: Option<&Path>) -> Result<Option<Checkpoint>> {
        let Some(output) = output else {
            ensure!(
                !self.resume && !self.restart,
                "--resume, --restart: expected an output with a name, found stdout\n  hint: -o fit.lehr"
            );
            return Ok(None);
        };
        ensure!(
            self.checkpoint_every >= 0.0 && self.checkpoint_every < 1e9,
            "--checkpoint-every: expected a number of seconds, found {}",
            self.checkpoint_every
        );
        let path = checkpoint_path(output);
        OutputRequest::new(&path, FileKind::Checkpoint, Force::default()).check_inputs(&[])?;
        Shuffler::tidy_beside(output);
        let name = path.display();
        match (path.exists(), self.resume || self.restart) {
            (false, _) if self.resume => bail!(
                "{name}: there is no unfinished fit to resume\n  hint: leave out --resume to start anew"
            ),
            (true, false) => bail!(
                "{name}: an earlier fit to {} was not finished\n  hint: --resume continues it, --restart starts anew",
                output.display()
            ),
            _ => {}
        }
        Ok(Some(Checkpoint {
            older: if self.restart {
                ExistingCheckpoint::Replace
            } else {
                ExistingCheckpoint::Resume
            },
            every: Duration::from_secs_f64(self.checkpoint_every),
            path,
        }))
    }

    fn closing_line(&self, more: Option<&str>) -> String {
        let more = more.unwrap_or_default();
        match &self.output {
            Some(path) if path == Path::new(STREAM) => String::new(),
            Some(path) => format!("\nsaved to {}\n{more}", path.display()),
            None => "\nnot saved; -o fit.lehr keeps it\n".into(),
        }
    }
}

/// Advice on chains that were stopped.
const RESUME: &str = "stopped early: the same command with --resume draws the rest\n";

/// Whether Markov chains were stopped before their end.
fn is_unfinished(saved: &SavedFit) -> bool {
    let chains = saved.posterior.chains();
    chains.is_some_and(|chains| !chains.is_complete())
}

/// Saves the fit and removes its checkpoint, if there is one.
fn save_fit(saved: &SavedFit, output: &OutputFile, checkpoint: Option<&Path>) -> Result<()> {
    saved.save(output.path()).map_err(|error| match checkpoint {
        Some(path) if path.exists() => anyhow!(
            "{error}\n  hint: the fit is done and kept in {}; the same command with --resume saves it",
            path.display()
        ),
        _ => error.into(),
    })?;
    if let (Some(file), Some(path)) = (output.file(), checkpoint) {
        storing::remove_leftovers(file);
        let _ = std::fs::remove_file(path);
    }
    Ok(())
}

/// The checkpoint of an output: `fit.lehr.checkpoint`.
fn checkpoint_path(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".checkpoint");
    PathBuf::from(name)
}

/// Adds to an interruption the command that resumes the fit.
fn stopped_error(error: anyhow::Error, checkpoint: Option<&Path>) -> anyhow::Error {
    let Some(Error::Fit(FitError::Train(TrainError::Stopped { doing, done, saved }))) =
        error.downcast_ref()
    else {
        return error;
    };
    let words = format!("fit: stopped while {doing}, after {done}");
    match (saved, checkpoint) {
        (Some(path), _) => anyhow!(
            "{words}, which are saved in {}\n  hint: the same command with --resume continues from there",
            path.display()
        ),
        (None, Some(path)) if path.exists() => anyhow!(
            "{words}, which are not saved\n  hint: the start is; the same command with --resume continues from it"
        ),
        _ => anyhow!(
            "{words}, nothing is saved\n  hint: with -o fit.lehr a stopped fit can be resumed"
        ),
    }
}
