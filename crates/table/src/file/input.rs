//! The bytes of a local file or, if compiled in, of an object in a store.

use std::io::Read;
use std::path::Path;

use ::parquet::file::metadata::ParquetMetaData;

use crate::TableError;

use super::address::is_in_store;
use super::io_error;
use super::known::Version;

#[cfg(not(feature = "stores"))]
pub(super) type Input = std::fs::File;
#[cfg(feature = "stores")]
pub(super) use super::store::Input;

/// Opens a file, or an object.
pub(super) fn open_input(path: &Path) -> Result<Input, TableError> {
    if is_in_store(path) {
        return open_remote(path);
    }
    let file = std::fs::File::open(path).map_err(io_error(path, "open"))?;
    #[cfg(feature = "stores")]
    let file = Input::File(file);
    Ok(file)
}

/// The version of an open file.
#[cfg(not(feature = "stores"))]
pub(super) fn version(file: &Input) -> std::io::Result<Version> {
    Ok(Version::of_file(&file.metadata()?))
}

/// The version of an open file or object.
#[cfg(feature = "stores")]
pub(super) fn version(input: &Input) -> std::io::Result<Version> {
    input.version()
}

/// The bytes of a file, or of an object, from the first to the last.
pub(super) fn open_reader(path: &Path) -> Result<Box<dyn Read>, TableError> {
    let input = open_input(path)?;
    #[cfg(feature = "stores")]
    return Ok(input.into_reader());
    #[cfg(not(feature = "stores"))]
    Ok(Box::new(input))
}

#[cfg(feature = "stores")]
fn open_remote(path: &Path) -> Result<Input, TableError> {
    Ok(Input::Object(super::store::Object::open_path(path)?))
}

#[cfg(not(feature = "stores"))]
fn open_remote(path: &Path) -> Result<Input, TableError> {
    Err(not_compiled(path))
}

/// Tells the reader of an object where the columns are.
#[cfg(feature = "stores")]
pub(super) fn prepare_input(input: &Input, metadata: &ParquetMetaData) {
    if let Input::Object(object) = input {
        object.learn_layout(metadata);
    }
}

/// The operating system reads ahead by itself.
#[cfg(not(feature = "stores"))]
pub(super) fn prepare_input(_: &Input, _: &ParquetMetaData) {}

/// The error of a build that does not read object stores.
#[cfg(not(feature = "stores"))]
pub(super) fn not_compiled(path: &Path) -> TableError {
    super::file_error(
        path,
        "expected a file, found a name in an object store, which this build does not read",
        "install it with cargo install --path crates/cli --locked --features stores, or for \
         Python MATURIN_PEP517_ARGS='--features stores' pip install .",
    )
}

#[cfg(all(test, not(feature = "stores")))]
mod tests {
    #[test]
    fn a_build_without_stores_says_how_to_get_one() {
        let error = crate::Table::read("s3://bucket/a.parquet")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("s3://bucket/a.parquet: expected a file"),
            "{error}"
        );
        assert!(error.contains("--features stores"), "{error}");
    }
}
