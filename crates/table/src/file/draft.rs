//! Files that appear complete or not at all.

use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::TableError;

use super::io;

/// A file under a temporary name beside its target. Until [`commit`](Self::commit) an older
/// file of that name stays as it was; a draft that is dropped vanishes.
#[derive(Debug)]
pub(crate) struct Draft {
    target: PathBuf,
    temporary: TempPath,
    writer: BufWriter<File>,
}

impl Draft {
    /// Starts a file that will be called `target`.
    pub(crate) fn create(target: &Path) -> Result<Self, TableError> {
        Self::create_in(folder(target), target)
    }

    /// Starts a file that lies in `place`, on the same disk, until it is called `target`.
    pub(crate) fn create_in(place: &Path, target: &Path) -> Result<Self, TableError> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".lehr-").suffix(".partial");
        #[cfg(unix)]
        {
            // As for any new file: all that the user's mask allows, not the owner alone.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = (builder.tempfile_in(place)).map_err(io(target, "write"))?;
        let (file, temporary) = file.into_parts();
        Ok(Self {
            target: target.into(),
            temporary,
            writer: BufWriter::with_capacity(1 << 18, file),
        })
    }

    /// The name the file will have.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Overwrites bytes that were written before.
    pub(crate) fn patch(&mut self, at: u64, bytes: &[u8]) -> Result<(), TableError> {
        let mut patch = || {
            self.writer.seek(SeekFrom::Start(at))?;
            self.writer.write_all(bytes)?;
            self.writer.seek(SeekFrom::End(0)).map(drop)
        };
        patch().map_err(io(&self.target, "write"))
    }

    /// Brings the bytes to the disk and gives the file its name.
    pub(crate) fn commit(self) -> Result<(), TableError> {
        let target = self.target;
        let file =
            (self.writer.into_inner()).map_err(|error| io(&target, "write")(error.into_error()))?;
        file.sync_all().map_err(io(&target, "write"))?;
        let renamed = self.temporary.persist(&target);
        renamed.map_err(|failed| io(&target, "write")(failed.error))
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}

/// The folder a file lies in.
pub(crate) fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_abandoned_draft_leaves_the_old_file_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("out.csv");
        std::fs::write(&target, "old").unwrap();
        let mut draft = Draft::create(&target).unwrap();
        draft.write_all(b"half").unwrap();
        drop(draft);
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_committed_draft_replaces_the_old_file() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("out.csv");
        std::fs::write(&target, "old").unwrap();
        let mut draft = Draft::create(&target).unwrap();
        draft.write_all(b"abcdef").unwrap();
        draft.patch(1, b"XY").unwrap();
        draft.write_all(b"g").unwrap();
        draft.commit().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"aXYdefg");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
