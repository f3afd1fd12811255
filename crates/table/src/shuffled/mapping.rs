//! A file seen as memory: the one place that has to trust the operating system.

use std::fs::File;
use std::ops::Range;

use memmap2::Mmap;

/// Maps a whole file for reading.
pub(super) fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the bytes may not change while they are borrowed. We write such files under a
    // temporary name and never in place, so only a foreign program could alter one; and what is
    // read are plain numbers, for which any bytes are valid.
    #[expect(unsafe_code, reason = "a memory map has no safe constructor")]
    unsafe {
        Mmap::map(file)
    }
}

/// A page that is touched brings its neighbours along, at most a huge page of them.
const NEIGHBOURHOOD_BYTES: usize = 2 << 20;

/// Gives back the memory behind a range of the map and before it, where pages that were given
/// back earlier have come along again; its next use reads the file again.
pub(super) fn release(map: &Mmap, bytes: Range<usize>) {
    let bytes = bytes.start.saturating_sub(NEIGHBOURHOOD_BYTES)..bytes.end;
    // SAFETY: the map is shared with its file and read-only, so pages that are dropped and come
    // back hold the same bytes; a borrow across that sees no change.
    #[cfg(unix)]
    #[expect(unsafe_code, reason = "advice that drops pages has no safe form")]
    let _ = unsafe {
        map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, bytes.start, bytes.len())
    };
    #[cfg(not(unix))]
    let _ = (map, bytes);
}
