//! Saved state: versioned, checked and written all or nothing.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The first bytes of every file of ours.
const MAGIC: &[u8; 8] = b"lehr\0\r\n\x1a";
/// Raised whenever the content changes its form.
const VERSION: u32 = 1;
/// Magic, version, kind, length and checksum.
const HEADER: usize = 8 + 4 + 8 + 8 + 4;

const DAMAGED: &str = "the file is damaged: fit again";

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A fit that can be gone on with.
    Checkpoint,
    /// A fitted posterior.
    Posterior,
    /// A posterior with the regression it is of, so that tables can be predicted.
    Fit,
}

impl Kind {
    fn tag(self) -> &'static [u8; 8] {
        match self {
            Kind::Checkpoint => b"checkpnt",
            Kind::Posterior => b"posteror",
            Kind::Fit => b"regr-fit",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Kind::Checkpoint => "a checkpoint",
            Kind::Posterior => "a fitted posterior",
            Kind::Fit => "a saved fit",
        }
    }
}

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("{path}: cannot {action}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What was tried, as a verb.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not what was expected.
    #[error("{path}: expected {expected}, found {found}\n  hint: {hint}")]
    Content {
        /// The file.
        path: String,
        /// What was expected.
        expected: String,
        /// What was found.
        found: String,
        /// What to do.
        hint: String,
    },
}

fn io(path: &Path, action: &'static str) -> impl Fn(std::io::Error) -> FileError {
    let path = path.display().to_string();
    move |source| FileError::Io {
        path: path.clone(),
        action,
        source,
    }
}

/// Writes a value under a temporary name and renames it: a reader sees the old file or the new
/// one, never a part.
pub fn save<T: Serialize>(path: &Path, kind: Kind, value: &T) -> Result<(), FileError> {
    let payload = postcard::to_stdvec(value).map_err(|error| FileError::Content {
        path: path.display().to_string(),
        expected: "something that can be saved".into(),
        found: error.to_string(),
        hint: "a schedule given as a function cannot be saved".into(),
    })?;
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = draft(folder).map_err(io(path, "write"))?;
    let mut header = Vec::with_capacity(HEADER);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(kind.tag());
    header.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    header.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    file.write_all(&header).map_err(io(path, "write"))?;
    file.write_all(&payload).map_err(io(path, "write"))?;
    file.as_file().sync_all().map_err(io(path, "write"))?;
    (file.persist(path)).map_err(|error| io(path, "write")(error.error))?;
    Ok(())
}

/// A temporary file with all the rights that the user's mask allows, as for any new file.
fn draft(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".lehr-").suffix(".partial");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Reads what [`save`] wrote. No more is read, and no more memory taken, than the file has
/// bytes and its header asks for.
pub fn load<T: DeserializeOwned>(path: &Path, kind: Kind) -> Result<T, FileError> {
    let refused = |(expected, found, hint)| FileError::Content {
        path: path.display().to_string(),
        expected,
        found,
        hint,
    };
    let mut file = File::open(path).map_err(io(path, "open"))?;
    let header = take(&mut file, HEADER as u64).map_err(io(path, "read"))?;
    let promised = Promised::read(&header, kind).map_err(refused)?;
    // One byte more than promised tells a file that is too long.
    let payload = take(&mut file, promised.length.saturating_add(1)).map_err(io(path, "read"))?;
    promised.check(&payload).map_err(refused)?;
    decode(&payload, kind).map_err(refused)
}

/// At most so many bytes; room is made for those that come, not for those announced.
fn take(file: &mut File, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

type Wrong = (String, String, String);

fn wrong(expected: &str, found: impl Into<String>, hint: &str) -> Wrong {
    (expected.into(), found.into(), hint.into())
}

/// What a header says of the bytes after it.
struct Promised {
    length: u64,
    sum: u32,
}

impl Promised {
    fn read(header: &[u8], kind: Kind) -> Result<Promised, Wrong> {
        let hint = "name a file written by lehr";
        match header {
            [] => return Err(wrong(kind.words(), "an empty file", hint)),
            [..] if !header.starts_with(MAGIC) => {
                return Err(wrong(kind.words(), "another kind of file", hint));
            }
            [..] if header.len() < HEADER => {
                let found = format!("the first {} bytes of one", header.len());
                return Err(wrong(kind.words(), found, DAMAGED));
            }
            _ => {}
        }
        same_version(u32::from_le_bytes(
            header[8..12].try_into().expect("four bytes"),
        ))?;
        if &header[12..20] != kind.tag() {
            let found = String::from_utf8_lossy(&header[12..20]).into_owned();
            return Err(wrong(
                kind.words(),
                format!("a file marked {found:?}"),
                "name another file",
            ));
        }
        Ok(Promised {
            length: u64::from_le_bytes(header[20..28].try_into().expect("eight bytes")),
            sum: u32::from_le_bytes(header[28..32].try_into().expect("four bytes")),
        })
    }

    fn check(&self, payload: &[u8]) -> Result<(), Wrong> {
        let found = match payload.len() as u64 {
            length if length > self.length => "more".into(),
            length if length < self.length => format!("{length}, the rest is cut off"),
            _ if crc32fast::hash(payload) != self.sum => "bytes that fail their checksum".into(),
            _ => return Ok(()),
        };
        let expected = format!("{} bytes", self.length);
        Err(wrong(&expected, found, DAMAGED))
    }
}

/// The form of the content has no names in it, so that only one version can be read.
fn same_version(version: u32) -> Result<(), Wrong> {
    if version == VERSION {
        return Ok(());
    }
    let hint = if version > VERSION {
        "it was written by a newer lehr: upgrade this one"
    } else {
        "it was written by an older lehr: fit again"
    };
    let (expected, found) = (format!("version {VERSION}"), format!("version {version}"));
    Err(wrong(&expected, found, hint))
}

fn decode<T: DeserializeOwned>(payload: &[u8], kind: Kind) -> Result<T, Wrong> {
    match postcard::take_from_bytes(payload) {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => {
            let found = format!("{} bytes too many", rest.len());
            Err(wrong(kind.words(), found, DAMAGED))
        }
        Err(error) => Err(wrong(kind.words(), error.to_string(), DAMAGED)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn written() -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fit.lehr");
        save(&path, Kind::Posterior, &vec![1.0, -0.0, f64::NAN]).unwrap();
        (folder, path)
    }

    #[test]
    fn what_is_saved_is_read_bit_for_bit() {
        let (_folder, path) = written();
        let values: Vec<f64> = load(&path, Kind::Posterior).unwrap();
        let bits: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
        assert_eq!(bits, [1.0, -0.0, f64::NAN].map(f64::to_bits));
    }

    #[test]
    fn a_damaged_file_is_named_as_such() {
        let (_folder, path) = written();
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, &bytes).unwrap();
        let error = load::<Vec<f64>>(&path, Kind::Posterior)
            .unwrap_err()
            .to_string();
        assert!(error.contains("fail their checksum"), "{error}");
    }

    #[test]
    fn a_newer_file_and_another_kind_are_refused() {
        let (_folder, path) = written();
        let error = load::<Vec<f64>>(&path, Kind::Checkpoint)
            .unwrap_err()
            .to_string();
        assert!(error.contains("expected a checkpoint"), "{error}");
        let mut bytes = fs::read(&path).unwrap();
        bytes[8] = 200;
        fs::write(&path, &bytes).unwrap();
        let error = load::<Vec<f64>>(&path, Kind::Posterior)
            .unwrap_err()
            .to_string();
        assert!(error.contains("newer lehr"), "{error}");
    }
}
