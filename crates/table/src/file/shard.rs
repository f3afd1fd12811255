//! One file of a table, with its format by name.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::TableError;

use super::file_error;
use super::known::{KnownFile, Version};

/// One file of a table.
#[derive(Debug, Clone)]
pub(super) struct Shard {
    pub(super) path: PathBuf,
    pub(super) format: Format,
    pub(super) bytes: u64,
    /// The row groups to read; all if `None`.
    pub(super) groups: Option<Range<usize>>,
    /// The version of an object; files have a modification time instead.
    pub(super) version: Option<String>,
    /// The cache of the file.
    pub(super) known: KnownFile,
}

impl Shard {
    /// The version that is there now, unless the file is gone.
    pub(super) fn version_now(&self) -> Option<Version> {
        if let Some(version) = &self.version {
            return Some(Version::Object(version.clone()));
        }
        let about = std::fs::metadata(&self.path).ok()?;
        Some(Version::of_file(&about))
    }
}

/// The format that a file's name indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Comma-separated or tab-separated text.
    Csv(Packing, Separator),
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow's own format, as a file or as a stream.
    Ipc,
}

/// The compression of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Plain,
    Gzip,
    Zstandard,
}

/// The delimiter that a text file's name indicates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    Comma,
    Tab,
}

impl Format {
    /// The format of a file of that name, if its extension is known.
    pub(super) fn from_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let (stem, packing) = match name.rsplit_once('.') {
            Some((stem, "gz")) => (stem, Packing::Gzip),
            Some((stem, "zst" | "zstd")) => (stem, Packing::Zstandard),
            _ => (name.as_str(), Packing::Plain),
        };
        match (stem.rsplit_once('.')?.1, packing) {
            ("csv" | "txt", packing) => Some(Self::Csv(packing, Separator::Comma)),
            ("tsv" | "tab", packing) => Some(Self::Csv(packing, Separator::Tab)),
            ("parquet" | "pq", Packing::Plain) => Some(Self::Parquet),
            ("arrow" | "ipc" | "feather" | "arrows", Packing::Plain) => Some(Self::Ipc),
            _ => None,
        }
    }

    /// About how many times larger the content is than the file.
    pub(super) fn expansion_factor(self) -> u64 {
        match self {
            Self::Csv(Packing::Gzip | Packing::Zstandard, _) => 4,
            _ => 1,
        }
    }

    /// Whether two files can be shards of one table.
    pub(super) fn family_name(self) -> &'static str {
        match self {
            Self::Csv(..) => "csv text",
            Self::Parquet => "parquet data",
            Self::Ipc => "arrow data",
        }
    }
}

/// The error for a file with an unknown extension, with advice.
pub(super) fn foreign_format(path: &Path) -> TableError {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let (reason, hint) = match extension.to_ascii_lowercase().as_str() {
        "br" | "bz2" | "xz" | "lz4" | "lzma" | "sz" | "zip" | "7z" | "rar" | "tar" | "tgz"
        | "z" => (
            "expected a table, found a compression that is not read",
            "unpack it first, or pack it with gz or zst; - reads what another program unpacks",
        ),
        "xlsx" | "xls" | "xlsm" | "ods" | "numbers" => (
            "expected a table, found a spreadsheet",
            "save the sheet as csv",
        ),
        "json" | "jsonl" | "ndjson" | "rds" | "rdata" | "sav" | "dta" | "sas7bdat" | "pkl"
        | "h5" | "orc" | "avro" | "db" | "sqlite" => (
            "expected a table, found a format that is not read",
            "write it as csv, parquet or arrow",
        ),
        _ => (
            "expected a table, found an unknown file extension",
            "known are csv, tsv, txt (also with gz or zst), parquet, pq, arrow, ipc, feather; - \
             reads stdin",
        ),
    };
    file_error(path, reason, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_known_by_its_extension_in_any_case() {
        let of = |name: &str| Format::from_path(Path::new(name));
        assert_eq!(of("a.b/x.PARQUET"), Some(Format::Parquet));
        assert_eq!(
            of("x.tsv.GZ"),
            Some(Format::Csv(Packing::Gzip, Separator::Tab))
        );
        assert_eq!(
            of("x.csv.zst"),
            Some(Format::Csv(Packing::Zstandard, Separator::Comma))
        );
        assert_eq!(of("x.feather"), Some(Format::Ipc));
        assert_eq!(
            [of("x.parquet.gz"), of("x"), of("x.gz"), of("..")],
            [None; 4]
        );
    }
    #[test]
    fn a_file_that_is_no_table_of_ours_is_told_what_to_do() {
        for (name, expected) in [
            ("t.csv.bz2", "pack it with gz or zst"),
            ("t.csv.br", "a compression that is not read"),
            ("t.xlsx", "save the sheet as csv"),
            ("t.json", "write it as csv, parquet or arrow"),
            ("t.what", "known are csv"),
        ] {
            let error = foreign_format(Path::new(name)).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
