//! Temporary folders, and the removal of those that dead processes left.

use std::fs::{File, TryLockError};
use std::path::Path;

use tempfile::TempDir;

/// A file within a scratch folder, locked by the process that owns the folder.
const OWNER: &str = "owner";
const OWNER_TO_BE: &str = "owner.new";

/// A folder that is removed when it is dropped. A killed process cannot do so, so the next folder
/// of the same prefix in the same place first removes those of dead processes.
#[derive(Debug)]
pub struct Scratch {
    // Closed first, because not every system removes open files.
    _owner: Option<File>,
    folder: TempDir,
}

impl Scratch {
    /// A new folder in `place` whose name begins with `prefix`.
    pub fn new_in(place: &Path, prefix: &str) -> std::io::Result<Scratch> {
        sweep_folder(place, prefix);
        let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(place)?;
        Ok(Scratch {
            _owner: own_file(folder.path()).ok(),
            folder,
        })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Locks the folder while the returned file is open; the system releases the lock when the process
/// ends. The owner's file appears with the lock already held, so that no other process finds the
/// folder of a live process unlocked. On file systems without locks the folder has no owner and is
/// never removed by others.
fn own_file(folder: &Path) -> std::io::Result<File> {
    let file = File::create(folder.join(OWNER_TO_BE))?;
    file.try_lock()?;
    std::fs::rename(folder.join(OWNER_TO_BE), folder.join(OWNER))?;
    Ok(file)
}

/// Removes folders whose owner is dead. Errors are ignored, because the current process does not
/// depend on it.
pub(crate) fn sweep_folder(place: &Path, prefix: &str) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let is_named = entry.file_name().to_string_lossy().starts_with(prefix);
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_named && is_folder && is_dead(&entry.path()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the owner of a folder no longer holds its lock.
fn is_dead(folder: &Path) -> bool {
    let Ok(owner) = File::open(folder.join(OWNER)) else {
        return false;
    };
    match owner.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(place: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(place).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// A folder as a killed process leaves it.
    fn abandoned(place: &Path, name: &str) {
        std::fs::create_dir(place.join(name)).unwrap();
        std::fs::write(place.join(name).join("rows.0"), "much").unwrap();
        std::fs::write(place.join(name).join(OWNER), "").unwrap();
    }

    #[test]
    fn folders_of_the_dead_go_and_those_of_the_living_stay() {
        let place = tempfile::tempdir().unwrap();
        let alive = Scratch::new_in(place.path(), ".s-").unwrap();
        abandoned(place.path(), ".s-dead");
        abandoned(place.path(), ".t-other");
        std::fs::create_dir(place.path().join(".s-unowned")).unwrap();
        std::fs::write(place.path().join(".s-file"), "").unwrap();
        let new = Scratch::new_in(place.path(), ".s-").unwrap();
        let found = names(place.path());
        assert!(!found.contains(&".s-dead".into()), "{found:?}");
        assert!(alive.path().exists() && new.path().exists());
        assert_eq!(found.len(), 5, "{found:?}");
        drop((alive, new));
        let kept = [".s-file", ".s-unowned", ".t-other"];
        assert_eq!(names(place.path()), kept);
    }
}
