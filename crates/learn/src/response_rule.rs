//! The requirements of a family on its response, which are the only part of the family that
//! learning needs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The function of the mean that the linear predictor models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Link {
    /// The mean itself.
    Identity,
    /// The logarithm of the mean, or of the parameter in its place.
    Log,
    /// The log odds of the mean.
    Logit,
    /// The normal quantile of probabilities.
    Probit,
    /// The tangent of half the mean direction.
    TanHalf,
}

impl Link {
    /// The name in tables and answers.
    pub fn name(self) -> &'static str {
        match self {
            Link::Identity => "identity",
            Link::Log => "log",
            Link::Logit => "logit",
            Link::Probit => "probit",
            Link::TanHalf => "tan_half",
        }
    }
}

/// The values of a response, and their consequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResponseForm {
    /// Any number.
    Real,
    /// A number above 0.
    Positive,
    /// A number strictly between 0 and 1.
    Share,
    /// An angle from −π to π.
    Direction,
    /// The number of events.
    Count,
    /// Successes among trials.
    Successes,
    /// One of two outcomes.
    Two,
    /// One of several classes without an order.
    Unordered,
    /// One of several classes in order.
    Ordered,
}

impl ResponseForm {
    /// Whether the response is one of several classes.
    pub fn is_class(self) -> bool {
        matches!(
            self,
            ResponseForm::Two | ResponseForm::Unordered | ResponseForm::Ordered
        )
    }
}

/// The requirements of a family on its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResponseRule {
    /// The name of the family.
    pub family: String,
    /// The values that the response takes.
    pub form: ResponseForm,
    /// The link function of the family.
    pub link: Link,
    /// Whether its distribution function has a closed form, which censoring and truncation need.
    pub has_tails: bool,
    /// Whether the noise of each row may be known.
    pub takes_errors: bool,
}

impl ResponseRule {
    /// Whether the response is one of several classes.
    pub fn is_class(&self) -> bool {
        self.form.is_class()
    }

    /// Whether the response is a count of events.
    pub fn is_count(&self) -> bool {
        self.form == ResponseForm::Count
    }
}

impl fmt::Display for ResponseRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.family)
    }
}
