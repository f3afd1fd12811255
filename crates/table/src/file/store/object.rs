//! One object, fetched in ranges large enough for a request.

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::path::Path as Key;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use crate::TableError;
use crate::file::address::Address;

use super::{Client, locate_object, version, wait_for};

/// Bytes of a column that are fetched at once, unless a page has more: about the amount that takes
/// as long as a request's latency.
pub(super) const WINDOW: usize = 8 << 20;
/// Bytes at the end that are fetched when an object is opened: the footer of most Parquet files.
const TAIL: u64 = 64 << 10;

/// An object. The last fetched range of each column is cached, because its pages are read one after
/// another.
pub(in crate::file) struct Object {
    path: PathBuf,
    client: Client,
    key: Key,
    length: u64,
    version: String,
    tail: Bytes,
    columns: OnceLock<Vec<Chunk>>,
    windows: Mutex<Vec<Option<Window>>>,
}

/// The bytes of one column in one row group.
struct Chunk {
    range: Range<u64>,
    column: usize,
}

/// Bytes in memory.
#[derive(Clone)]
struct Window {
    start: u64,
    bytes: Bytes,
}

impl Window {
    fn slice(&self, start: u64, length: usize) -> Option<Bytes> {
        let from = usize::try_from(start.checked_sub(self.start)?).ok()?;
        let to = from.checked_add(length)?;
        (to <= self.bytes.len()).then(|| self.bytes.slice(from..to))
    }
}

impl Object {
    /// Looks an object up and fetches its end.
    pub(in crate::file) fn open_path(path: &Path) -> Result<Arc<Object>, TableError> {
        let address = Address::from_path(path).expect("only names in stores come here");
        let (client, key) = locate_object(path, &address)?;
        let about = wait_for(path, "open", client.head(&key))?;
        let tail = about.size.saturating_sub(TAIL)..about.size;
        let tail = if tail.is_empty() {
            Bytes::new()
        } else {
            wait_for(path, "read", client.get_range(&key, tail))?
        };
        Ok(Arc::new(Object {
            path: path.into(),
            client,
            key,
            length: about.size,
            version: version(&about),
            tail,
            columns: OnceLock::new(),
            windows: Mutex::default(),
        }))
    }

    /// The version that the store had when the object was opened.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// How many bytes there are.
    pub(super) fn len(&self) -> u64 {
        self.length
    }

    /// Records which bytes belong to which column.
    pub(in crate::file) fn learn_layout(&self, metadata: &ParquetMetaData) {
        let chunks = |group: &RowGroupMetaData| {
            let columns = group.columns().iter().enumerate();
            let chunk = columns.map(|(column, about)| {
                let (start, length) = about.byte_range();
                let range = start..start.saturating_add(length);
                Chunk { range, column }
            });
            chunk.collect::<Vec<Chunk>>()
        };
        let mut all: Vec<Chunk> = metadata.row_groups().iter().flat_map(chunks).collect();
        all.sort_by_key(|chunk| chunk.range.start);
        let columns = all.iter().map(|chunk| chunk.column + 1).max().unwrap_or(0);
        *self.windows.lock().expect("no request panics half-way") = vec![None; columns];
        let _ = self.columns.set(all);
    }

    /// These bytes, fetched if they are not cached.
    pub(super) fn read_bytes(&self, start: u64, length: usize) -> io::Result<Bytes> {
        let end = start.saturating_add(length as u64);
        if end > self.length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let tail = Window {
            start: self.length - self.tail.len() as u64,
            bytes: self.tail.clone(),
        };
        if let Some(found) = tail.slice(start, length) {
            return Ok(found);
        }
        let chunk = self.chunk_at(start).filter(|chunk| end <= chunk.range.end);
        let Some(chunk) = chunk else {
            return self.fetch_range(start..end);
        };
        let windows = || self.windows.lock().expect("no request panics half-way");
        let here = windows()[chunk.column].clone();
        if let Some(found) = here.and_then(|window| window.slice(start, length)) {
            return Ok(found);
        }
        let ahead = end.max((start + WINDOW as u64).min(chunk.range.end));
        let bytes = self.fetch_range(start..ahead)?;
        let found = bytes.slice(..length);
        windows()[chunk.column] = Some(Window { start, bytes });
        Ok(found)
    }

    fn chunk_at(&self, start: u64) -> Option<&Chunk> {
        let all = self.columns.get()?;
        let after = all.partition_point(|chunk| chunk.range.start <= start);
        all[..after].last().filter(|chunk| start < chunk.range.end)
    }

    fn fetch_range(&self, range: Range<u64>) -> io::Result<Bytes> {
        let wanted = (range.end - range.start) as usize;
        let bytes = wait_for(&self.path, "read", self.client.get_range(&self.key, range));
        let bytes = bytes.map_err(|error| io::Error::other(error.to_string()))?;
        // A shorter answer means that the object was replaced.
        if bytes.len() == wanted {
            Ok(bytes)
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }
}

/// The bytes of an object from some position on.
pub(super) struct ObjectReader {
    object: Arc<Object>,
    at: u64,
}

impl ObjectReader {
    pub(super) fn new(object: Arc<Object>, at: u64) -> ObjectReader {
        ObjectReader { object, at }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let left = self.object.len().saturating_sub(self.at);
        let count = to.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if count == 0 {
            return Ok(0);
        }
        to[..count].copy_from_slice(&self.object.read_bytes(self.at, count)?);
        self.at += count as u64;
        Ok(count)
    }
}
