//! The state that both commands share: the form of the answer, the verbosity, and the threads.

use std::io::{ErrorKind, Write};

use anyhow::{Context, Result};
use lehr_report::Style;
use serde::Serialize;

use crate::Cli;

/// Stack of each thread.
const STACK_BYTES: usize = 16 << 20;

/// The form of the answer.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Json,
}

/// The verbosity on stderr.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Voice {
    /// A progress line and remarks.
    Usual,
    /// Errors only.
    Quiet,
}

/// The state that both commands share.
pub(crate) struct Session {
    form: Form,
    pub(crate) voice: Voice,
    pool: rayon::ThreadPool,
}

impl Session {
    pub(crate) fn new(cli: &Cli) -> Result<Session> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(cli.threads.unwrap_or(0))
            .stack_size(STACK_BYTES)
            .build()
            .context("--threads: the system refused so many threads")?;
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

    /// Runs within this session's threads.
    pub(crate) fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// How many threads there are.
    pub(crate) fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Prints the answer: `text` for people, `object` for programs. A closed pipe is not an error.
    pub(crate) fn answer(
        &self,
        object: &impl Serialize,
        text: impl FnOnce(&Style) -> String,
    ) -> Result<()> {
        let answer = match self.form {
            Form::Text => text(&Style::detect(&std::io::stdout())),
            Form::Json => serde_json::to_string_pretty(object)? + "\n",
        };
        match std::io::stdout().write_all(answer.as_bytes()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }
}
