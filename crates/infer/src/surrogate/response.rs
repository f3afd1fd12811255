//! The one binary response of a model.

use lehr_density::{Density, ResponseKind};

use super::SurrogateKind;
use crate::error::SurrogateError;

/// A response of zeros and ones.
pub(crate) struct BinaryResponse {
    /// Its place among the columns.
    pub(crate) place: usize,
    pub(crate) name: String,
}

/// The one binary response of a model, which `kind` requires.
pub(crate) fn binary_response(
    density: &dyn Density,
    kind: SurrogateKind,
) -> Result<BinaryResponse, SurrogateError> {
    let responses: Vec<_> = density.columns().responses().collect();
    let [(place, column, found)] = responses[..] else {
        let names: Vec<String> = responses
            .iter()
            .map(|(_, column, _)| format!("{:?}", column.name))
            .collect();
        let found = match names.len() {
            0 => "none".to_owned(),
            _ => names.join(" and "),
        };
        return Err(SurrogateError::Responses {
            kind: kind.name(),
            found,
        });
    };
    if found != ResponseKind::Binary {
        let response = column.name.clone();
        return Err(SurrogateError::NotBinary {
            kind: kind.name(),
            response,
            found,
        });
    }
    let width = column.kind.width();
    if width != 1 {
        let found = format!("{width} of them in {:?}", column.name);
        return Err(SurrogateError::Responses {
            kind: kind.name(),
            found,
        });
    }
    Ok(BinaryResponse {
        place,
        name: column.name.clone(),
    })
}
