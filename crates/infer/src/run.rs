//! The context of a fit: its seed, its draws, its observer, and its checkpoints.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lehr_file::{FileError, load_value, save_value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::TrainError;
use crate::file::CHECKPOINT;
use lehr_rows::watch::{End, Observer, Phase, Progress, Wish};

/// The place and frequency of checkpoints.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// The file.
    pub path: PathBuf,
    /// Time between writes.
    pub every: Duration,
    /// The treatment of an existing checkpoint.
    pub older: ExistingCheckpoint,
}

/// The treatment of an existing checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExistingCheckpoint {
    /// It is resumed; one of another fit is an error.
    #[default]
    Resume,
    /// It is kept until the new fit writes its own.
    Replace,
}

/// The context that a method receives besides the model: everything that does not depend on the
/// method.
#[derive(Default)]
pub struct Run<'a> {
    /// The seed.
    pub seed: u64,
    /// The number of draws.
    pub draws: usize,
    /// The number that the user requested, if any; the default depends on the method.
    pub asked_draws: Option<usize>,
    /// Whether the verdict uses the weights of the draws alone.
    pub unexamined: bool,
    /// The most numbers of all draws together, if moments may replace the draws of a site.
    pub most_numbers: Option<usize>,
    /// The time at which training and chains end with their present result.
    pub deadline: Option<Instant>,
    /// The observer.
    pub observer: Option<&'a mut dyn Observer>,
    /// The checkpoint.
    pub checkpoint: Option<Checkpoint>,
    /// The finished stages, in the form of the checkpoint.
    stages: Vec<Stage>,
    /// The stages of the checkpoint that is resumed, once it has been read.
    older: Option<Vec<Stage>>,
    /// The activity, in words.
    doing: &'static str,
}

/// The identity of a running stage, and the time when it was last saved.
pub struct StageFingerprint {
    fingerprint: u64,
    saved: Instant,
}

impl StageFingerprint {
    /// The stage identified by these numbers, which differ between fits that must not share a
    /// checkpoint.
    pub fn of<'v>(numbers: impl IntoIterator<Item = &'v f64>) -> StageFingerprint {
        let mut hasher = crc32fast::Hasher::new();
        for number in numbers {
            hasher.update(&number.to_bits().to_le_bytes());
        }
        StageFingerprint::new(u64::from(hasher.finalize()))
    }

    /// The stage with this fingerprint.
    pub fn new(fingerprint: u64) -> StageFingerprint {
        StageFingerprint {
            fingerprint,
            saved: Instant::now(),
        }
    }
}

/// The saved form of a part of a fit that can be stopped and resumed.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Stage {
    /// Differs between fits that must not share a checkpoint.
    fingerprint: u64,
    state: Vec<u8>,
}

impl<'a> Run<'a> {
    /// A run without an observer.
    pub fn new(seed: u64, draws: usize) -> Run<'a> {
        Run {
            seed,
            draws,
            ..Run::default()
        }
    }

    /// The same run with another observer.
    #[must_use]
    pub fn watched_by(self, observer: &mut dyn Observer) -> Run<'_> {
        Run {
            seed: self.seed,
            draws: self.draws,
            asked_draws: self.asked_draws,
            unexamined: self.unexamined,
            most_numbers: self.most_numbers,
            deadline: self.deadline,
            observer: Some(observer),
            checkpoint: self.checkpoint,
            stages: self.stages,
            older: self.older,
            doing: self.doing,
        }
    }

    /// Whether training and chains should end.
    pub fn is_late(&self) -> bool {
        self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Sends a remark to the observer.
    pub fn remark(&mut self, text: &str) {
        if let Some(observer) = &mut self.observer {
            observer.remark(text);
        }
    }

    /// Reports the start of a phase.
    pub fn begin(&mut self, phase: Phase) {
        self.doing = phase.doing;
        if let Some(observer) = &mut self.observer {
            observer.begin(phase);
        }
    }

    /// Reports the progress of a phase.
    pub fn progress(&mut self, progress: &Progress) -> Wish {
        let observer = self.observer.as_mut();
        observer.map_or(Wish::Continue, |observer| observer.progress(progress))
    }

    /// The state in which the checkpoint left the next stage, if it contains one.
    ///
    /// # Errors
    /// If the checkpoint cannot be read or belongs to another fit.
    pub fn resume<T: DeserializeOwned>(
        &mut self,
        stamp: &StageFingerprint,
    ) -> Result<Option<T>, FileError> {
        let resumes = |one: &&Checkpoint| one.older == ExistingCheckpoint::Resume;
        let Some(checkpoint) = self.checkpoint.as_ref().filter(resumes) else {
            return Ok(None);
        };
        let older = match self.older.take() {
            Some(older) => older,
            None if checkpoint.path.exists() => load_value(&checkpoint.path, CHECKPOINT)?,
            // Later stages must not resume what this run saved itself.
            None => Vec::new(),
        };
        let Some(stage) = self.older.insert(older).get(self.stages.len()) else {
            return Ok(None);
        };
        let refused = |expected: &str, found: &str, hint: &str| FileError::Content {
            path: checkpoint.path.display().to_string(),
            expected: expected.into(),
            found: found.into(),
            hint: hint.into(),
        };
        if stage.fingerprint != stamp.fingerprint {
            return Err(refused(
                "a checkpoint of this fit",
                "one of another model, method or setting",
                "remove the file, or use --restart, to start anew",
            ));
        }
        let state = postcard::from_bytes(&stage.state);
        let state = state.map_err(|error| {
            let hint = "the file is damaged: fit again";
            refused("a checkpoint of this fit", &error.to_string(), hint)
        })?;
        Ok(Some(state))
    }

    /// Reports the progress of the current stage, saves it if it is time, and stops it if the
    /// observer requests that.
    ///
    /// # Errors
    /// If the checkpoint cannot be written, or the observer stops the fit.
    pub fn look<T: Serialize>(
        &mut self,
        stamp: &mut StageFingerprint,
        progress: &Progress,
        state: &T,
    ) -> Result<(), TrainError> {
        let wish = self.progress(progress);
        let due = |one: &Checkpoint| stamp.saved.elapsed() >= one.every;
        if wish == Wish::Stop || self.checkpoint.as_ref().is_some_and(due) {
            self.save(stamp, state)?;
            stamp.saved = Instant::now();
        }
        self.obey(wish, progress)
    }

    /// As [`Run::look`], for work that is repeated when the fit is resumed: the checkpoint contains
    /// all that it needs.
    ///
    /// # Errors
    /// If the observer stops the fit.
    pub fn tell(&mut self, progress: &Progress) -> Result<(), TrainError> {
        let wish = self.progress(progress);
        self.obey(wish, progress)
    }

    /// As [`Run::tell`], of so many of a number of units.
    ///
    /// # Errors
    /// If the observer stops the fit.
    pub(crate) fn tell_count(
        &mut self,
        done: usize,
        unit: &'static str,
        total: usize,
    ) -> Result<(), TrainError> {
        self.tell(&Progress::counted(done as u64, unit, End::At(total as u64)))
    }

    fn obey(&self, wish: Wish, progress: &Progress) -> Result<(), TrainError> {
        if wish == Wish::Continue {
            return Ok(());
        }
        let saved = self.checkpoint.as_ref();
        Err(TrainError::Stopped {
            doing: self.doing,
            done: format!("{} {}", progress.step, progress.unit),
            saved: saved.map(|one| one.path.clone()),
        })
    }

    /// Saves the state of the current stage, if there are checkpoints.
    ///
    /// # Errors
    /// If the checkpoint cannot be written.
    pub fn save<T: Serialize>(&self, stamp: &StageFingerprint, state: &T) -> Result<(), FileError> {
        let Some(checkpoint) = &self.checkpoint else {
            return Ok(());
        };
        let mut stages = self.stages.clone();
        stages.push(Stage::new(stamp, state));
        save_value(&checkpoint.path, CHECKPOINT, &stages)
    }

    /// Saves the last state of the current stage and begins the next one.
    ///
    /// # Errors
    /// If the checkpoint cannot be written.
    pub fn finish<T: Serialize>(
        &mut self,
        stamp: &StageFingerprint,
        state: &T,
    ) -> Result<(), FileError> {
        if self.checkpoint.is_none() {
            return Ok(());
        }
        let stage = Stage::new(stamp, state);
        let place = self.stages.len();
        let same = self.older.as_ref().and_then(|older| older.get(place)) == Some(&stage);
        if !same {
            self.save(stamp, state)?;
            self.older = Some(Vec::new());
        }
        // Later stages of an existing checkpoint are kept in it.
        self.stages.push(stage);
        Ok(())
    }
}

impl Stage {
    fn new<T: Serialize>(stamp: &StageFingerprint, state: &T) -> Stage {
        Stage {
            fingerprint: stamp.fingerprint,
            state: postcard::to_stdvec(state).expect("a state is numbers and names"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in `auto`, when the time for a method is up.
    #[test]
    fn a_stage_that_was_left_before_its_end_is_none_of_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let mut run = Run::new(1, 10);
        run.checkpoint = Some(Checkpoint {
            path: folder.path().join("fit.checkpoint"),
            every: Duration::ZERO,
            older: ExistingCheckpoint::Resume,
        });
        let [mut left, next] = [7, 8].map(StageFingerprint::new);
        assert_eq!(run.resume::<u32>(&left).unwrap(), None);
        let progress = Progress::counted(1, "steps", lehr_rows::watch::End::At(2));
        run.look(&mut left, &progress, &1_u32).unwrap();
        assert_eq!(run.resume::<u32>(&next).unwrap(), None);
        run.finish(&next, &2_u32).unwrap();

        let mut again = Run::new(1, 10);
        again.checkpoint = run.checkpoint.clone();
        assert_eq!(again.resume(&next).unwrap(), Some(2_u32));
    }
}
