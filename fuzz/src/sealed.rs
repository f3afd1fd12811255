//! Saved files whose content is replaced, with the length and the checksum of the new content.

/// The bytes before the length of the content: mark, version and kind.
const KIND_END: usize = 20;
/// The bytes before the content.
const HEADER: usize = 32;

/// The content of a file.
pub(crate) fn content(file: &[u8]) -> &[u8] {
    &file[HEADER..]
}

/// A file of the same kind with other content.
pub(crate) fn with_content(file: &[u8], content: &[u8]) -> Vec<u8> {
    let mut sealed = file[..KIND_END].to_vec();
    sealed.extend_from_slice(&(content.len() as u64).to_le_bytes());
    sealed.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    sealed.extend_from_slice(content);
    sealed
}
