//! The reasons why there is no proper posterior.

use thiserror::Error;

/// A flat prior without a proper posterior.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Improper {
    /// The rows do not determine a latent.
    #[error(
        "flat prior on {name}: expected rows that hold it, found none that do: the likelihood \
         does not fall off along it, so there is no posterior\n  \
         hint: give it a proper prior, as in normal(0, 10); columns that are sums of others, and \
         responses that a column separates, need one"
    )]
    Open {
        /// The latent.
        name: String,
    },
    /// There are too many latents to check.
    #[error(
        "flat prior: expected at most {most} latents, whose posterior can be checked to be \
         proper, found {found}\n  \
         hint: use normal with a large scale"
    )]
    Many {
        /// How many can be checked.
        most: usize,
        /// How many there are.
        found: usize,
    },
}
