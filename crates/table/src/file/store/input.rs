//! The two kinds of input, in the form that the readers of formats take.

use std::fs::File;
use std::io::{BufReader, Read};
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

use super::object::{Object, ObjectReader};
use crate::file::known::Version;

/// A file on this machine, or an object in a store.
pub(in crate::file) enum Input {
    File(File),
    Object(Arc<Object>),
}

impl Input {
    /// The version of what was opened.
    pub(in crate::file) fn version(&self) -> std::io::Result<Version> {
        Ok(match self {
            Input::File(file) => Version::of_file(&file.metadata()?),
            Input::Object(object) => Version::Object(object.version().to_owned()),
        })
    }

    /// The bytes from the first to the last.
    pub(in crate::file) fn into_reader(self) -> Box<dyn Read> {
        match self {
            Input::File(file) => Box::new(file),
            // Every read is a request.
            Input::Object(object) => {
                let reader = ObjectReader::new(object, 0);
                Box::new(BufReader::with_capacity(super::object::WINDOW, reader))
            }
        }
    }
}

impl Length for Input {
    fn len(&self) -> u64 {
        match self {
            Input::File(file) => Length::len(file),
            Input::Object(object) => object.len(),
        }
    }
}

impl ChunkReader for Input {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(match self {
            Input::File(file) => Box::new(file.get_read(start)?),
            Input::Object(object) => Box::new(ObjectReader::new(object.clone(), start)),
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        match self {
            Input::File(file) => file.get_bytes(start, length),
            Input::Object(object) => Ok(object.read_bytes(start, length)?),
        }
    }
}
