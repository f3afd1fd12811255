//! Chains as a stage of a run: progress reports, and the state from which they can be resumed.

use serde::{Serialize, Serializer};

use super::trace::ChainProgress;
use crate::error::{FitError, TrainError};
use crate::run::{Run, StageFingerprint};
use lehr_rows::watch::{End, Progress, Wish};

/// An observer of chains.
pub trait Watch {
    /// Whether it stores states, so that chains must record theirs.
    fn keeps(&self) -> bool {
        false
    }

    /// The state in which an earlier run left the same chains.
    fn earlier(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Receives the progress of the chains. `state` serialises all that is needed to resume them.
    fn look(&mut self, progress: &ChainProgress, state: &dyn Fn() -> Vec<u8>) -> Wish;
}

/// An observer that stores nothing.
impl<F: FnMut(&ChainProgress) -> Wish> Watch for F {
    fn look(&mut self, progress: &ChainProgress, _: &dyn Fn() -> Vec<u8>) -> Wish {
        self(progress)
    }
}

/// Chains as a stage of a run.
pub(crate) struct ChainStage<'r, 'o> {
    run: &'r mut Run<'o>,
    stamp: StageFingerprint,
    earlier: Option<Vec<u8>>,
    /// The state of finished chains.
    last: Option<Vec<u8>>,
    failure: Option<FitError>,
}

impl<'r, 'o> ChainStage<'r, 'o> {
    /// The stage identified by these numbers.
    ///
    /// # Errors
    /// If there is a checkpoint of another fit, or one that cannot be read.
    pub(crate) fn new<'v>(
        run: &'r mut Run<'o>,
        numbers: impl IntoIterator<Item = &'v f64>,
    ) -> Result<ChainStage<'r, 'o>, FitError> {
        let stamp = StageFingerprint::of(numbers);
        let earlier: Option<Vec<u8>> = run.resume(&stamp)?;
        Ok(ChainStage {
            last: earlier.clone(),
            earlier,
            run,
            stamp,
            failure: None,
        })
    }

    /// Ends the stage if the chains are finished; unfinished ones can be resumed.
    ///
    /// # Errors
    /// If a checkpoint could not be written, now or earlier.
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

    /// Stopped chains keep their draws, so a stop is not a failure.
    fn look(&mut self, progress: &ChainProgress, state: &dyn Fn() -> Vec<u8>) -> Wish {
        let seen = seen(progress);
        // Chains whose time is up count as finished: later stages follow them in the checkpoint.
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

/// The progress of chains, for the observer of the fit.
pub(crate) fn seen(progress: &ChainProgress) -> Progress {
    Progress {
        divergences: Some(progress.divergences),
        ..Progress::counted(progress.done, "draws", End::At(progress.total))
    }
}

/// Bytes that are serialised only on demand.
struct Late<'a>(&'a dyn Fn() -> Vec<u8>);

impl Serialize for Late<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0)().serialize(serializer)
    }
}
