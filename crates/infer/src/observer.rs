//! Who watches a fit.

/// How a fit stands.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps done.
    pub step: u64,
    /// Steps at the most.
    pub cap: u64,
    /// Mean of the recent estimates of the bound.
    pub bound: f64,
    /// Standard error of that mean.
    pub bound_error: f64,
    /// The learning rate.
    pub rate: f64,
}

/// What the watcher wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Go on.
    Continue,
    /// Finish the step, write the checkpoint and stop.
    Stop,
}

/// Called every so many steps, and between the parts of a fit.
pub trait Observer {
    /// A part of the work begins.
    fn begin(&mut self, part: &str) {
        let _ = part;
    }

    /// Training has come this far.
    fn progress(&mut self, progress: &Progress) -> Wish {
        let _ = progress;
        Wish::Continue
    }
}

/// Nobody watches.
impl Observer for () {}
