//! Climbers to the maxima from which a start is made: alone, or as stages of a run that are saved
//! along the way and can be stopped.

use std::cell::RefCell;

use lehr_numeric::lbfgs::{LbfgsSearch, LbfgsSettings, Maximum, maximise};
use lehr_rows::RowsError;

use crate::error::{StartError, TrainError};
use crate::run::{Run, StageFingerprint};
use lehr_rows::watch::{End, Phase, Progress};

/// Steps between two checks whether a walk is to be saved or stopped.
const LOOK: u64 = 25;

/// Writes the gradient at a point and returns the value there, unless rows cannot be reached.
pub type RowFunction<'a> = &'a mut dyn FnMut(&[f64], &mut [f64]) -> Result<f64, RowsError>;

/// A function of the rows in the form of a search, which knows no errors.
struct RowObjective<'a> {
    function: RowFunction<'a>,
    lost: Option<RowsError>,
}

impl RowObjective<'_> {
    /// The value, NaN from the first error on.
    fn value(&mut self, point: &[f64], slope: &mut [f64]) -> f64 {
        if self.lost.is_some() {
            return f64::NAN;
        }
        let found = (self.function)(point, slope);
        found.unwrap_or_else(|error| {
            self.lost = Some(error);
            f64::NAN
        })
    }

    /// The error, if there was one.
    fn check(&mut self) -> Result<(), RowsError> {
        self.lost.take().map_or(Ok(()), Err)
    }
}

/// Runs the searches of a start.
pub trait Maximiser {
    /// Climbs from `start` to a maximum.
    ///
    /// # Errors
    /// If the climb is stopped, or cannot be saved, or rows cannot be reached.
    fn climb(
        &self,
        start: &[f64],
        settings: LbfgsSettings,
        function: RowFunction<'_>,
    ) -> Result<Maximum, TrainError>;

    /// Runs all steps of a walk.
    ///
    /// # Errors
    /// If it fails, is stopped, or cannot be saved.
    fn walk(&self, walk: &mut dyn Walk) -> Result<(), StartError> {
        while walk.advance()? {}
        Ok(())
    }
}

/// A sequence of steps that can be saved in between.
pub trait Walk {
    /// The identity of the walk.
    fn stamp(&mut self) -> StageFingerprint;

    /// Runs the next step; returns whether there are more.
    ///
    /// # Errors
    /// If the walk fails.
    fn advance(&mut self) -> Result<bool, StartError>;

    /// Whether all steps are done.
    fn is_done(&self) -> bool;

    /// The progress.
    fn progress(&self) -> Progress;

    /// The state from which the walk can continue.
    fn saved(&self) -> Vec<u8>;

    /// Continues from a saved state; `None` if it is something else.
    fn restore(&mut self, bytes: &[u8]) -> Option<()>;
}

/// Climbs without an observer.
#[derive(Clone, Copy, Debug)]
pub struct PlainMaximiser;

impl Maximiser for PlainMaximiser {
    fn climb(
        &self,
        start: &[f64],
        settings: LbfgsSettings,
        function: RowFunction<'_>,
    ) -> Result<Maximum, TrainError> {
        let mut function = RowObjective {
            function,
            lost: None,
        };
        let found = maximise(start, settings, |x, slope| function.value(x, slope));
        function.check()?;
        Ok(found)
    }
}

/// Climbs as stages of a run.
pub struct RunMaximiser<'a, 'r>(RefCell<&'a mut Run<'r>>);

impl<'a, 'r> RunMaximiser<'a, 'r> {
    /// A maximiser for this run.
    pub fn new(run: &'a mut Run<'r>) -> RunMaximiser<'a, 'r> {
        RunMaximiser(RefCell::new(run))
    }
}

impl Maximiser for RunMaximiser<'_, '_> {
    fn climb(
        &self,
        start: &[f64],
        settings: LbfgsSettings,
        function: RowFunction<'_>,
    ) -> Result<Maximum, TrainError> {
        let mut function = RowObjective {
            function,
            lost: None,
        };
        let mut run = self.0.borrow_mut();
        run.begin(Phase::CLIMB);
        let fresh = LbfgsSearch::new(start, settings, &mut |x, slope| function.value(x, slope));
        function.check()?;
        let first = fresh.point().iter().chain(fresh.gradient());
        let mut stamp = StageFingerprint::of(first.chain([&fresh.value()]));
        let mut search = run.resume(&stamp)?.unwrap_or(fresh);
        while search.advance_search(&mut |x, slope| function.value(x, slope)) {
            function.check()?;
            run.look(&mut stamp, &progress(&search, settings), &search)?;
        }
        function.check()?;
        run.finish(&stamp, &search)?;
        // The following work reads all rows at once, and cannot be stopped in between.
        run.begin(Phase::START);
        Ok(search.into_maximum())
    }

    fn walk(&self, walk: &mut dyn Walk) -> Result<(), StartError> {
        let mut run = self.0.borrow_mut();
        run.begin(Phase::CLIMB);
        let mut stamp = walk.stamp();
        let older: Option<Vec<u8>> = run.resume(&stamp).map_err(TrainError::from)?;
        // A state saved by another version is not an error: the steps are repeated.
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

fn progress(search: &LbfgsSearch, settings: LbfgsSettings) -> Progress {
    let end = End::AtMost(settings.iterations as u64);
    Progress::counted(search.iterations() as u64, "steps", end)
}
