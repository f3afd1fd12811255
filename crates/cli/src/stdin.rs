//! The content of stdin, stored in a file because it is read more than once.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use anyhow::{Result, anyhow, bail};
use lehr::table::{Content, Scratch};

/// The file name that stands for stdin and stdout.
pub(crate) const STREAM: &str = "-";

/// The content of stdin. Dropping this removes the file.
#[derive(Default)]
pub(crate) struct Stdin(OnceLock<SpooledInput>);

struct SpooledInput {
    path: PathBuf,
    _folder: Scratch,
}

impl Stdin {
    /// The file with the whole content of stdin. Stdin can be used once.
    pub(crate) fn spool_file(&self) -> Result<PathBuf> {
        if self.0.get().is_some() {
            bail!(
                "-: stdin was named twice, but it can be read once only\n  hint: name a file instead"
            );
        }
        let kept = spool_stdin().map_err(|error| anyhow!("stdin: cannot read: {error}"))?;
        Ok(self.0.get_or_init(|| kept).path.clone())
    }

    /// The same error with "stdin" for the name of the file.
    pub(crate) fn retell_error(&self, error: anyhow::Error) -> anyhow::Error {
        let Some(kept) = self.0.get() else {
            return error;
        };
        let (words, path) = (error.to_string(), kept.path.display().to_string());
        if words.contains(&path) {
            anyhow!(words.replace(&path, "stdin"))
        } else {
            error
        }
    }
}

fn spool_stdin() -> io::Result<SpooledInput> {
    let folder = Scratch::new_in(&std::env::temp_dir(), "lehr-stdin-")?;
    let raw = folder.path().join("stdin");
    io::copy(&mut io::stdin().lock(), &mut File::create(&raw)?)?;
    let path = raw.with_extension(Content::recognise_file(&raw)?.extension());
    fs::rename(raw, &path)?;
    Ok(SpooledInput {
        path,
        _folder: folder,
    })
}
