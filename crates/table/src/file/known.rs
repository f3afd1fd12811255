//! A cache of the contents of a file, valid as long as the file does not change.

use std::fs::Metadata;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use ::parquet::arrow::arrow_reader::ArrowReaderMetadata;

use crate::TableError;

/// The properties of a file that reveal a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// A file, by its length in bytes and its time of modification.
    File(u64, Option<SystemTime>),
    /// An object, by the version that its store gives it.
    Object(String),
}

impl Version {
    /// The version of a file on this machine.
    pub(super) fn of_file(about: &Metadata) -> Version {
        Version::File(about.len(), about.modified().ok())
    }
}

/// The cache for one file, which all copies share.
#[derive(Clone, Debug, Default)]
pub struct KnownFile(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    footer: Mutex<Option<(Version, ArrowReaderMetadata)>>,
    opened: AtomicU64,
    parsed: AtomicU64,
}

/// Counts of the accesses to a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileReads {
    /// The number of times it was opened.
    pub opened: u64,
    /// The number of times the footer of a Parquet file was parsed.
    pub parsed_footers: u64,
}

impl KnownFile {
    /// The accesses to the file so far.
    pub(super) fn reads(&self) -> FileReads {
        FileReads {
            opened: self.0.opened.load(Ordering::Relaxed),
            parsed_footers: self.0.parsed.load(Ordering::Relaxed),
        }
    }

    /// Counts that the file was opened.
    pub(super) fn count_open(&self) {
        self.0.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// The footer of this version of the file, which is parsed if it is not in the cache.
    pub(super) fn find_footer(
        &self,
        version: Version,
        parse: impl FnOnce() -> Result<ArrowReaderMetadata, TableError>,
    ) -> Result<ArrowReaderMetadata, TableError> {
        let mut known = self.0.footer.lock().expect("no parsing panics half-way");
        if let Some((of, footer)) = &*known
            && *of == version
        {
            return Ok(footer.clone());
        }
        self.0.parsed.fetch_add(1, Ordering::Relaxed);
        let footer = parse()?;
        *known = Some((version, footer.clone()));
        Ok(footer)
    }
}

/// All caches are equal, so that they do not influence the comparison of parts.
impl PartialEq for KnownFile {
    fn eq(&self, _: &KnownFile) -> bool {
        true
    }
}

impl Eq for KnownFile {}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, Table, TableFiles};

    fn table(rows: u32) -> Table {
        let numbers: Vec<f64> = (0..rows).map(f64::from).collect();
        let table = Table::new().with_number("x", numbers.clone()).unwrap();
        table.with_number("y", numbers).unwrap()
    }

    fn only(name: &str) -> ReadOptions {
        ReadOptions {
            columns: Some(vec![name.into()]),
            ..ReadOptions::default()
        }
    }

    #[test]
    fn a_text_file_is_opened_once_for_its_columns_and_once_for_its_rows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.csv");
        table(5).write(&path).unwrap();
        let files = TableFiles::open_inputs(&[&path]).unwrap();
        for options in [ReadOptions::default(), only("x"), only("y")] {
            files.read_schema(&options).unwrap();
            files.clone().expected_bytes(&options).unwrap();
        }
        assert_eq!(
            files.read_table(&only("y"), &mut |_| ()).unwrap().n_rows(),
            5
        );
        assert_eq!(files.reads()[0].opened, 2);
        let markers = ReadOptions {
            missing_markers: vec!["0".into()],
            ..ReadOptions::default()
        };
        files.read_schema(&markers).unwrap();
        assert_eq!(files.reads()[0].opened, 3, "other options, other columns");
    }

    #[test]
    fn a_footer_is_parsed_once_by_a_table_and_its_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        table(5).write(&path).unwrap();
        let files = TableFiles::open_inputs(&[&path]).unwrap();
        files.expected_bytes(&only("x")).unwrap();
        for part in files.split_parts(10).unwrap() {
            for _ in 0..2 {
                let own = TableFiles::of_part(&part).unwrap();
                assert_eq!(own.read_table(&only("x"), &mut |_| ()).unwrap().n_rows(), 5);
            }
        }
        let reads = files.reads()[0];
        assert!(reads.opened > 4 && reads.parsed_footers == 1, "{reads:?}");
    }

    #[test]
    fn a_file_that_has_changed_is_looked_at_anew() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["t.csv", "t.parquet"] {
            let path = folder.path().join(name);
            table(5).write(&path).unwrap();
            let files = TableFiles::open_inputs(&[&path]).unwrap();
            assert_eq!(files.read_schema(&ReadOptions::default()).unwrap().len(), 2);
            let wider = table(50).with_number("z", vec![1.0; 50]).unwrap();
            wider.write(&path).unwrap();
            assert_eq!(files.read_schema(&ReadOptions::default()).unwrap().len(), 3);
            let read = files
                .read_table(&ReadOptions::default(), &mut |_| ())
                .unwrap();
            assert_eq!((read.n_rows(), read.names().len()), (50, 3));
        }
    }
}
