//! Stores the response of a regression, with the name of the family in place of its rule.

use lehr_formula::Response;
use lehr_learn::ResponseColumn;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::family::Family;

#[derive(Serialize, Deserialize)]
struct StoredResponse {
    family: Family,
    response: Response,
    classes: Vec<String>,
}

pub(crate) fn serialize<S: Serializer>(outcome: &ResponseColumn, to: S) -> Result<S::Ok, S::Error> {
    let stored = StoredResponse {
        family: Family::of_rule(&outcome.rule),
        response: outcome.response.clone(),
        classes: outcome.classes.clone(),
    };
    stored.serialize(to)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<ResponseColumn, D::Error> {
    let stored = StoredResponse::deserialize(from)?;
    Ok(ResponseColumn {
        rule: stored.family.rule(),
        response: stored.response,
        classes: stored.classes,
    })
}
