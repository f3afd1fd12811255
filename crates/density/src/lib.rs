//! The interface between models and inference: a log prior, one log likelihood per row, and their
//! names, shapes, supports and rows.

mod capability;
mod column;
mod counted;
mod density;
mod elsewhere;
mod error;
mod full_data;
mod layout;
mod local;
mod point;
mod predictor;
mod probe;
mod quantity;
mod row_data;
mod rows;
mod site;
mod source;
pub mod support;
mod told;

pub use capability::{
    Family, GaussianRows, GaussianTerms, LinearRows, Predictive, Predictors, Response, SplitRows,
};
pub use column::{Column, ColumnKind, Columns, ResponseKind, Role};
pub use counted::Counted;
pub use density::{Density, Stored};
pub use elsewhere::Elsewhere;
pub use error::{LayoutError, SupportError};
pub use full_data::{FullData, Query, RowsLost, Take};
pub use layout::{ConstrainedSites, Layout, SiteValue};
pub use local::{LocalLaw, LocalMap, LocalNormal, Locals, Nodes};
pub use point::Point;
pub use predictor::{Moments, Predicted, Predictor};
pub use probe::probe;
pub use quantity::{FlatDraws, quantities};
pub use row_data::{RowData, Values};
pub use rows::{RowColumn, Rows};
pub use site::Site;
pub use source::{RowSet, RowSource};
pub use support::{Constrained, Support};
