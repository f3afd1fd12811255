//! The state that all commands share: the form of the answer, the verbosity, and the threads.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use clap::Args;
use lehr::report::Style;
use lehr::table::TableFiles;
use serde::Serialize;

use crate::failure;
use crate::stdin::{STREAM, Stdin};

/// Stack of each thread.
const STACK_BYTES: usize = 16 << 20;

/// The options that all commands share.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct SessionOptions {
    /// Answer with one JSON value (keys: docs/json.md)
    #[arg(long, global = true, help_heading = "Everywhere")]
    json: bool,
    /// Say nothing on stderr but errors
    #[arg(short, long, global = true, help_heading = "Everywhere")]
    pub(crate) quiet: bool,
    /// Threads to use at most [default: one per core]
    #[arg(long, global = true, value_name = "N", help_heading = "Everywhere")]
    threads: Option<usize>,
}

/// The state that all commands share.
pub(crate) struct Session {
    /// The options of the command line.
    pub(crate) options: SessionOptions,
    pool: rayon::ThreadPool,
    stdin: Stdin,
}

impl Session {
    /// A session with these options.
    pub(crate) fn new(options: SessionOptions) -> Result<Session> {
        ensure!(
            options.threads != Some(0),
            "--threads: expected at least one thread, found 0"
        );
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads.unwrap_or(0))
            // Commands run on a thread of the pool, which needs the stack of a main thread.
            .stack_size(STACK_BYTES)
            .build()
            .context("--threads: the system refused so many threads\n  hint: ask for fewer")?;
        Ok(Session {
            options,
            pool,
            stdin: Stdin::default(),
        })
    }

    /// The file of that name; `-` stands for the content of stdin.
    pub(crate) fn resolve_input(&self, name: &Path) -> Result<PathBuf> {
        if name == Path::new(STREAM) {
            self.stdin.spool_file()
        } else {
            Ok(name.into())
        }
    }

    /// The table in the files of these names.
    pub(crate) fn open_tables(&self, names: &[PathBuf]) -> Result<TableFiles> {
        let paths: Result<Vec<PathBuf>> =
            names.iter().map(|name| self.resolve_input(name)).collect();
        Ok(TableFiles::open_inputs(&paths?)?)
    }

    /// The error with names that the user knows: the copy of stdin is called stdin.
    pub(crate) fn retell_error(&self, error: anyhow::Error) -> anyhow::Error {
        self.stdin.retell_error(error)
    }

    /// Runs within this session's threads: entering the pool once costs less than once per step.
    pub(crate) fn in_pool<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        self.pool.install(work)
    }

    /// The style of text on stdout.
    pub(crate) fn style() -> Style {
        Style::detect(&std::io::stdout())
    }

    /// The answer: `text` for people, `object` for programs.
    pub(crate) fn print_answer(
        &self,
        object: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        print_text(&self.render_answer(object, text)?)
    }

    /// The answer in the requested form.
    pub(crate) fn render_answer(
        &self,
        object: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<String> {
        if self.options.json {
            return Ok(serde_json::to_string_pretty(object)? + "\n");
        }
        Ok(text())
    }

    /// Prints a remark on stderr, unless quiet.
    pub(crate) fn print_remark(&self, text: &str) {
        if !self.options.quiet {
            failure::print_error(text);
        }
    }
}

/// Writes to stdout. The error of a closed pipe is passed on, and the caller does not report it.
pub(crate) fn print_text(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => error.into(),
        _ => anyhow!("the answer: cannot write: {error}"),
    })
}
