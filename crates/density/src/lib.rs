//! The interface between models and inference: a log prior, one log likelihood per row, and their
//! names, shapes, supports and rows.

mod capability;
mod density;
mod error;
pub mod job;
mod layout;
mod local;
mod point;
mod predictor;
mod probe;
mod quantity;
mod site;
pub mod support;
mod told;
mod weighted;

/// The rows that densities read.
pub use lehr_rows::{
    Column, ColumnKind, Columns, LocalRows, ResponseKind, Role, RowColumn, RowData, RowSet,
    RowSource, RowStore, Rows, Values,
};

pub use capability::{
    Family, GaussianRows, GaussianTerms, LinearRows, Predictive, Predictors, Response, SplitRows,
};
pub use density::{Density, StoredForm, rows_here};
pub use error::{LayoutError, SupportError};
pub use layout::{ConstrainedSites, Layout, SiteValue};
pub use local::{LocalLaw, LocalMap, LocalNormal, Locals, Nodes};
pub use point::Point;
pub use predictor::{Moments, Predictor, RowPrediction};
pub use probe::probe_rows;
pub use quantity::{FlatDraws, quantities};
pub use site::Site;
pub use support::{ConstrainedValue, Support};
pub use weighted::WeightedModel;
