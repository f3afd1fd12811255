//! Whether a file can be written, asked before the work and not after it.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use lehr::file::{Draft, folder};

/// Refuses an output that could not be written after an hour of work.
pub(crate) fn writable(output: &Path) -> Result<()> {
    let name = output.display();
    ensure!(
        !output.is_dir(),
        "{name}: expected the name of a file, found a folder\n  hint: name a file in it"
    );
    // The file is written beside it and renamed, which would put an end to a device.
    ensure!(
        output.is_file() || !output.exists(),
        "{name}: expected the name of a file, found a device"
    );
    let Err(error) = Draft::create(output) else {
        return Ok(());
    };
    let place = folder(output).display();
    match error.kind() {
        ErrorKind::NotFound => {
            bail!("{name}: cannot write: there is no folder {place}\n  hint: make it first")
        }
        ErrorKind::NotADirectory => bail!("{name}: cannot write: {place} is no folder"),
        ErrorKind::PermissionDenied => {
            bail!("{name}: cannot write: the folder {place} does not allow it")
        }
        // The name of the file that was tried is no concern of the user's.
        kind => bail!("{name}: cannot write: {kind}"),
    }
}
