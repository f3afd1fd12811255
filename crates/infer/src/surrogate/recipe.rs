//! Surrogates by rows: which rows × which labels × which weights × are the covariates learned.

/// Which rows a surrogate stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowChoice {
    /// Rows of the table, drawn without replacement.
    Random,
    /// The different rows that were drawn for a coreset.
    Coreset,
    /// The k-means centroids of the covariates, no row of the table among them.
    Centroids,
}

/// Which responses the rows have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Labels {
    /// Their own.
    Own,
    /// Both of a binary response, each with a weight.
    Both,
}

/// Where the weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weights {
    /// Learned from equal or matched ones on.
    Learned,
    /// The coreset's, an unbiased estimate of the log likelihood.
    Kept,
}

/// What becomes of the covariates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// They stay as they are.
    Kept,
    /// They are learned.
    Learned,
}

/// A surrogate by rows in four words.
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
