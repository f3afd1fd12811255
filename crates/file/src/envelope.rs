//! Saved values: versioned, checked and written all or nothing.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Draft, FileError};

/// The first bytes of every file that this crate writes.
const MAGIC: &[u8; 8] = b"lehr\0\r\n\x1a";
/// Magic, version, kind, length and checksum.
const HEADER: usize = 8 + 4 + 8 + 8 + 4;

const DAMAGED: &str = "the file is damaged: fit again";

/// The kind of content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// The mark in the file.
    pub tag: &'static [u8; 8],
    /// The name of the kind in an error message, with its article.
    pub words: &'static str,
    /// Raised whenever the format changes: the format has no field names, so only one version can
    /// be read.
    pub version: u32,
}

/// Writes a value under a temporary name and renames it, so that a reader sees the old file or the
/// new one, never a part.
pub fn save_value<T: Serialize>(path: &Path, kind: FileKind, value: &T) -> Result<(), FileError> {
    let payload = postcard::to_stdvec(value).map_err(|error| FileError::Content {
        path: path.display().to_string(),
        expected: "something that can be saved".into(),
        found: error.to_string(),
        hint: "a setting given as a function cannot be saved".into(),
    })?;
    let mut header = Vec::with_capacity(HEADER);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&kind.version.to_le_bytes());
    header.extend_from_slice(kind.tag);
    header.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    header.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    let write = || {
        let mut draft = Draft::create_draft(path)?;
        draft.write_all(&header)?;
        draft.write_all(&payload)?;
        draft.commit_file()
    };
    write().map_err(FileError::io_error(path, "write"))
}

/// Reads a file that [`save_value`] wrote. It never reads or allocates more than the file holds and its
/// header announces.
pub fn load_value<T: DeserializeOwned>(path: &Path, kind: FileKind) -> Result<T, FileError> {
    let refuse = |refusal: Refusal| FileError::Content {
        path: path.display().to_string(),
        expected: refusal.expected,
        found: refusal.found,
        hint: refusal.hint.into(),
    };
    let mut file = File::open(path).map_err(FileError::io_error(path, "open"))?;
    let header = take_bytes(&mut file, HEADER as u64).map_err(FileError::io_error(path, "read"))?;
    let seal = Seal::read_header(&header, kind).map_err(refuse)?;
    // One byte more than announced reveals a file that is too long.
    let payload = take_bytes(&mut file, seal.length.saturating_add(1));
    let payload = payload.map_err(FileError::io_error(path, "read"))?;
    seal.check_payload(&payload).map_err(refuse)?;
    decode_payload(&payload, kind).map_err(refuse)
}

/// The mark of a file that [`save_value`] wrote, whatever its version; `None` for any other file.
pub fn read_tag(path: &Path) -> std::io::Result<Option<[u8; 8]>> {
    let header = take_bytes(&mut File::open(path)?, HEADER as u64)?;
    let ours = header.len() == HEADER && header.starts_with(MAGIC);
    Ok(ours.then(|| header[12..20].try_into().expect("eight bytes")))
}

/// At most `most` bytes. Memory is allocated for the bytes that arrive, not for the number
/// announced.
fn take_bytes(file: &mut File, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Why bytes are refused.
struct Refusal {
    expected: String,
    found: String,
    hint: &'static str,
}

impl Refusal {
    fn new(expected: &str, found: impl Into<String>, hint: &'static str) -> Refusal {
        Refusal {
            expected: expected.into(),
            found: found.into(),
            hint,
        }
    }
}

/// The header's description of the bytes after it.
struct Seal {
    length: u64,
    sum: u32,
}

impl Seal {
    fn read_header(header: &[u8], kind: FileKind) -> Result<Seal, Refusal> {
        let (expected, hint) = (kind.words, "name a file written by lehr");
        if header.is_empty() {
            return Err(Refusal::new(expected, "an empty file", hint));
        }
        if !header.starts_with(MAGIC) {
            return Err(Refusal::new(expected, "another kind of file", hint));
        }
        if header.len() < HEADER {
            let found = format!("the first {} bytes of one", header.len());
            return Err(Refusal::new(expected, found, DAMAGED));
        }
        let version = u32::from_le_bytes(header[8..12].try_into().expect("four bytes"));
        same_version(version, kind.version)?;
        let tag = &header[12..20];
        if tag != kind.tag {
            let found = format!("a file marked {:?}", String::from_utf8_lossy(tag));
            return Err(Refusal::new(expected, found, "name another file"));
        }
        Ok(Seal {
            length: u64::from_le_bytes(header[20..28].try_into().expect("eight bytes")),
            sum: u32::from_le_bytes(header[28..32].try_into().expect("four bytes")),
        })
    }

    fn check_payload(&self, payload: &[u8]) -> Result<(), Refusal> {
        let found = match payload.len() as u64 {
            length if length > self.length => "more".into(),
            length if length < self.length => format!("{length}, the rest is cut off"),
            _ if crc32fast::hash(payload) != self.sum => "bytes that fail their checksum".into(),
            _ => return Ok(()),
        };
        let expected = format!("{} bytes", self.length);
        Err(Refusal::new(&expected, found, DAMAGED))
    }
}

fn same_version(found: u32, expected: u32) -> Result<(), Refusal> {
    let hint = match found.cmp(&expected) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Greater => "it was written by a newer lehr: upgrade this one",
        std::cmp::Ordering::Less => "it was written by an older lehr: fit again",
    };
    let (expected, found) = (format!("version {expected}"), format!("version {found}"));
    Err(Refusal::new(&expected, found, hint))
}

fn decode_payload<T: DeserializeOwned>(payload: &[u8], kind: FileKind) -> Result<T, Refusal> {
    match postcard::take_from_bytes(payload) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => {
            let found = format!("{} bytes too many", rest.len());
            Err(Refusal::new(kind.words, found, DAMAGED))
        }
        Err(error) => Err(Refusal::new(kind.words, error.to_string(), DAMAGED)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    const NUMBERS: FileKind = FileKind {
        tag: b"numbers ",
        words: "saved numbers",
        version: 3,
    };
    const NOTES: FileKind = FileKind {
        tag: b"notes   ",
        words: "saved notes",
        ..NUMBERS
    };

    fn written() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.lehr");
        save_value(&path, NUMBERS, &vec![1.0, -0.0, f64::NAN]).unwrap();
        (folder, path)
    }

    fn refused(path: &Path, kind: FileKind) -> String {
        load_value::<Vec<f64>>(path, kind).unwrap_err().to_string()
    }

    #[test]
    fn what_is_saved_is_read_bit_for_bit() {
        let (_folder, path) = written();
        let values: Vec<f64> = load_value(&path, NUMBERS).unwrap();
        let bits: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
        assert_eq!(bits, [1.0, -0.0, f64::NAN].map(f64::to_bits));
    }

    #[test]
    fn a_file_of_ours_is_known_by_its_mark() {
        let (folder, path) = written();
        assert_eq!(read_tag(&path).unwrap(), Some(*NUMBERS.tag));
        let other = folder.path().join("notes.lehr");
        fs::write(&other, "lehr, and much else that is longer than a header").unwrap();
        assert_eq!(read_tag(&other).unwrap(), None);
    }

    #[test]
    fn a_damaged_file_is_named_as_such() {
        let (_folder, path) = written();
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        let error = refused(&path, NUMBERS);
        assert!(error.contains("fail their checksum"), "{error}");
    }

    #[test]
    fn other_versions_and_another_kind_are_refused() {
        let (_folder, path) = written();
        let error = refused(&path, NOTES);
        assert!(error.contains("expected saved notes"), "{error}");
        for (version, expected) in [(4, "newer lehr"), (2, "older lehr")] {
            let mut bytes = fs::read(&path).unwrap();
            bytes[8] = version;
            fs::write(&path, &bytes).unwrap();
            let error = refused(&path, NUMBERS);
            assert!(error.contains(expected), "{error}");
        }
    }
}
