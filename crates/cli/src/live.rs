//! The live line of a fit on stderr: iterations, bound, rate, time left.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lehr::infer::observer::{Observer, Phase, Progress, Wish};

use crate::interrupt::{self, Reaction};
use crate::session::{Session, Voice};

/// The live line; it is gone when this is dropped.
pub(crate) struct Live {
    bar: ProgressBar,
    label: String,
    /// When training began, and at which step if it was resumed.
    began: Option<(Instant, u64)>,
}

impl Live {
    /// A line that starts with `label`, on a terminal and unless quiet.
    pub(crate) fn new(session: &Session, label: &str) -> Live {
        let target = match session.voice {
            Voice::Usual => ProgressDrawTarget::stderr_with_hz(8),
            Voice::Quiet => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::default_spinner());
        bar.enable_steady_tick(Duration::from_millis(200));
        Live {
            bar,
            label: label.into(),
            began: None,
        }
    }

    /// Shows what is being done.
    pub(crate) fn show(&self, text: &str) {
        self.bar.set_message(format!("{}: {text}", self.label));
    }

    /// Rows read so far.
    pub(crate) fn rows(&self, progress: lehr::table::Progress) {
        let doing = match progress.stage {
            lehr::table::Stage::Reading => "reading",
            lehr::table::Stage::Shuffling => "shuffling on disk",
        };
        let share = 100.0 * progress.share;
        self.show(&format!("{doing}, {} rows, {share:.0} %", progress.rows));
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Live {
    fn begin(&mut self, phase: Phase) {
        interrupt::react(if phase.stops {
            Reaction::Finish
        } else {
            Reaction::End
        });
        self.began = None;
        self.show(phase.doing);
    }

    fn progress(&mut self, at: &Progress) -> Wish {
        if interrupt::asked() {
            return Wish::Stop;
        }
        let (began, first) = *self.began.get_or_insert((Instant::now(), at.step));
        let elapsed = began.elapsed().as_secs_f64();
        let done = at.step.saturating_sub(first);
        let mut text = format!("{} of at most {} iterations", at.step, at.cap);
        if at.bound.is_finite() {
            let _ = write!(text, ", bound {:.2}", at.bound);
        }
        if done > 0 && elapsed > 0.0 {
            let speed = done as f64 / elapsed;
            let left = at.cap.saturating_sub(at.step) as f64 / speed;
            let _ = write!(text, ", {speed:.0}/s, at most {} left", words(left));
        }
        self.show(&text);
        Wish::Continue
    }
}

/// A duration of which only the size matters.
pub(crate) fn words(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "?".into(),
        s if s < 1.0 => format!("{:.0} ms", 1e3 * s),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
