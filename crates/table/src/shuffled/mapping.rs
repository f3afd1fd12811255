//! A file seen as memory: the one place that has to trust the operating system.

use std::fs::File;

use memmap2::{Advice, Mmap};

/// Maps a whole file for reading from front to back.
pub(super) fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the bytes may not change while they are borrowed. We write such files under a
    // temporary name and never in place, so only a foreign program could alter one; and what is
    // read are plain numbers, for which any bytes are valid.
    #[expect(unsafe_code, reason = "a memory map has no safe constructor")]
    let map = unsafe { Mmap::map(file) }?;
    #[cfg(unix)]
    map.advise(Advice::Sequential)?;
    Ok(map)
}
