//! Saved state: versioned, checked and written all or nothing.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The first bytes of every file of ours.
const MAGIC: &[u8; 8] = b"lehr\0\r\n\x1a";
/// Raised whenever the content changes its form.
const VERSION: u32 = 1;
/// Magic, version, kind, length and checksum.
const HEADER: usize = 8 + 4 + 8 + 8 + 4;

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
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
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

fn io(path: &Path) -> impl Fn(std::io::Error) -> FileError + '_ {
    move |source| FileError::Io {
        path: path.display().to_string(),
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
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(io(path))?;
    let mut header = Vec::with_capacity(HEADER);
    header.extend_from_slice(MAGIC);
    header.extend_from_slice(&VERSION.to_le_bytes());
    header.extend_from_slice(kind.tag());
    header.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    header.extend_from_slice(&crc32fast::hash(&payload).to_le_bytes());
    file.write_all(&header).map_err(io(path))?;
    file.write_all(&payload).map_err(io(path))?;
    file.as_file().sync_all().map_err(io(path))?;
    file.persist(path).map_err(|error| io(path)(error.error))?;
    Ok(())
}

/// Reads what [`save`] wrote.
pub fn load<T: DeserializeOwned>(path: &Path, kind: Kind) -> Result<T, FileError> {
    let bytes = fs::read(path).map_err(io(path))?;
    decode(&bytes, kind).map_err(|(expected, found, hint)| FileError::Content {
        path: path.display().to_string(),
        expected,
        found,
        hint,
    })
}

type Wrong = (String, String, String);

fn wrong(expected: &str, found: impl Into<String>, hint: &str) -> Wrong {
    (expected.into(), found.into(), hint.into())
}

fn decode<T: DeserializeOwned>(bytes: &[u8], kind: Kind) -> Result<T, Wrong> {
    if bytes.len() < HEADER || &bytes[..8] != MAGIC {
        return Err(wrong(
            kind.words(),
            "another kind of file",
            "name a file written by lehr",
        ));
    }
    let version = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
    if version > VERSION {
        let found = format!("version {version}");
        let expected = format!("version {VERSION} or older");
        return Err(wrong(
            &expected,
            found,
            "it was written by a newer lehr: upgrade this one",
        ));
    }
    if &bytes[12..20] != kind.tag() {
        let found = String::from_utf8_lossy(&bytes[12..20]).into_owned();
        return Err(wrong(
            kind.words(),
            format!("a file marked {found:?}"),
            "name another file",
        ));
    }
    let length = u64::from_le_bytes(bytes[20..28].try_into().expect("eight bytes"));
    let sum = u32::from_le_bytes(bytes[28..32].try_into().expect("four bytes"));
    let payload = &bytes[HEADER..];
    if payload.len() as u64 != length || crc32fast::hash(payload) != sum {
        let found = format!("{} bytes that fail their checksum", payload.len());
        return Err(wrong(
            &format!("{length} bytes"),
            found,
            "the file is damaged: fit again",
        ));
    }
    postcard::from_bytes(payload).map_err(|error| {
        wrong(
            kind.words(),
            error.to_string(),
            "the file is damaged: fit again",
        )
    })
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn no_bytes_panic() {
        for length in 0..80 {
            let bytes: Vec<u8> = MAGIC
                .iter()
                .copied()
                .chain((0..length).map(|i: u8| i.wrapping_mul(7)))
                .collect();
            assert!(decode::<Vec<f64>>(&bytes, Kind::Posterior).is_err());
        }
    }
}
