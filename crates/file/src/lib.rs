//! Files that appear complete or not at all, and saved values with a version and a checksum.

mod draft;
mod envelope;
mod error;

pub use draft::{Draft, parent_folder};
pub use envelope::{FileKind, load_value, read_tag, save_value};
pub use error::FileError;
