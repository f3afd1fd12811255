//! Files that appear complete or not at all.

use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::ReportError;

/// A temporary name beside a target. Until [`commit`](Self::commit) an older file of the
/// target's name stays as it was; a draft that is dropped vanishes.
#[derive(Debug)]
pub(crate) struct Draft {
    target: PathBuf,
    temporary: TempPath,
}

impl Draft {
    /// Reserves a temporary name in the folder of `target`.
    pub(crate) fn create(target: &Path) -> Result<Self, ReportError> {
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".lehr-").suffix(".partial");
        #[cfg(unix)]
        {
            // As for any new file: all that the user's mask allows, not the owner alone.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder);
        let file = file.map_err(|error| ReportError::write(target)(without_path(error)))?;
        Ok(Self {
            target: target.into(),
            temporary: file.into_temp_path(),
        })
    }

    /// Where to write meanwhile.
    pub(crate) fn path(&self) -> &Path {
        &self.temporary
    }

    /// Brings the bytes to the disk and gives the file its name.
    pub(crate) fn commit(self) -> Result<(), ReportError> {
        let synced = std::fs::File::open(&self.temporary).and_then(|file| file.sync_all());
        synced.map_err(ReportError::write(&self.target))?;
        let renamed = self.temporary.persist(&self.target);
        renamed.map_err(|failed| ReportError::write(&self.target)(failed.error))
    }
}

/// The system's own words: the layer above adds the temporary name, which helps nobody.
fn without_path(error: std::io::Error) -> std::io::Error {
    match error.to_string().split_once(" at path ") {
        Some((words, _)) => std::io::Error::new(error.kind(), words.to_string()),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abandoned_draft_leaves_the_old_file_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("report.html");
        std::fs::write(&target, "old").unwrap();
        let draft = Draft::create(&target).unwrap();
        std::fs::write(draft.path(), "half").unwrap();
        drop(draft);
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_named_in_the_error() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("absent").join("report.html");
        let error = Draft::create(&target).unwrap_err().to_string();
        assert!(error.contains("report.html: could not write"), "{error}");
        assert!(!error.contains(".partial"), "{error}");
    }
}
