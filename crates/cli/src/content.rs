//! The kind and origin of an existing file, detected by its content and not by its name.

use std::fs;
use std::io;
use std::path::Path;

use lehr::table::{Content, ReadOptions, ShuffledRows, TableFiles, is_marked};

/// A kind of file that a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Fit,
    Checkpoint,
    Rows,
    Page,
    Text,
    Parquet,
    Arrow,
    NetCdf,
}

impl FileKind {
    /// The name of the kind in a message, with its article.
    pub(crate) fn kind_words(self) -> &'static str {
        match self {
            FileKind::Fit => "a saved fit",
            FileKind::Checkpoint => "a checkpoint",
            FileKind::Rows => "rows of an unfinished fit",
            FileKind::Page => "a page",
            FileKind::Text => "a table in text",
            FileKind::Parquet => "a table in Parquet",
            FileKind::Arrow => "a table in Arrow",
            FileKind::NetCdf => "a file of draws for ArviZ",
        }
    }
}

/// An existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExistingFile {
    /// No file, or an empty one.
    Nothing,
    /// A file of a kind that commands write, and whether lehr wrote it.
    Known(FileKind, bool),
    /// Any other file.
    Other,
}

/// Recognises the header line of a text file that a command writes, by its columns.
pub(crate) type Signature<'a> = &'a dyn Fn(&[String]) -> bool;

/// The file at `path`; text has the origin lehr if its columns are recognised.
pub(crate) fn inspect_file(path: &Path, signed: Signature<'_>) -> io::Result<ExistingFile> {
    if !path.exists() {
        return Ok(ExistingFile::Nothing);
    }
    if let Some(tag) = lehr::file::read_tag(path)? {
        let kind = if &tag == lehr::infer::file::CHECKPOINT.tag {
            FileKind::Checkpoint
        } else {
            FileKind::Fit
        };
        return Ok(ExistingFile::Known(kind, true));
    }
    if ShuffledRows::open(path).is_ok() {
        return Ok(ExistingFile::Known(FileKind::Rows, true));
    }
    Ok(match Content::recognise_file(path)? {
        Content::Nothing => ExistingFile::Nothing,
        Content::Parquet => ExistingFile::Known(FileKind::Parquet, is_marked(path)?),
        Content::Arrow => ExistingFile::Known(FileKind::Arrow, is_marked(path)?),
        Content::Text => ExistingFile::Known(
            FileKind::Text,
            read_header(path).is_some_and(|names| signed(&names)),
        ),
        Content::Gzip | Content::Zstandard => ExistingFile::Other,
        Content::Other => of_bytes(&fs::read(path)?),
    })
}

fn read_header(path: &Path) -> Option<Vec<String>> {
    let fields = TableFiles::open_inputs(&[path]).ok()?;
    let fields = fields.read_schema(&ReadOptions::default()).ok()?;
    Some(fields.into_iter().map(|field| field.name).collect())
}

/// Pages and files for ArviZ, whose mark has no fixed position.
fn of_bytes(bytes: &[u8]) -> ExistingFile {
    let starts = |text: &str| {
        let head = bytes.trim_ascii_start();
        head.len() >= text.len() && head[..text.len()].eq_ignore_ascii_case(text.as_bytes())
    };
    let has = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
    let (kind, ours) = if starts("<!doctype html") || starts("<html") {
        (FileKind::Page, has(br#"name="generator" content="lehr""#))
    } else if bytes.starts_with(b"\x89HDF\r\n\x1a\n") {
        (
            FileKind::NetCdf,
            has(b"inference_library") && has_word(bytes, b"lehr"),
        )
    } else if bytes.starts_with(b"CDF") {
        (FileKind::NetCdf, false)
    } else {
        return ExistingFile::Other;
    };
    ExistingFile::Known(kind, ours)
}

/// Whether a word is present and not part of a longer one.
fn has_word(bytes: &[u8], word: &[u8]) -> bool {
    let ends = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let mut places = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(word));
    places.any(|at| ends(at.checked_sub(1).map(|k| &bytes[k])) && ends(bytes.get(at + word.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_files_for_arviz_are_told_by_what_is_in_them() {
        let known = |kind, writer| ExistingFile::Known(kind, writer);
        for (bytes, expected) in [
            (
                &b"<!DOCTYPE html><p>hello"[..],
                known(FileKind::Page, false),
            ),
            (
                b"<!doctype html><meta name=\"generator\" content=\"lehr\">",
                known(FileKind::Page, true),
            ),
            (
                b"\x89HDF\r\n\x1a\n inference_library\0lehr\0",
                known(FileKind::NetCdf, true),
            ),
            (
                b"\x89HDF\r\n\x1a\n inference_library\0pymc\0lehrer\0",
                known(FileKind::NetCdf, false),
            ),
            (b"dear diary", ExistingFile::Other),
        ] {
            assert_eq!(of_bytes(bytes), expected, "{}", bytes.escape_ascii());
        }
    }
}
