//! Output files of commands. Output that cannot be written, or would overwrite a user's file, is
//! refused before the work starts.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail, ensure};
use clap::Args;
use lehr::file::{Draft, parent_folder};
use lehr::table::{Scratch, is_in_store};
use serde::Serialize;

use crate::content::{ExistingFile, FileKind, Signature, inspect_file};
use crate::session::Session;
use crate::stdin::STREAM;

/// Whether existing files are replaced, on the command line.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Force {
    /// Replace an existing file that lehr wrote or that is of the same kind; inputs are never
    /// replaced
    #[arg(long)]
    pub(crate) force: bool,
}

/// A request for an output.
pub(crate) struct OutputRequest<'a> {
    /// The file, or `-` for stdout.
    pub(crate) name: &'a Path,
    /// The kind of content.
    pub(crate) kind: FileKind,
    /// Recognises a text file of this command by its columns.
    pub(crate) signed: Signature<'a>,
    /// Whether existing files are replaced.
    pub(crate) force: Force,
}

/// An output file.
pub(crate) struct OutputFile {
    /// The name that the user typed.
    name: PathBuf,
    path: PathBuf,
    /// Holds the output for stdout until it is complete.
    _scratch: Option<Scratch>,
}

impl<'a> OutputRequest<'a> {
    /// A file that is not text.
    pub(crate) fn new(name: &'a Path, kind: FileKind, force: Force) -> OutputRequest<'a> {
        OutputRequest {
            name,
            kind,
            signed: &|_| false,
            force,
        }
    }

    /// A table, whose format its name determines.
    pub(crate) fn table_order(
        name: &'a Path,
        signed: Signature<'a>,
        force: Force,
    ) -> Result<OutputRequest<'a>> {
        let Some(kind) = table_kind(name) else {
            check_writable(name)?;
            bail!(
                "{}: cannot write a file of this extension\n  hint: end its name in csv, tsv, parquet or arrow",
                name.display()
            );
        };
        Ok(OutputRequest {
            name,
            kind,
            signed,
            force,
        })
    }

    /// Opens the output, unless it would overwrite a user's file.
    pub(crate) fn open_output(&self, inputs: &[&Path]) -> Result<OutputFile> {
        if self.name == Path::new(STREAM) {
            return OutputFile::stdout(self.kind);
        }
        self.check_inputs(inputs)?;
        Ok(OutputFile {
            name: self.name.into(),
            path: self.name.into(),
            _scratch: None,
        })
    }

    /// Refuses an output that cannot be written, is an input, or has another origin.
    pub(crate) fn check_inputs(&self, inputs: &[&Path]) -> Result<()> {
        check_writable(self.name)?;
        let name = self.name.display();
        if let Some(input) = inputs.iter().find(|input| is_same(self.name, input)) {
            let which = if *input == self.name {
                String::new()
            } else {
                format!(", the same file as {}", input.display())
            };
            bail!(
                "{name}: the output is one of the inputs{which}\n  hint: name another file to write"
            );
        }
        let there = inspect_file(self.name, self.signed)
            .map_err(|error| anyhow!("{name}: cannot look at the file that is there: {error}"))?;
        match there {
            ExistingFile::Nothing => Ok(()),
            ExistingFile::Known(kind, true) if kind == self.kind => Ok(()),
            ExistingFile::Known(kind, ours) if ours || kind == self.kind => {
                self.ask_overwrite(kind)
            }
            ExistingFile::Known(..) | ExistingFile::Other => bail!(
                "{name}: expected no file or {} to replace, found another kind of file\n  \
                 hint: name another file to write, or remove this one first",
                self.kind.kind_words()
            ),
        }
    }

    /// Refuses to replace a file without the user's permission.
    fn ask_overwrite(&self, there: FileKind) -> Result<()> {
        let (name, own) = (self.name.display(), self.kind.kind_words());
        let not_ours = if there == self.kind {
            " that lehr did not write"
        } else {
            ""
        };
        ensure!(
            self.force.force,
            "{name}: expected no file or {own} written by lehr, found {}{not_ours}\n  \
             hint: --force replaces it, or name another file to write",
            there.kind_words()
        );
        Ok(())
    }
}

/// The format of a table of that name.
fn table_kind(name: &Path) -> Option<FileKind> {
    if name == Path::new(STREAM) {
        return Some(FileKind::Text);
    }
    let extension = name.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "csv" | "txt" | "tsv" | "tab" => Some(FileKind::Text),
        "parquet" | "pq" => Some(FileKind::Parquet),
        "arrow" | "ipc" | "feather" | "arrows" => Some(FileKind::Arrow),
        _ => None,
    }
}

impl OutputFile {
    /// A temporary file that is copied to stdout when it is complete.
    fn stdout(kind: FileKind) -> Result<OutputFile> {
        let scratch = Scratch::new_in(&std::env::temp_dir(), "lehr-stdout-")
            .map_err(|error| anyhow!("stdout: cannot prepare what is to be written: {error}"))?;
        let name = match kind {
            FileKind::Text => "stdout.csv",
            _ => "stdout",
        };
        Ok(OutputFile {
            name: STREAM.into(),
            path: scratch.path().join(name),
            _scratch: Some(scratch),
        })
    }

    /// The path to write to.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The name that the user typed.
    pub(crate) fn name(&self) -> String {
        self.name.display().to_string()
    }

    /// The file, unless it is stdout.
    pub(crate) fn file(&self) -> Option<&Path> {
        (self.name != Path::new(STREAM)).then_some(self.path.as_path())
    }

    /// Copies the output to stdout, if it goes there, and prints the answer: on stdout, or on
    /// stderr if stdout has the file.
    pub(crate) fn print_answer(
        &self,
        session: &Session,
        object: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<()> {
        if self.file().is_some() {
            return session.print_answer(object, text);
        }
        let mut file = std::fs::File::open(&self.path)?;
        let mut out = std::io::stdout().lock();
        std::io::copy(&mut file, &mut out)?;
        out.flush()?;
        if !session.options.quiet {
            session.print_remark(session.render_answer(object, text)?.trim_end());
        }
        Ok(())
    }
}

/// Whether two names refer to one file, by any path or link.
fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |path: &Path| path.metadata().ok().map(|data| (data.dev(), data.ino()));
        identity(one).is_some() && identity(one) == identity(other)
    }
    #[cfg(not(unix))]
    {
        let place = |path: &Path| path.canonicalize().ok();
        place(one).is_some() && place(one) == place(other)
    }
}

/// Refuses an output that could not be written, before an hour of work.
fn check_writable(output: &Path) -> Result<()> {
    let name = output.display();
    ensure!(
        !is_in_store(output),
        "{name}: expected a file on this machine, found a name in an object store\n  hint: tables \
         are read from there, and nothing is written"
    );
    ensure!(
        !output.is_dir(),
        "{name}: expected the name of a file, found a folder\n  hint: name a file in it"
    );
    // The file is written beside the target and renamed, which would replace a device.
    ensure!(
        output.is_file() || !output.exists(),
        "{name}: expected the name of a file, found a device\n  hint: - stands for stdout"
    );
    let Err(error) = Draft::create_draft(output) else {
        return Ok(());
    };
    let place = parent_folder(output).display();
    match error.kind() {
        ErrorKind::NotFound => {
            bail!("{name}: cannot write: there is no folder {place}\n  hint: make it first")
        }
        ErrorKind::NotADirectory => bail!("{name}: cannot write: {place} is no folder"),
        ErrorKind::PermissionDenied => {
            bail!("{name}: cannot write: the folder {place} does not allow it")
        }
        // The name of the temporary file is left out.
        kind => bail!("{name}: cannot write: {kind}"),
    }
}
