//! Who climbs to the maxima that a start is made of: alone, or as stages of a run that are saved
//! along the way and can be stopped.

use std::cell::RefCell;

use lehr_numeric::lbfgs::{Function, LbfgsSettings, Maximum, Search, maximise};

use crate::error::{StartError, TrainError};
use crate::run::{Run, Stamp};
use lehr_rows::watch::{End, Phase, Progress};

/// Steps between two looks at whether a walk is to be saved or stopped.
const LOOK: u64 = 25;

/// Somebody who climbs.
pub trait Climber {
    /// Climbs from `start` to a maximum.
    ///
    /// # Errors
    /// If the climb is stopped, or cannot be saved.
    fn climb(
        &self,
        start: &[f64],
        settings: LbfgsSettings,
        function: Function<'_>,
    ) -> Result<Maximum, StartError>;

    /// Takes all steps of a walk.
    ///
    /// # Errors
    /// If it leads nowhere, is stopped, or cannot be saved.
    fn walk(&self, walk: &mut dyn Walk) -> Result<(), StartError> {
        while walk.advance()? {}
        Ok(())
    }
}

/// Steps, one after another, that can be saved between two.
pub trait Walk {
    /// Whose steps they are.
    fn stamp(&mut self) -> Stamp;

    /// Takes the next step: whether there are more.
    ///
    /// # Errors
    /// If it leads nowhere.
    fn advance(&mut self) -> Result<bool, StartError>;

    /// Whether all steps are taken.
    fn is_done(&self) -> bool;

    /// How it stands.
    fn progress(&self) -> Progress;

    /// All that it needs to go on.
    fn saved(&self) -> Vec<u8>;

    /// Goes on from what was saved; `None` if that is something else.
    fn restore(&mut self, bytes: &[u8]) -> Option<()>;
}

/// Climbs unwatched, and never fails.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Climber for Alone {
    fn climb(
        &self,
        start: &[f64],
        settings: LbfgsSettings,
        function: Function<'_>,
    ) -> Result<Maximum, StartError> {
        Ok(maximise(start, settings, function))
    }
}

/// Climbs as stages of a run.
pub struct RunClimber<'a, 'r>(RefCell<&'a mut Run<'r>>);

impl<'a, 'r> RunClimber<'a, 'r> {
    /// Somebody who climbs for this run.
    pub fn new(run: &'a mut Run<'r>) -> RunClimber<'a, 'r> {
        RunClimber(RefCell::new(run))
    }

    fn stage(
        &self,
        start: &[f64],
        settings: LbfgsSettings,
        function: Function<'_>,
    ) -> Result<Maximum, TrainError> {
        let mut run = self.0.borrow_mut();
        run.begin(Phase::CLIMB);
        let fresh = Search::new(start, settings, function);
        let first = fresh.point().iter().chain(fresh.gradient());
        let mut stamp = Stamp::of(first.chain([&fresh.value()]));
        let mut search = run.resume(&stamp)?.unwrap_or(fresh);
        while search.advance(function) {
            run.look(&mut stamp, &progress(&search, settings), &search)?;
        }
        run.finish(&stamp, &search)?;
        // What follows reads all rows in one go, and cannot be stopped half-way.
        run.begin(Phase::START);
        Ok(search.into_maximum())
    }
}

impl Climber for RunClimber<'_, '_> {
    fn climb(
        &self,
        start: &[f64],
        settings: LbfgsSettings,
        function: Function<'_>,
    ) -> Result<Maximum, StartError> {
        Ok(self.stage(start, settings, function)?)
    }

    fn walk(&self, walk: &mut dyn Walk) -> Result<(), StartError> {
        let mut run = self.0.borrow_mut();
        run.begin(Phase::CLIMB);
        let mut stamp = walk.stamp();
        let older: Option<Vec<u8>> = run.resume(&stamp).map_err(TrainError::from)?;
        // What another version saved is not an error: the steps are taken again.
        older.and_then(|bytes| walk.restore(&bytes));
        while !walk.is_done() && walk.advance()? {
            let progress = walk.progress();
            if progress.step.is_multiple_of(LOOK) {
                run.look(&mut stamp, &progress, &walk.saved())?;
            }
        }
        run.finish(&stamp, &walk.saved())
            .map_err(TrainError::from)?;
        run.begin(Phase::START);
        Ok(())
    }
}

fn progress(search: &Search, settings: LbfgsSettings) -> Progress {
    let end = End::AtMost(settings.iterations as u64);
    Progress::counted(search.iterations() as u64, "steps", end)
}
