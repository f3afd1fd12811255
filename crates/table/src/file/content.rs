//! The format of a file, detected by its content and not by its name.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The mark of the writer in the tables that this crate writes, if their format has a place for it.
pub(super) const WRITER: &str = concat!("lehr version ", env!("CARGO_PKG_VERSION"));
/// The part of the mark that all versions share.
const MARK: &[u8] = b"lehr version ";
/// Bytes at the beginning that distinguish the formats.
const HEAD: u64 = 4096;
/// A larger footer was not written by this crate.
const MOST_FOOTER: u64 = 64 << 20;

/// The kind of content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Nothing,
    /// Lines of text whose first has a delimiter in it.
    Text,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow's own format, as a file or as a stream.
    Arrow,
    /// Anything compressed by gzip.
    Gzip,
    /// Anything compressed by Zstandard.
    Zstandard,
    /// Something else.
    Other,
}

impl Content {
    /// The content of the file at `path`.
    pub fn recognise_file(path: &Path) -> io::Result<Content> {
        let mut head = Vec::new();
        File::open(path)?.take(HEAD).read_to_end(&mut head)?;
        Ok(Content::of_head(&head))
    }

    fn of_head(head: &[u8]) -> Content {
        match head {
            [] => Content::Nothing,
            [b'P', b'A', b'R', b'1', ..] => Content::Parquet,
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => {
                Content::Arrow
            }
            [0x1f, 0x8b, ..] => Content::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Content::Zstandard,
            text if is_table(text) => Content::Text,
            _ => Content::Other,
        }
    }

    /// The file extension for this content, if it can be a table.
    pub fn extension(self) -> &'static str {
        match self {
            Content::Parquet => "parquet",
            Content::Arrow => "arrow",
            Content::Gzip => "csv.gz",
            Content::Zstandard => "csv.zst",
            Content::Nothing | Content::Text | Content::Other => "csv",
        }
    }
}

/// Whether the first line is text with a delimiter and without markup.
fn is_table(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or(head);
    let plain = |byte: &u8| *byte >= b' ' || matches!(byte, b'\t' | b'\r' | b'\n');
    head.iter().all(plain)
        && !line.trim_ascii_start().starts_with(b"<")
        && line.iter().any(|byte| b",;\t|".contains(byte))
}

/// Whether a Parquet or Arrow file carries the mark of this crate.
pub fn is_marked(path: &Path) -> io::Result<bool> {
    let footer = read_footer(&mut File::open(path)?)?;
    Ok(footer.windows(MARK.len()).any(|part| part == MARK))
}

/// The footer of a Parquet or Arrow file: its length is stored before the last magic bytes.
fn read_footer(file: &mut File) -> io::Result<Vec<u8>> {
    let size = file.metadata()?.len();
    for magic in [&b"PAR1"[..], b"ARROW1"] {
        let tail = 4 + magic.len() as u64;
        if size < tail {
            continue;
        }
        file.seek(SeekFrom::Start(size - tail))?;
        let mut end = Vec::new();
        file.read_to_end(&mut end)?;
        let length = u64::from(u32::from_le_bytes([end[0], end[1], end[2], end[3]]));
        if end.ends_with(magic) && length <= MOST_FOOTER && length + tail <= size {
            file.seek(SeekFrom::Start(size - tail - length))?;
            let mut footer = Vec::new();
            file.take(length).read_to_end(&mut footer)?;
            return Ok(footer);
        }
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Table;

    #[test]
    fn content_is_told_without_a_name() {
        for (head, expected) in [
            (&b""[..], Content::Nothing),
            (b"PAR1\x15", Content::Parquet),
            (b"ARROW1\0\0", Content::Arrow),
            (b"\x1f\x8b\x08", Content::Gzip),
            (b"y,x\n1,2\n", Content::Text),
            (b"\xef\xbb\xbfy;x\r\n1;2\r\n", Content::Text),
            (b"dear diary\n", Content::Other),
            (b"<!doctype html>, well\n", Content::Other),
            (b"\x7fELF\0,", Content::Other),
        ] {
            assert_eq!(Content::of_head(head), expected, "{head:?}");
        }
    }

    #[test]
    fn what_we_write_is_marked_as_ours() {
        let folder = tempfile::tempdir().unwrap();
        let table = Table::new().with_number("x", vec![1.0, 2.0]).unwrap();
        for (name, content) in [("t.parquet", Content::Parquet), ("t.arrow", Content::Arrow)] {
            let path = folder.path().join(name);
            table.write(&path).unwrap();
            assert_eq!(Content::recognise_file(&path).unwrap(), content);
            assert!(is_marked(&path).unwrap(), "{name}");
            let mut bytes = std::fs::read(&path).unwrap();
            // Arrow keeps its schema at both ends.
            while let Some(at) = bytes.windows(MARK.len()).position(|part| part == MARK) {
                bytes[at] = b'm';
            }
            std::fs::write(&path, bytes).unwrap();
            assert!(!is_marked(&path).unwrap(), "{name}");
        }
    }
}
