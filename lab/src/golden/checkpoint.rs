//! Fits that are stopped, and resumed from their checkpoints.

use std::time::Duration;

use anyhow::{Result, ensure};
use lehr::infer::observer::{Observer, Progress, Wish};
use lehr::infer::run::{Checkpoint, ExistingCheckpoint};
use lehr::prelude::*;

use super::table::small;
use super::{Case, Shell};

/// A guide and chains.
pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::program("checkpoint/guide", |shell| {
            let fit = || Ok(Fit::named("sl-dais")?.set("iterations", "3000")?);
            resumed(shell, &fit, |progress| progress.divergences.is_none())
        }),
        Case::program("checkpoint/chains", |shell| {
            let fit = || Ok(Fit::named("hmc")?);
            resumed(shell, &fit, |progress| progress.divergences.is_some())
        }),
    ]
}

/// Stops at the second progress report that counts.
struct Stopper {
    counts: fn(&Progress) -> bool,
    left: usize,
}

impl Observer for Stopper {
    fn progress(&mut self, progress: &Progress) -> Wish {
        if (self.counts)(progress) {
            self.left = self.left.saturating_sub(1);
        }
        if self.left == 0 {
            Wish::Stop
        } else {
            Wish::Continue
        }
    }
}

/// Records a fit that was stopped and resumed.
fn resumed(
    shell: &mut Shell,
    fit: &dyn Fn() -> Result<Fit<'static>>,
    counts: fn(&Progress) -> bool,
) -> Result<()> {
    let table = small()?;
    let checkpoint = Checkpoint {
        path: shell.path("checkpoint"),
        every: Duration::from_secs(3600),
        older: ExistingCheckpoint::Resume,
    };
    let once = |stopper: &mut Stopper| -> Result<_> {
        let fit = fit()?.seed(11).draws(320).checkpoint(checkpoint.clone());
        let asked = lehr::regress("hit ~ x1 + x2", &table)?.family("bernoulli")?;
        Ok(asked.with(fit.observer(stopper)).fit())
    };
    // Stopped chains are a fit of their own; a stopped guide is not.
    let _stopped = once(&mut Stopper { counts, left: 2 })?;
    ensure!(
        checkpoint.path.exists(),
        "the fit was done before it was stopped"
    );
    let saved = once(&mut Stopper {
        counts,
        left: usize::MAX,
    })??;
    saved.save(shell.path("fit.lehr"))?;
    shell.run("summary fit.lehr")?;
    shell.run("draws fit.lehr -o draws.csv --raw")
}
