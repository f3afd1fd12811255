//! The names of the columns by which a model reads responses known by bounds and covariates with errors.

/// What is known of the response.
pub const STATUS: &str = "status";

/// Where an interval that is known to hold the response ends.
pub const UPPER: &str = "upper";

/// The lower limit of the response.
pub const LOW: &str = "low";

/// The upper limit of the response.
pub const HIGH: &str = "high";

/// What is seen of the covariate, standardised, as a covariate.
pub const MEASURED: &str = "measured";

/// What is seen of the covariate, in its own unit, as a response.
pub const SEEN: &str = "measured_seen";

/// The spread of the covariate's errors.
pub const ERROR: &str = "measured_error";

/// Which rows lack the covariate: those with the code [`UNKNOWN`].
pub const GAP: &str = "measured_gap";

/// In the column of gaps: nothing is known of the row's value.
pub const UNKNOWN: f64 = 3.0;
