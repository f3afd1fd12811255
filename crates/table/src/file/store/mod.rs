//! Tables in object stores: the client of each bucket, and the objects that a name stands for.

mod input;
mod object;

pub(super) use input::Input;
pub(super) use object::Object;

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{Error, ObjectMeta, ObjectStore, ObjectStoreExt, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use crate::TableError;

use super::address::{Address, Scheme};
use super::known::KnownFile;
use super::shard::{Format, Shard, foreign_format};
use super::{file_error, io_error};

/// The client of one bucket.
type Client = Arc<dyn ObjectStore>;

/// One runtime for all requests, for which readers wait.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    // Another part of the process may have chosen its own cryptography provider, which is then
    // used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut runtime = Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).thread_name("lehr-store");
    (runtime.enable_all().build()).expect("memory for two threads")
});

/// A client for each bucket, so that connections are reused.
static CLIENTS: LazyLock<Mutex<HashMap<(Scheme, String), Client>>> = LazyLock::new(Mutex::default);

/// Waits for a request; errors carry the name of its object.
fn wait_for<T>(
    path: &Path,
    action: &'static str,
    request: impl Future<Output = Result<T, Error>>,
) -> Result<T, TableError> {
    let found = RUNTIME.block_on(request);
    found.map_err(|error| io_error(path, action)(std::io::Error::other(error_message(&error))))
}

/// The client and key of an object.
fn locate_object(path: &Path, address: &Address<'_>) -> Result<(Client, Key), TableError> {
    let refused =
        |error: Error| io_error(path, "open")(std::io::Error::other(error_message(&error)));
    let mut clients = CLIENTS.lock().expect("no client panics half-way");
    let name = (address.scheme, address.bucket.to_owned());
    let known = clients.get(&name).cloned();
    let client = known.map_or_else(|| new_client(address).map_err(refused), Ok)?;
    clients.insert(name, client.clone());
    let key = Key::parse(address.key.trim_end_matches('/'));
    Ok((client, key.map_err(|error| refused(error.into()))?))
}

/// A client configured by the environment alone.
fn new_client(address: &Address<'_>) -> Result<Client, Error> {
    LazyLock::force(&RUNTIME);
    let retry = RetryConfig {
        max_retries: 5,
        retry_timeout: Duration::from_secs(60),
        ..RetryConfig::default()
    };
    let bucket = address.bucket;
    Ok(match address.scheme {
        Scheme::S3 => {
            let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
            Arc::new(builder.with_retry(retry).build()?)
        }
        Scheme::Google => {
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
            Arc::new(builder.with_retry(retry).build()?)
        }
        Scheme::Azure => {
            let builder = MicrosoftAzureBuilder::from_env().with_container_name(bucket);
            Arc::new(builder.with_retry(retry).build()?)
        }
    })
}

/// The error in words for the user. The part of an address after `?` may be a signature and is left
/// out.
fn error_message(error: &Error) -> String {
    const HINT: &str = "\n  hint: credentials come from the environment: AWS_ACCESS_KEY_ID and \
                        AWS_SECRET_ACCESS_KEY, GOOGLE_SERVICE_ACCOUNT, AZURE_STORAGE_ACCOUNT_NAME \
                        and AZURE_STORAGE_ACCOUNT_KEY; docs/stores.md lists the others";
    match error {
        Error::NotFound { .. } => "no such object, or no such bucket".into(),
        Error::Unauthenticated { .. } => format!("the store does not know who asks{HINT}"),
        Error::PermissionDenied { .. } => format!("the store refuses access{HINT}"),
        other => format!("{}{HINT}", without_queries(&other.to_string())),
    }
}

/// A text without the parts from a `?` up to the next space or quote.
fn without_queries(text: &str) -> String {
    let mut pieces = text.split('?');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|letter: char| letter.is_whitespace() || "\"')".contains(letter));
        plain.push_str(end.map_or("", |end| &piece[end..]));
    }
    plain.replace('\n', " ")
}

/// The objects of a name, a folder or a pattern, ordered by name.
pub(super) fn resolve_input(input: &Path, address: &Address<'_>) -> Result<Vec<Shard>, TableError> {
    if address.bucket.is_empty() {
        let hint = "name it as in s3://bucket/folder/*.parquet";
        return Err(file_error(input, "expected a bucket, found none", hint));
    }
    if let Some(wild) = address.key.find(['*', '?', '[']) {
        return list_matching(input, address, wild);
    }
    if Format::from_path(Path::new(address.key)).is_none() {
        return list_folder(input, address);
    }
    let (client, key) = locate_object(input, address)?;
    let about = wait_for(input, "open", client.head(&key))?;
    Ok(vec![new_shard(input.into(), &about)?])
}

/// Objects directly in a folder; hidden ones and those of unknown extension are skipped.
fn list_folder(input: &Path, address: &Address<'_>) -> Result<Vec<Shard>, TableError> {
    let (client, key) = locate_object(input, address)?;
    let found = wait_for(input, "list", client.list_with_delimiter(Some(&key)))?;
    some_of(
        input,
        address,
        found.objects,
        "the folder has no table in it",
    )
}

fn list_matching(
    input: &Path,
    address: &Address<'_>,
    wild: usize,
) -> Result<Vec<Shard>, TableError> {
    let pattern = glob::Pattern::new(address.key).map_err(|error| TableError::Format {
        path: input.into(),
        reason: format!("not a valid pattern: {}", error.msg),
    })?;
    let fixed = address.key[..wild]
        .rfind('/')
        .map_or("", |end| &address.key[..end]);
    let (client, key) = locate_object(
        input,
        &Address {
            key: fixed,
            ..*address
        },
    )?;
    let listed = client.list(Some(&key)).try_collect::<Vec<ObjectMeta>>();
    let mut found = wait_for(input, "list", listed)?;
    let options = glob::MatchOptions {
        require_literal_separator: true,
        ..glob::MatchOptions::default()
    };
    found.retain(|one| pattern.matches_with(one.location.as_ref(), options));
    some_of(input, address, found, "no object matches the pattern")
}

fn some_of(
    input: &Path,
    address: &Address<'_>,
    mut found: Vec<ObjectMeta>,
    reason: &'static str,
) -> Result<Vec<Shard>, TableError> {
    found.retain(|one| {
        let name = one.location.filename().unwrap_or_default();
        !name.starts_with(['.', '_']) && Format::from_path(Path::new(name)).is_some()
    });
    if found.is_empty() {
        let hint = "shards are csv, tsv or parquet objects";
        return Err(file_error(input, reason, hint));
    }
    found.sort_by(|one, other| one.location.cmp(&other.location));
    let whole = input.to_str().unwrap_or_default();
    let root = whole
        .strip_suffix(address.key)
        .unwrap_or(whole)
        .trim_end_matches('/');
    let named =
        |one: &ObjectMeta| new_shard(PathBuf::from(format!("{root}/{}", one.location)), one);
    found.iter().map(named).collect()
}

/// The version of an object: its tag, or the time of its last change.
fn version(about: &ObjectMeta) -> String {
    let tag = about.e_tag.clone();
    tag.unwrap_or_else(|| about.last_modified.to_rfc3339())
}

fn new_shard(path: PathBuf, about: &ObjectMeta) -> Result<Shard, TableError> {
    let format = match Format::from_path(&path) {
        Some(Format::Ipc) => {
            let reason = "expected parquet or csv, found an arrow file in an object store";
            return Err(file_error(&path, reason, "write it as parquet"));
        }
        found => found.ok_or_else(|| foreign_format(&path))?,
    };
    Ok(Shard {
        path,
        format,
        bytes: about.size,
        groups: None,
        version: Some(version(about)),
        known: KnownFile::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_not_told() {
        let error = Error::Generic {
            store: "Azure",
            source: "Error performing GET https://a.net/c/k?sig=secret&se=1 in 3s: \"t?sig=x\" end"
                .into(),
        };
        let told = error_message(&error);
        assert!(!told.contains("secret") && !told.contains("sig"), "{told}");
        assert!(told.contains("https://a.net/c/k in 3s"), "{told}");
        assert!(told.contains("AWS_ACCESS_KEY_ID"), "{told}");
    }

    #[test]
    fn a_name_without_a_bucket_is_refused() {
        let error = crate::Table::read("s3:///a.parquet")
            .unwrap_err()
            .to_string();
        assert!(error.contains("expected a bucket, found none"), "{error}");
    }
}
