//! Values in serialised form.

use lehr_density::StoredForm;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::FitError;

/// The serialised form of a value.
pub(crate) fn encoded(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("a guide is numbers and names")
}

/// The serialised form of a value, with the name by which its reader is found.
pub(crate) fn stored(name: &str, value: &impl Serialize) -> StoredForm {
    StoredForm {
        name: name.to_owned(),
        bytes: encoded(value),
    }
}

/// Reads a value from its serialised form.
///
/// # Errors
/// If the bytes are not exactly those of such a value.
pub(crate) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FitError> {
    let problem = match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => return Ok(value),
        Ok((_, rest)) => format!("{} bytes too many", rest.len()),
        Err(error) => error.to_string(),
    };
    Err(FitError::Stored { problem })
}
