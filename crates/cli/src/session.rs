//! What all commands share: the form of the answer, how much is said, and the threads.

use std::io::{ErrorKind, Write};

use anyhow::{Context, Result, anyhow, ensure};
use lehr::report::Style;
use serde::Serialize;

use crate::argument::Cli;
use crate::failure;

/// Stack of each thread.
const STACK_BYTES: usize = 16 << 20;

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// For programs: one JSON value with stable keys.
    Json,
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A live line and remarks.
    Usual,
    /// Errors only.
    Quiet,
}

/// What all commands share.
pub(crate) struct Session {
    /// The form of the answer.
    pub(crate) form: Form,
    /// How much is said on stderr.
    pub(crate) voice: Voice,
    pool: rayon::ThreadPool,
}

impl Session {
    /// The session of these arguments.
    pub(crate) fn new(cli: &Cli) -> Result<Session> {
        ensure!(
            cli.threads != Some(0),
            "--threads: expected at least one thread, found 0"
        );
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(cli.threads.unwrap_or(0))
            // Commands run on a thread of the pool, which must hold what a main thread holds.
            .stack_size(STACK_BYTES)
            .build()
            .context("--threads: the system refused so many threads\n  hint: ask for fewer")?;
        Ok(Session {
            form: if cli.json { Form::Json } else { Form::Text },
            voice: if cli.quiet {
                Voice::Quiet
            } else {
                Voice::Usual
            },
            pool,
        })
    }

    /// Runs within this session's threads: entering the pool once costs less than once per step.
    pub(crate) fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// How to write on stdout.
    pub(crate) fn style() -> Style {
        Style::detect(&std::io::stdout())
    }

    /// The answer: `text` for people, `object` for programs.
    pub(crate) fn answer(
        &self,
        object: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        match self.form {
            Form::Text => print(&text()),
            Form::Json => print(&(serde_json::to_string_pretty(object)? + "\n")),
        }
    }

    /// A remark on stderr, unless quiet.
    pub(crate) fn remark(&self, text: &str) {
        if self.voice == Voice::Usual {
            failure::say(text);
        }
    }
}

/// Writes to stdout; the error of a closed pipe is passed on as such, because it is none.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => error.into(),
        _ => anyhow!("the answer: cannot write: {error}"),
    })
}
