//! Files that appear complete or not at all, and saved values with a version and a checksum.

mod draft;
mod envelope;
mod error;

pub use draft::{Draft, folder};
pub use envelope::{Kind, load, save, tag};
pub use error::FileError;
