//! Surrogates by rows, as combinations of rows, labels, weights, and fixed or learned covariates.

/// The rows of a surrogate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowChoice {
    /// Rows of the table, drawn without replacement.
    Random,
    /// The distinct rows that were drawn for a coreset.
    Coreset,
    /// The k-means centroids of the covariates, which contain no row of the table.
    Centroids,
}

/// The responses of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Labels {
    /// Their own.
    Own,
    /// Both labels of a binary response, each with a weight.
    Both,
}

/// The source of the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weights {
    /// Learned, starting from equal or matched weights.
    Learned,
    /// The coreset's, an unbiased estimate of the log likelihood.
    Kept,
}

/// The treatment of the covariates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// They are fixed.
    Kept,
    /// They are learned.
    Learned,
}

/// A surrogate by rows in four properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recipe {
    pub(crate) rows: RowChoice,
    pub(crate) labels: Labels,
    pub(crate) weights: Weights,
    pub(crate) covariates: Values,
}

impl Recipe {
    /// `rand`
    pub(crate) const RANDOM: Recipe = Recipe {
        rows: RowChoice::Random,
        labels: Labels::Own,
        weights: Weights::Learned,
        covariates: Values::Kept,
    };
}
