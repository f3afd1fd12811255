//! Runs work without the interpreter's lock, while Python reports progress and may stop it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use lehr::infer::observer::{End, Observer, Phase, Progress, Wish};
use lehr::regression::ReadObserver;
use pyo3::prelude::*;

use crate::error::message_error;
use crate::request::FitSettings;

/// Stack of each thread, since deep models are walked recursively.
const STACK_BYTES: usize = 16 << 20;
/// The interval at which Python checks.
const GLANCE: Duration = Duration::from_millis(100);

/// The state of the work that is displayed: the activity, its progress, and the bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct News {
    doing: String,
    done: u64,
    unit: &'static str,
    total: Option<u64>,
    bound: Option<f64>,
}

/// The state that the worker and Python share.
#[derive(Default)]
pub(crate) struct FitMonitor {
    stop: AtomicBool,
    news: Mutex<News>,
}

impl FitMonitor {
    fn current_wish(&self) -> Wish {
        if self.stop.load(Ordering::SeqCst) {
            Wish::Stop
        } else {
            Wish::Continue
        }
    }

    fn tell_news(&self, change: impl FnOnce(&mut News)) {
        if let Ok(mut news) = self.news.lock() {
            change(&mut news);
        }
    }

    fn latest_news(&self) -> News {
        let news = self.news.lock();
        news.map(|news| news.clone()).unwrap_or_default()
    }
}

impl FitMonitor {
    /// Reports that some of a number of items are done.
    pub(crate) fn tell_counts(
        &self,
        doing: &str,
        done: usize,
        (total, unit): (usize, &'static str),
    ) {
        self.tell_news(|news| {
            *news = News {
                doing: doing.to_owned(),
                done: done as u64,
                unit,
                total: Some(total as u64),
                ..News::default()
            };
        });
    }
}

impl ReadObserver for FitMonitor {
    fn rows(&self, at: lehr::table::Progress) -> Wish {
        self.tell_news(|news| {
            let doing = match at.stage {
                lehr::table::Stage::Reading => "reading",
                lehr::table::Stage::Shuffling => "shuffling on disk",
            };
            *news = News {
                doing: doing.to_owned(),
                done: at.rows,
                unit: "rows",
                ..News::default()
            };
        });
        self.current_wish()
    }
}

/// An observer that reports a fit's progress to the watch.
pub(crate) struct MonitorObserver<'a>(pub(crate) &'a FitMonitor);

impl Observer for MonitorObserver<'_> {
    fn begin(&mut self, phase: Phase) {
        self.0.tell_news(|news| {
            *news = News {
                doing: phase.doing.to_owned(),
                ..News::default()
            };
        });
    }

    fn progress(&mut self, at: &Progress) -> Wish {
        self.0.tell_news(|news| {
            news.done = at.step;
            news.unit = at.unit;
            news.total = match at.end {
                End::At(total) => Some(total),
                End::AtMost(_) => None,
            };
            news.bound = at.bound.is_finite().then_some(at.bound);
        });
        self.0.current_wish()
    }
}

/// Runs work on separate threads. Python's `progress` is called with its state. Ctrl-C, or an
/// exception in `progress`, asks the work to stop and is raised unless the work returned an error
/// of its own.
pub(crate) fn run_watched<T: Send>(
    how: &FitSettings,
    py: Python<'_>,
    work: impl FnOnce(&FitMonitor) -> PyResult<T> + Send,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(how.threads.unwrap_or(0))
        .stack_size(STACK_BYTES)
        .build()
        .map_err(|error| message_error(&format!("threads: {error}\n  hint: ask for fewer")))?;
    let watch = FitMonitor::default();
    let (sender, receiver) = channel();
    let receiver = Mutex::new(receiver);
    let mut raised = None;
    let made = pool.in_place_scope(|scope| {
        let shared = &watch;
        scope.spawn(move |_| {
            let _ = sender.send(work(shared));
        });
        loop {
            let waited = py.detach(|| {
                let receiver = receiver.lock().expect("nobody else receives");
                receiver.recv_timeout(GLANCE)
            });
            match waited {
                Ok(made) => return Some(made),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = show_news(py, &watch, how) {
                watch.stop.store(true, Ordering::SeqCst);
                raised.get_or_insert(error);
            }
        }
    });
    let made = made.expect("the scope has raised the panic of the work");
    match (made, raised) {
        (Err(error), Some(raised)) if !error.is_instance_of::<crate::error::Interrupted>(py) => {
            error.set_cause(py, Some(raised));
            Err(error)
        }
        (Err(error), _) => Err(error),
        // Work that ended before it could be stopped counts as done.
        (Ok(made), _) => Ok(made),
    }
}

/// Reports the state of the work and lets Python handle signals.
fn show_news(py: Python<'_>, watch: &FitMonitor, how: &FitSettings) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = &how.progress {
        let news = watch.latest_news();
        progress.call1(
            py,
            (news.doing, news.done, news.unit, news.total, news.bound),
        )?;
    }
    Ok(())
}
