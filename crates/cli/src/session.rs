//! What all commands share: the form of the answer, how much is said, and the threads.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use lehr::report::Style;
use lehr::table::TableFiles;
use serde::Serialize;

use crate::failure;
use crate::stdin::{STREAM, Stdin};

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

/// What the command line says of all that commands share.
pub(crate) struct SessionOptions {
    /// The form of the answer.
    pub(crate) form: Form,
    /// How much is said on stderr.
    pub(crate) voice: Voice,
    /// The most threads; one per core if it is not said.
    pub(crate) threads: Option<usize>,
}

/// What all commands share.
pub(crate) struct Session {
    /// The form of the answer.
    pub(crate) form: Form,
    /// How much is said on stderr.
    pub(crate) voice: Voice,
    pool: rayon::ThreadPool,
    stdin: Stdin,
}

impl Session {
    /// The session that these options ask for.
    pub(crate) fn new(options: &SessionOptions) -> Result<Session> {
        ensure!(
            options.threads != Some(0),
            "--threads: expected at least one thread, found 0"
        );
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads.unwrap_or(0))
            // Commands run on a thread of the pool, which must hold what a main thread holds.
            .stack_size(STACK_BYTES)
            .build()
            .context("--threads: the system refused so many threads\n  hint: ask for fewer")?;
        Ok(Session {
            form: options.form,
            voice: options.voice,
            pool,
            stdin: Stdin::default(),
        })
    }

    /// The file of that name; `-` is what comes from stdin.
    pub(crate) fn input(&self, name: &Path) -> Result<PathBuf> {
        if name == Path::new(STREAM) {
            self.stdin.file()
        } else {
            Ok(name.into())
        }
    }

    /// The table in the files of these names.
    pub(crate) fn tables(&self, names: &[PathBuf]) -> Result<TableFiles> {
        let paths: Result<Vec<PathBuf>> = names.iter().map(|name| self.input(name)).collect();
        Ok(TableFiles::open(&paths?)?)
    }

    /// An error in the user's words: what came from stdin is called so.
    pub(crate) fn retold(&self, error: anyhow::Error) -> anyhow::Error {
        self.stdin.retold(error)
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
        print(&self.rendered(object, text)?)
    }

    /// The answer in the form that was asked for.
    pub(crate) fn rendered(
        &self,
        object: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<String> {
        match self.form {
            Form::Text => Ok(text()),
            Form::Json => Ok(serde_json::to_string_pretty(object)? + "\n"),
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
