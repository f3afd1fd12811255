//! Names of objects in a store, such as `s3://bucket/table.parquet`.

use std::path::Path;

/// The supported stores, recognised by the beginning of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Scheme {
    /// Amazon S3 and compatible stores.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
}

/// The parts of an object's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address<'a> {
    /// The store.
    pub(super) scheme: Scheme,
    /// The bucket, or the container.
    pub(super) bucket: &'a str,
    /// The key of an object, a folder or a pattern.
    pub(super) key: &'a str,
}

impl<'a> Address<'a> {
    /// The address in a path; `None` for a local path.
    pub(super) fn from_path(path: &'a Path) -> Option<Address<'a>> {
        let (scheme, rest) = path.to_str()?.split_once("://")?;
        let scheme = match scheme {
            "s3" => Scheme::S3,
            "gs" => Scheme::Google,
            "az" => Scheme::Azure,
            _ => return None,
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        Some(Address {
            scheme,
            bucket,
            key,
        })
    }
}

/// Whether a path names something in an object store.
pub fn is_in_store(path: &Path) -> bool {
    Address::from_path(path).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        for (path, expected) in [
            ("s3://bucket/a/b.parquet", true),
            ("gs://bucket", true),
            ("az://container/*.parquet", true),
            ("http://host/a.parquet", false),
            ("/data/s3:/a.parquet", false),
            ("s3/a.parquet", false),
        ] {
            assert_eq!(is_in_store(Path::new(path)), expected, "{path}");
        }
    }
}
