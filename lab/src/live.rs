//! The progress line of a table on stderr: the current entry, and the progress of its fit.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lehr_infer::observer::{Observer, Phase, Progress, Wish};
use lehr_lab::paper::Watcher;

use crate::session::{Session, Voice};

/// The progress line; dropping it clears the line.
pub(crate) struct Live {
    bar: ProgressBar,
    voice: Voice,
    entry: String,
}

impl Live {
    pub(crate) fn new(session: &Session) -> Live {
        let target = match session.voice {
            Voice::Usual => ProgressDrawTarget::stderr_with_hz(8),
            Voice::Quiet => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::default_spinner());
        bar.enable_steady_tick(Duration::from_millis(200));
        Live {
            bar,
            voice: session.voice,
            entry: String::new(),
        }
    }

    fn show(&self, text: &str) {
        self.bar.set_message(format!("{}: {text}", self.entry));
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Live {
    fn begin(&mut self, phase: Phase) {
        self.show(phase.doing);
    }

    fn progress(&mut self, at: &Progress) -> Wish {
        self.show(&format!("{} {}, bound {:.2}", at.step, at.unit, at.bound));
        Wish::Continue
    }
}

impl Watcher for Live {
    fn cell(&mut self, name: &str, done: usize, all: usize) {
        self.entry = format!("{} of {all}, {name}", done + 1);
        self.show("");
    }

    fn finished(&mut self, words: &str) {
        if self.voice == Voice::Usual {
            self.bar.suspend(|| eprintln!("{words}"));
        }
    }
}
