//! Chains that are stopped and resumed have the same draws as uninterrupted ones.

use std::path::PathBuf;
use std::time::Duration;

use lehr_infer::fit::{Fit, FitError};
use lehr_infer::observer::{Observer, Progress, Wish};
use lehr_infer::posterior::Posterior;
use lehr_infer::run::{Checkpoint, ExistingCheckpoint};

use crate::model::Linear;

/// Stops a fit after a number of progress reports, again and again.
struct Impatient {
    looks: usize,
}

impl Observer for Impatient {
    fn progress(&mut self, progress: &Progress) -> Wish {
        if progress.divergences.is_none() {
            return Wish::Continue;
        }
        self.looks = self.looks.saturating_sub(1);
        if self.looks == 0 {
            Wish::Stop
        } else {
            Wish::Continue
        }
    }
}

fn checkpoint(name: &str) -> Checkpoint {
    let path: PathBuf = std::env::temp_dir().join(format!("lehr-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    Checkpoint {
        path,
        every: Duration::from_secs(3600),
        older: ExistingCheckpoint::Resume,
    }
}

fn fit(method: &str, checkpoint: Option<Checkpoint>, looks: usize) -> Result<Posterior, FitError> {
    let linear = Linear::conditioned(8, 20.0);
    let mut watcher = Impatient { looks };
    let fit = Fit::named(method).unwrap().seed(3).draws(400);
    let fit = match checkpoint {
        Some(checkpoint) => fit.checkpoint(checkpoint),
        None => fit,
    };
    fit.observer(&mut watcher).run(&linear.density)
}

fn assert_resumes(method: &str, looks: usize) -> Result<Posterior, FitError> {
    let whole = fit(method, None, usize::MAX).unwrap();
    let saved = checkpoint(method);
    let part = fit(method, Some(saved.clone()), looks);
    assert!(saved.path.exists(), "{method}");
    let resumed = fit(method, Some(saved.clone()), usize::MAX).unwrap();
    std::fs::remove_file(&saved.path).unwrap();
    assert_eq!(resumed.draws, whole.draws, "{method}");
    assert_eq!(resumed.chains(), whole.chains(), "{method}");
    assert_eq!(resumed.evidence, whole.evidence, "{method}");
    part
}

#[test]
fn chains_in_lockstep_that_are_resumed_have_the_same_bits() {
    let part = assert_resumes("hmc", 160).unwrap();
    let cut = part.chains().unwrap();
    assert_eq!((cut.length, cut.planned), (10, 400));
    assert!(part.choices.iter().any(|(what, _)| what == "stopped"));
}

#[test]
fn chains_of_their_own_threads_that_are_resumed_have_the_same_bits() {
    // The number of draws before the stop depends on the threads; the rest does not.
    let _ = assert_resumes("nuts", 30);
}

#[test]
fn chains_over_subsets_that_are_resumed_have_the_same_bits() {
    let _ = assert_resumes("hmcecs", 320);
}
