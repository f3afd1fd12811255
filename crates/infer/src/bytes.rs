//! Values as the bytes that are stored of them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::FitError;

/// A value as the bytes that are stored of it.
pub(crate) fn encoded(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("a guide is numbers and names")
}

/// A value read back from all of its bytes.
///
/// # Errors
/// If they are not its own.
pub(crate) fn decoded<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FitError> {
    let problem = match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => return Ok(value),
        Ok((_, rest)) => format!("{} bytes too many", rest.len()),
        Err(error) => error.to_string(),
    };
    Err(FitError::Stored { problem })
}
