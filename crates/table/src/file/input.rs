//! The bytes of a local file or, if compiled in, of an object in a store.

use std::io::Read;
use std::path::Path;

use ::parquet::file::metadata::ParquetMetaData;

use crate::TableError;

use super::address::is_in_store;
use super::io;

#[cfg(not(feature = "stores"))]
pub(super) type Input = std::fs::File;
#[cfg(feature = "stores")]
pub(super) use super::store::Input;

/// Opens a file, or an object.
pub(super) fn open(path: &Path) -> Result<Input, TableError> {
    if is_in_store(path) {
        return remote(path);
    }
    let file = std::fs::File::open(path).map_err(io(path, "open"))?;
    #[cfg(feature = "stores")]
    let file = Input::File(file);
    Ok(file)
}

/// The bytes of a file, or of an object, from the first to the last.
pub(super) fn read(path: &Path) -> Result<Box<dyn Read>, TableError> {
    let input = open(path)?;
    #[cfg(feature = "stores")]
    return Ok(input.into_reader());
    #[cfg(not(feature = "stores"))]
    Ok(Box::new(input))
}

#[cfg(feature = "stores")]
fn remote(path: &Path) -> Result<Input, TableError> {
    Ok(Input::Object(super::store::Object::open(path)?))
}

#[cfg(not(feature = "stores"))]
fn remote(path: &Path) -> Result<Input, TableError> {
    Err(not_compiled(path))
}

/// Tells the reader of an object where the columns are.
#[cfg(feature = "stores")]
pub(super) fn prepare(input: &Input, metadata: &ParquetMetaData) {
    if let Input::Object(object) = input {
        object.learn(metadata);
    }
}

/// The operating system reads ahead by itself.
#[cfg(not(feature = "stores"))]
pub(super) fn prepare(_: &Input, _: &ParquetMetaData) {}

/// The error of a build that does not read object stores.
#[cfg(not(feature = "stores"))]
pub(super) fn not_compiled(path: &Path) -> TableError {
    TableError::NoTable {
        path: path.into(),
        reason: "expected a file, found a name in an object store, which this build does not read",
        hint: "install it with cargo install --path crates/cli --locked --features stores, or for \
               Python MATURIN_PEP517_ARGS='--features stores' pip install .",
    }
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
