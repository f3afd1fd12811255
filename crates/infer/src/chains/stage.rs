//! Chains as a stage of a run: who watches them, and what is saved so that they can be resumed.

use serde::{Serialize, Serializer};

use super::trace::ChainProgress;
use crate::error::{FitError, TrainError};
use crate::observer::{End, Progress, Wish};
use crate::run::{Run, Stamp};

/// Who watches chains.
pub trait Watch {
    /// Whether states are kept, so that chains must be able to tell theirs.
    fn keeps(&self) -> bool {
        false
    }

    /// The state in which the same chains were left by an earlier run.
    fn earlier(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Told how the chains stand. `state` writes all that is needed to resume them.
    fn look(&mut self, progress: &ChainProgress, state: &dyn Fn() -> Vec<u8>) -> Wish;
}

/// Somebody who keeps nothing.
impl<F: FnMut(&ChainProgress) -> Wish> Watch for F {
    fn look(&mut self, progress: &ChainProgress, _: &dyn Fn() -> Vec<u8>) -> Wish {
        self(progress)
    }
}

/// Chains as a stage of a run.
pub(crate) struct ChainStage<'r, 'o> {
    run: &'r mut Run<'o>,
    stamp: Stamp,
    earlier: Option<Vec<u8>>,
    /// The state of chains that are at their end.
    last: Option<Vec<u8>>,
    failure: Option<FitError>,
}

impl<'r, 'o> ChainStage<'r, 'o> {
    /// The stage that these numbers stand for.
    ///
    /// # Errors
    /// If there is a checkpoint that is another fit's or cannot be read.
    pub(crate) fn new<'v>(
        run: &'r mut Run<'o>,
        numbers: impl IntoIterator<Item = &'v f64>,
    ) -> Result<ChainStage<'r, 'o>, FitError> {
        let stamp = Stamp::of(numbers);
        let earlier: Option<Vec<u8>> = run.resume(&stamp)?;
        Ok(ChainStage {
            last: earlier.clone(),
            earlier,
            run,
            stamp,
            failure: None,
        })
    }

    /// Ends the stage of chains that are at their end; others are resumed.
    ///
    /// # Errors
    /// If a checkpoint could not be written, now or on the way.
    pub(crate) fn finish(self) -> Result<(), FitError> {
        match (self.failure, self.last) {
            (Some(failure), _) => Err(failure),
            (None, Some(state)) => Ok(self.run.finish(&self.stamp, &state)?),
            (None, None) => Ok(()),
        }
    }
}

impl Watch for ChainStage<'_, '_> {
    fn keeps(&self) -> bool {
        self.run.checkpoint.is_some()
    }

    fn earlier(&mut self) -> Option<Vec<u8>> {
        self.earlier.take()
    }

    /// Chains that are stopped keep their draws: a stop is no failure.
    fn look(&mut self, progress: &ChainProgress, state: &dyn Fn() -> Vec<u8>) -> Wish {
        let seen = seen(progress);
        // Whose time is up is at its end as well: what follows in the checkpoint comes after it.
        let late = self.run.is_late();
        let ends = (progress.done >= progress.total || late) && self.keeps();
        self.last = ends.then(state);
        match self.run.look(&mut self.stamp, &seen, &Late(state)) {
            Ok(()) if late => Wish::Stop,
            Ok(()) => Wish::Continue,
            Err(TrainError::Stopped { .. }) => Wish::Stop,
            Err(error) => {
                self.failure = Some(error.into());
                Wish::Stop
            }
        }
    }
}

/// How chains stand, for whoever watches the fit.
pub(crate) fn seen(progress: &ChainProgress) -> Progress {
    Progress {
        divergences: Some(progress.divergences),
        ..Progress::counted(progress.done, "draws", End::At(progress.total))
    }
}

/// Bytes that are not made before they are wanted.
struct Late<'a>(&'a dyn Fn() -> Vec<u8>);

impl Serialize for Late<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0)().serialize(serializer)
    }
}
