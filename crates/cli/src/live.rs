//! The progress line on stderr: the current work, its progress, and the remaining time if it is
//! known.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lehr::infer::observer::{End, Observer, Phase, Progress, Wish};
use lehr::regression::ReadObserver;

use crate::failure;
use crate::interrupt::{self, Reaction};
use crate::session::Session;

/// The progress line; dropping it clears the line.
pub(crate) struct Live {
    bar: ProgressBar,
    is_quiet: bool,
    label: String,
    /// The current work.
    doing: &'static str,
    began: Option<Began>,
}

/// The start of a phase, and its first step if it was resumed.
#[derive(Clone, Copy)]
struct Began {
    at: Instant,
    step: u64,
}

impl Live {
    /// A line that starts with `label`, shown on a terminal unless quiet.
    pub(crate) fn new(session: &Session, label: &str) -> Live {
        let is_quiet = session.options.quiet;
        let target = if is_quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr_with_hz(8)
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(ProgressStyle::default_spinner());
        bar.enable_steady_tick(Duration::from_millis(200));
        Live {
            bar,
            is_quiet,
            label: label.into(),
            doing: "",
            began: None,
        }
    }

    /// Shows the current work.
    pub(crate) fn show_line(&self, text: &str) {
        self.bar.set_message(format!("{}: {text}", self.label));
    }

    /// Shows the rows read so far.
    pub(crate) fn rows(&self, progress: lehr::table::Progress) {
        let doing = match progress.stage {
            lehr::table::Stage::Reading => "reading",
            lehr::table::Stage::Shuffling => "shuffling on disk",
        };
        let share = 100.0 * progress.share;
        self.show_line(&format!("{doing}, {} rows, {share:.0} %", progress.rows));
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl ReadObserver for Live {
    fn rows(&self, progress: lehr::table::Progress) -> Wish {
        Live::rows(self, progress);
        if interrupt::was_asked() {
            Wish::Stop
        } else {
            Wish::Continue
        }
    }

    fn all_read(&self) {
        self.show_line("making the model");
    }
}

impl Observer for Live {
    fn begin(&mut self, phase: Phase) {
        interrupt::set_reaction(if phase.stops {
            Reaction::Finish
        } else {
            Reaction::End
        });
        self.began = None;
        self.doing = phase.doing;
        self.show_line(phase.doing);
    }

    fn remark(&mut self, text: &str) {
        if !self.is_quiet {
            self.bar.suspend(|| failure::print_error(text));
        }
    }

    fn progress(&mut self, at: &Progress) -> Wish {
        if interrupt::was_asked() {
            return Wish::Stop;
        }
        let began = *self.began.get_or_insert(Began {
            at: Instant::now(),
            step: at.step,
        });
        let pace = Pace {
            steps: at.step.saturating_sub(began.step),
            seconds: began.at.elapsed().as_secs_f64(),
        };
        self.show_line(&progress_line(self.doing, at, pace));
        Wish::Continue
    }
}

/// The steps since a phase began, and their time.
#[derive(Clone, Copy)]
struct Pace {
    steps: u64,
    seconds: f64,
}

/// A phase with a known number of steps shows a bar and the remaining time. The duration of any
/// other phase is unknown, so the elapsed time is shown.
fn progress_line(doing: &str, at: &Progress, pace: Pace) -> String {
    let mut text = match at.end {
        End::At(total) => format!(
            "{doing} {} {} of {total}",
            progress_bar(at.step, total),
            at.step
        ),
        End::AtMost(_) => format!("{doing}, {}", at.step),
    };
    let _ = write!(text, " {}", at.unit);
    if at.bound.is_finite() {
        let _ = write!(text, ", bound {:.2}", at.bound);
    }
    let speed = pace.steps as f64 / pace.seconds;
    if let Some(count) = at.divergences {
        text += &chain_words(at.unit, speed, count);
    }
    let _ = match at.end {
        End::At(total) if pace.steps > 0 && speed > 0.0 => {
            let left = total.saturating_sub(at.step) as f64 / speed;
            write!(text, ", {} left", format_seconds(left))
        }
        _ => write!(text, ", {}", format_seconds(pace.seconds)),
    };
    text
}

/// The speed of Markov chains, and the number of their divergences.
fn chain_words(unit: &str, speed: f64, divergences: u64) -> String {
    let fast = match speed {
        s if s.is_finite() && s > 0.0 => format!(", {s:.0} {unit} per second"),
        _ => String::new(),
    };
    let diverged = match divergences {
        0 => String::new(),
        1 => ", 1 divergence".into(),
        many => format!(", {many} divergences"),
    };
    fast + &diverged
}

fn progress_bar(done: u64, total: u64) -> String {
    const WIDTH: u64 = 20;
    let full = (WIDTH * done.min(total))
        .checked_div(total)
        .unwrap_or(WIDTH);
    let part = |sign: &str, count: u64| sign.repeat(usize::try_from(count).unwrap_or(0));
    format!("[{}{}]", part("#", full), part(".", WIDTH - full))
}

/// A duration, rounded to its order of magnitude.
pub(crate) fn format_seconds(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "?".into(),
        s if s < 1.0 => format!("{:.0} ms", 1e3 * s),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(end: End, divergences: Option<u64>) -> String {
        let at = Progress {
            divergences,
            ..Progress::counted(256, "draws", end)
        };
        let pace = Pace {
            steps: 256,
            seconds: 2.0,
        };
        progress_line("weighing", &at, pace)
    }

    #[test]
    fn time_left_is_shown_only_where_it_is_known() {
        let known = shown(End::At(1024), None);
        assert_eq!(
            known,
            "weighing [#####...............] 256 of 1024 draws, 6.0 s left"
        );
        let open = shown(End::AtMost(200_000), None);
        assert_eq!(open, "weighing, 256 draws, 2.0 s");
    }

    #[test]
    fn chains_show_their_speed_and_their_divergences() {
        assert_eq!(
            shown(End::At(1024), Some(3)),
            "weighing [#####...............] 256 of 1024 draws, 128 draws per second, \
             3 divergences, 6.0 s left"
        );
    }
}
