//! Observers of a fit.

/// A part of a fit's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The activity, in words.
    pub doing: &'static str,
    /// Whether it reports progress, so that it can be stopped between two steps and resumed.
    pub stops: bool,
}

impl Phase {
    /// A phase that runs to its end.
    const fn whole(doing: &'static str) -> Phase {
        Phase {
            doing,
            stops: false,
        }
    }

    /// A phase that can be stopped.
    const fn stopping(doing: &'static str) -> Phase {
        Phase { doing, stops: true }
    }

    /// The rows are reduced.
    pub const CONDENSE: Phase = Phase::whole("condensing the rows");
    /// The search for a start.
    pub const START: Phase = Phase::whole("finding a start");
    /// The climb to a maximum from which the fit starts.
    pub const CLIMB: Phase = Phase::stopping("finding a start");
    /// The Gaussian below a guide is trained alone.
    pub const BASE: Phase = Phase::stopping("training the base");
    /// The guide is trained.
    pub const TRAIN: Phase = Phase::stopping("training");
    /// Markov chains run.
    pub const CHAINS: Phase = Phase::stopping("running chains");
    /// Fresh draws are weighed.
    pub const EVALUATE: Phase = Phase::stopping("weighing fresh draws on all rows");
    /// Bridge sampling between the draws and a Gaussian.
    pub const EVIDENCE: Phase = Phase::stopping("estimating the evidence");
    /// The draws are examined.
    pub const EXAMINE: Phase = Phase::stopping("asking for a second opinion");
}

/// The end of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After exactly this many steps.
    At(u64),
    /// When it has converged, and after at most this many steps.
    AtMost(u64),
}

/// The progress of a phase.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// The name of a step, in the plural.
    pub unit: &'static str,
    /// The end of the phase.
    pub end: End,
    /// Mean of the recent estimates of the bound; NaN if there is no bound.
    pub bound: f64,
    /// Standard error of that mean.
    pub bound_error: f64,
    /// The learning rate, or the step size of a chain.
    pub rate: f64,
    /// Trajectories of Markov chains that diverged so far, if chains run.
    pub divergences: Option<u64>,
}

impl Progress {
    /// The progress of work without a bound and a learning rate.
    pub fn counted(step: u64, unit: &'static str, end: End) -> Progress {
        Progress {
            step,
            unit,
            end,
            bound: f64::NAN,
            bound_error: f64::NAN,
            rate: f64::NAN,
            divergences: None,
        }
    }
}

/// The observer's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Continue.
    Continue,
    /// Finish the step, write the checkpoint and stop.
    Stop,
}

/// Receives reports every few steps, and between the phases of a fit.
pub trait Observer: Send {
    /// A phase begins.
    fn begin(&mut self, phase: Phase) {
        let _ = phase;
    }

    /// A remark for the user.
    fn remark(&mut self, text: &str) {
        let _ = text;
    }

    /// The progress of a phase that can be stopped.
    fn progress(&mut self, progress: &Progress) -> Wish {
        let _ = progress;
        Wish::Continue
    }
}

/// An observer that ignores all reports.
impl Observer for () {}
