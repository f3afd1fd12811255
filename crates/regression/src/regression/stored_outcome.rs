//! Stores the response of a regression, with the name of the family in place of its rule.

use lehr_formula::Response;
use lehr_learn::Outcome;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::family::Family;

#[derive(Serialize, Deserialize)]
struct StoredOutcome {
    family: Family,
    response: Response,
    classes: Vec<String>,
}

pub(super) fn serialize<S: Serializer>(outcome: &Outcome, to: S) -> Result<S::Ok, S::Error> {
    let stored = StoredOutcome {
        family: Family::of_rule(&outcome.rule),
        response: outcome.response.clone(),
        classes: outcome.classes.clone(),
    };
    stored.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Outcome, D::Error> {
    let stored = StoredOutcome::deserialize(from)?;
    Ok(Outcome {
        rule: stored.family.rule(),
        response: stored.response,
        classes: stored.classes,
    })
}
