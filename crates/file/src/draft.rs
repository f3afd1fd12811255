//! Files that appear complete or not at all.

#[cfg(unix)]
use std::fs::Permissions;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
#[cfg(unix)]
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// Bytes that are gathered before they go to the system.
const BUFFER: usize = 1 << 18;

/// A file under a temporary name beside its target. Until [`commit_file`](Self::commit_file) an older file of
/// that name stays unchanged; the new file has its permissions. A draft that is dropped removes its
/// file. A killed process cannot do so, so the next draft in the same folder removes the files of
/// dead processes first. Where the target is a link, the file that it leads to is replaced. A target
/// that is a device, a pipe or an open descriptor such as `/dev/stdout` is never replaced; it is
/// written to directly.
#[derive(Debug)]
pub struct Draft {
    target: PathBuf,
    /// The temporary file; `None` where the target is written to directly.
    temporary: Option<TempPath>,
    writer: BufWriter<File>,
}

impl Draft {
    /// Starts a file that will be called `target`.
    pub fn create_draft(target: &Path) -> io::Result<Draft> {
        let target = follow_links(target)?;
        Draft::create_in(parent_folder(&target), &target)
    }

    /// Starts a file in the folder `place`, on the same disk, that `commit` renames to `target`.
    pub fn create_in(place: &Path, target: &Path) -> io::Result<Draft> {
        let (file, temporary) = if is_stream(target) {
            // What is in a file behind a descriptor stays in it.
            (OpenOptions::new().append(true).open(target)?, None)
        } else {
            let (file, temporary) = temporary_file(place)?;
            (file, Some(temporary))
        };
        Ok(Draft {
            target: target.into(),
            temporary,
            writer: BufWriter::with_capacity(BUFFER, file),
        })
    }

    /// The name the file will have.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The draft with a file that only its owner may read, because it holds single rows.
    pub fn for_owner_only(self) -> io::Result<Draft> {
        #[cfg(unix)]
        if self.temporary.is_some() {
            self.writer
                .get_ref()
                .set_permissions(Permissions::from_mode(0o600))?;
        }
        Ok(self)
    }

    /// The path of the temporary file, for writers that open a file by its name. The file is locked,
    /// and stays so until the draft is committed or dropped: it must be opened without a lock.
    pub fn path(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(&self.target)
    }

    /// Overwrites bytes that were written before.
    pub fn patch_bytes(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.writer.seek(SeekFrom::Start(at))?;
        self.writer.write_all(bytes)?;
        self.writer.seek(SeekFrom::End(0)).map(drop)
    }

    /// Flushes the bytes to the disk and renames the file to its target.
    pub fn commit_file(self) -> io::Result<()> {
        let file = self
            .writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        // Devices and pipes cannot be flushed to a disk.
        let Some(temporary) = self.temporary else {
            return Ok(());
        };
        if let Ok(older) = self.target.metadata() {
            file.set_permissions(older.permissions())?;
        }
        file.sync_all()?;
        let renamed = temporary.persist(&self.target);
        renamed.map_err(|failed| failed.error)?;
        sync_folder(parent_folder(&self.target))
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The folder a file lies in.
pub fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Links that lead to a file at most; more of them are a circle.
const MOST_LINKS: usize = 40;

/// The file that a name leads to, which need not exist. The name of an open descriptor is kept, because the
/// file behind it belongs to whoever opened it.
fn follow_links(target: &Path) -> io::Result<PathBuf> {
    let mut path = target.to_path_buf();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&path) {
            Ok(next) if !is_descriptor(&path) => path = parent_folder(&path).join(next),
            _ => return Ok(path),
        }
    }
    let problem = format!("more than {MOST_LINKS} links lead from one to the next");
    Err(io::Error::new(io::ErrorKind::InvalidInput, problem))
}

/// Whether a name is that of an open descriptor, such as `/proc/self/fd/1`, to which `/dev/stdout` leads.
fn is_descriptor(path: &Path) -> bool {
    let folder = parent_folder(path).canonicalize();
    folder.is_ok_and(|folder| folder.starts_with("/proc"))
}

/// Whether a name stands for something that exists and is written to as it is: a device, a pipe or an open
/// descriptor.
fn is_stream(target: &Path) -> bool {
    let found = target.metadata();
    is_descriptor(target) || found.is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Flushes a folder to the disk, so that a renamed file keeps its new name when the machine loses power. File
/// systems that cannot do so say that it is invalid.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(error),
        _ => Ok(()),
    }
}

const PREFIX: &str = ".lehr-";
const NAMED: &str = "partial";

/// A new file that is locked while it is open; the system releases the lock when the process ends.
/// The file gets the name that other processes look for only once the lock is held. On file systems
/// without locks, drafts of dead processes are not removed.
fn temporary_file(place: &Path) -> io::Result<(File, TempPath)> {
    sweep_folder(place);
    let (file, fresh) = fresh_file(place)?;
    let _ = file.try_lock();
    let named = TempPath::try_from_path(fresh.with_extension(NAMED))?;
    std::fs::rename(&fresh, &named)?;
    // The temporary file has been renamed and no longer exists under this name.
    let _ = fresh.keep();
    Ok((file, named))
}

/// Removes drafts whose process is dead. Errors are ignored, because the current process does not
/// depend on it.
fn sweep_folder(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_named = path.extension().is_some_and(|found| found == NAMED)
            && entry.file_name().to_string_lossy().starts_with(PREFIX);
        let is_dead = || open_draft(&path).is_ok_and(|file| file.try_lock().is_ok());
        if is_named && is_dead() {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Opens a file that may be a draft. A pipe of that name must not be waited for, and a link not followed.
fn open_draft(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW);
    let file = options.read(true).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::ErrorKind::InvalidInput.into())
}

fn fresh_file(place: &Path) -> io::Result<(File, TempPath)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(".new");
    // The permissions of any new file: all that the user's mask allows, not only the owner's.
    #[cfg(unix)]
    builder.permissions(Permissions::from_mode(0o666));
    let file = builder.tempfile_in(place).map_err(without_path)?;
    Ok(file.into_parts())
}

/// The system's own message, without the temporary path that the layer above adds.
fn without_path(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((words, _)) => io::Error::new(error.kind(), words.to_string()),
        None => error,
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
        let mut draft = Draft::create_draft(&target).unwrap();
        draft.write_all(b"half").unwrap();
        drop(draft);
        assert_eq!(std::fs::read(&target).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn drafts_of_the_dead_go_and_those_of_the_living_stay() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str| std::fs::write(place.path().join(name), "half").unwrap();
        for name in [".lehr-abc.partial", ".lehr-notes.txt", "mine.partial"] {
            write(name);
        }
        let mut living = Draft::create_draft(&place.path().join("one")).unwrap();
        living.write_all(b"one").unwrap();
        let other = Draft::create_draft(&place.path().join("two")).unwrap();
        assert!(!place.path().join(".lehr-abc.partial").exists());
        living.commit_file().unwrap();
        drop(other);
        let names = std::fs::read_dir(place.path()).unwrap().flatten();
        let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, [".lehr-notes.txt", "mine.partial", "one"]);
    }

    #[test]
    fn a_committed_draft_replaces_the_old_file() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("out.csv");
        std::fs::write(&target, "old").unwrap();
        let mut draft = Draft::create_draft(&target).unwrap();
        draft.write_all(b"abcdef").unwrap();
        draft.patch_bytes(1, b"XY").unwrap();
        draft.write_all(b"g").unwrap();
        draft.commit_file().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"aXYdefg");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_was_written_by_name_is_committed() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("draws.nc");
        let draft = Draft::create_draft(&target).unwrap();
        std::fs::write(draft.path(), "whole").unwrap();
        // Another process in the same folder leaves it alone.
        sweep_folder(place.path());
        draft.commit_file().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
    }

    #[test]
    fn a_missing_folder_is_told_without_the_temporary_name() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("absent").join("report.html");
        let error = Draft::create_draft(&target).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains(".partial"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_its_file_is_replaced_with_its_permissions() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        let mut draft = Draft::create_draft(&link).unwrap();
        draft.write_all(b"new").unwrap();
        draft.commit_file().unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        let circle = place.path().join("circle");
        std::os::unix::fs::symlink("circle", &circle).unwrap();
        let error = Draft::create_draft(&circle).unwrap_err().to_string();
        assert!(error.contains("links"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_behind_a_descriptor_is_written_to_and_not_replaced() {
        use std::os::fd::AsRawFd;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("stdout");
        std::fs::write(&path, "first ").unwrap();
        let open = File::options().append(true).open(&path).unwrap();
        let link = place.path().join("link");
        let descriptor = format!("/proc/self/fd/{}", open.as_raw_fd());
        std::os::unix::fs::symlink(descriptor, &link).unwrap();
        let mut draft = Draft::create_draft(&link).unwrap();
        draft.write_all(b"second").unwrap();
        draft.commit_file().unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read(&path).unwrap(), b"first second");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_that_is_called_like_a_draft_holds_nothing_up() {
        let place = tempfile::tempdir().unwrap();
        let pipe = place.path().join(".lehr-abc.partial");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        Draft::create_draft(&place.path().join("out")).unwrap();
        assert!(pipe.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_of_single_rows_is_for_its_owner_only() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("rows");
        let draft = Draft::create_draft(&target).unwrap().for_owner_only();
        draft.unwrap().commit_file().unwrap();
        assert_eq!(
            target.metadata().unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_rights_of_any_new_file() {
        let place = tempfile::tempdir().unwrap();
        let (plain, drafted) = (place.path().join("plain"), place.path().join("drafted"));
        File::create(&plain).unwrap();
        Draft::create_draft(&drafted)
            .unwrap()
            .commit_file()
            .unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&drafted), mode(&plain));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &target).unwrap();
        let mut draft = Draft::create_draft(&target).unwrap();
        draft.write_all(b"into the void").unwrap();
        draft.commit_file().unwrap();
        assert!(is_stream(&target));
        let mut draft = Draft::create_draft(Path::new("/dev/full")).unwrap();
        draft.write_all(b"x").unwrap();
        let error = draft.commit_file().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
