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
    const HINT: &str = "hint: rand, taylor and nn serve every likelihood";
    let responses: Vec<_> = density.columns().responses().collect();
    let other_count = |found: String| {
        let problem = "needs one binary response, but the model observes";
        SurrogateError::refusal(format!("{kind} {problem} {found}\n  {HINT}"))
    };
    let [(place, column, found)] = responses[..] else {
        let names: Vec<String> = responses
            .iter()
            .map(|(_, column, _)| format!("{:?}", column.name))
            .collect();
        return Err(other_count(match names.len() {
            0 => "none".to_owned(),
            _ => names.join(" and "),
        }));
    };
    let (response, width) = (&column.name, column.kind.width());
    if found != ResponseKind::Binary {
        return Err(SurrogateError::refusal(format!(
            "{kind} needs a binary response, but {response:?} is {found}\n  {HINT}"
        )));
    }
    if width != 1 {
        return Err(other_count(format!("{width} of them in {response:?}")));
    }
    Ok(BinaryResponse {
        place,
        name: column.name.clone(),
    })
}
