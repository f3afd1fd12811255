//! The names of the columns by which a model reads bounded responses and covariates with errors.

/// The censoring state of the response.
pub const STATUS: &str = "status";

/// The upper end of an interval that contains the response.
pub const UPPER: &str = "upper";

/// The lower limit of the response.
pub const LOW: &str = "low";

/// The upper limit of the response.
pub const HIGH: &str = "high";

/// The observed covariate, standardised, as a covariate.
pub const MEASURED: &str = "measured";

/// The observed covariate, in its own unit, as a response.
pub const SEEN: &str = "measured_seen";

/// The standard deviation of the covariate's errors.
pub const ERROR: &str = "measured_error";

/// The rows without the covariate: those with the code [`UNKNOWN`].
pub const GAP: &str = "measured_gap";

/// In the column of gaps: the row's value is unknown.
pub const UNKNOWN: f64 = 3.0;
