//! The file of rows of a table beyond the memory that a fit may use.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use lehr::table::{Scratch, ShuffledRows};

use crate::content;
use crate::interrupt;
use crate::output::{Force, OutputRequest};

/// A file of rows that is removed when it is no longer needed.
pub(crate) struct RowFile {
    path: PathBuf,
    kept: bool,
    _folder: Option<Scratch>,
}

impl RowFile {
    /// Beside the output, `fit.lehr.rows`, so that `--resume` finds it; without an output, in a
    /// temporary folder.
    pub(crate) fn new(output: Option<&Path>) -> Result<RowFile> {
        let (path, folder) = if let Some(output) = output {
            let path = rows_path(output);
            OutputRequest::new(&path, content::FileKind::Rows, Force::default())
                .check_inputs(&[])?;
            (path, None)
        } else {
            let place = std::env::temp_dir();
            let folder = Scratch::new_in(&place, "lehr-rows-")
                .map_err(|error| anyhow!("{}: cannot write: {error}", place.display()))?;
            (folder.path().join("rows"), Some(folder))
        };
        // Existing rows belong to a fit that was not finished.
        let kept = path.exists();
        let leftover = folder.as_ref().map_or(path.as_path(), Scratch::path);
        interrupt::remove_when_interrupted((!kept).then_some(leftover));
        Ok(RowFile {
            path,
            kept,
            _folder: folder,
        })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Keeps the file for a resumed fit.
    pub(crate) fn keep_file(&mut self) {
        self.kept = true;
    }
}

impl Drop for RowFile {
    fn drop(&mut self) {
        interrupt::remove_when_interrupted(None);
        if !self.kept {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The rows of an output: `fit.lehr.rows`.
fn rows_path(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".rows");
    PathBuf::from(name)
}

/// Removes the rows of an earlier fit that was killed and is now replaced by one that does not need
/// them.
pub(crate) fn remove_leftovers(output: &Path) {
    let path = rows_path(output);
    if ShuffledRows::open(&path).is_ok() {
        let _ = std::fs::remove_file(path);
    }
}
