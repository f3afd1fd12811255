//! Who watches a fit.

/// A part of a fit's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase {
    /// What is being done, in words.
    pub doing: &'static str,
    /// Whether it reports progress, so that it can be stopped between two steps and resumed.
    pub stops: bool,
}

impl Phase {
    /// The rows are condensed.
    pub const CONDENSE: Phase = Phase {
        doing: "condensing the rows",
        stops: false,
    };
    /// A start is looked for.
    pub const START: Phase = Phase {
        doing: "finding a start",
        stops: false,
    };
    /// A maximum to start from is climbed to.
    pub const CLIMB: Phase = Phase {
        doing: "finding a start",
        stops: true,
    };
    /// The Gaussian below a guide is trained alone.
    pub const BASE: Phase = Phase {
        doing: "training the base",
        stops: true,
    };
    /// The guide is trained.
    pub const TRAIN: Phase = Phase {
        doing: "training",
        stops: true,
    };
    /// Markov chains run.
    pub const CHAINS: Phase = Phase {
        doing: "running chains",
        stops: true,
    };
    /// Fresh draws are weighed.
    pub const EVALUATE: Phase = Phase {
        doing: "weighing fresh draws on all rows",
        stops: true,
    };
    /// Bridge sampling between the draws and a Gaussian.
    pub const EVIDENCE: Phase = Phase {
        doing: "estimating the evidence",
        stops: true,
    };
    /// The draws are examined.
    pub const EXAMINE: Phase = Phase {
        doing: "asking for a second opinion",
        stops: true,
    };
}

/// When a phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After exactly so many steps.
    At(u64),
    /// When it has found what it looks for, and at the latest after so many steps.
    AtMost(u64),
}

/// How a phase stands.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// What a step is called, in the plural.
    pub unit: &'static str,
    /// When it ends.
    pub end: End,
    /// Mean of the recent estimates of the bound; NaN where there is no bound.
    pub bound: f64,
    /// Standard error of that mean.
    pub bound_error: f64,
    /// The learning rate, or the step size of a chain.
    pub rate: f64,
    /// Trajectories of Markov chains that diverged so far, where such run.
    pub divergences: Option<u64>,
}

impl Progress {
    /// How work stands that has no bound and no rate.
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

/// What the watcher wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Continue.
    Continue,
    /// Finish the step, write the checkpoint and stop.
    Stop,
}

/// Called every so many steps, and between the phases of a fit.
pub trait Observer: Send {
    /// A phase begins.
    fn begin(&mut self, phase: Phase) {
        let _ = phase;
    }

    /// Something is worth a line of its own.
    fn remark(&mut self, text: &str) {
        let _ = text;
    }

    /// A phase that can be stopped has come this far.
    fn progress(&mut self, progress: &Progress) -> Wish {
        let _ = progress;
        Wish::Continue
    }
}

/// Nobody watches.
impl Observer for () {}
