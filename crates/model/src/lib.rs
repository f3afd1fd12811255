//! Distributions and the model language.  A model is a function that names its sites. It runs once
//! and leaves a [`Program`]: data that can be printed, saved, loaded and evaluated on any rows:
//!
//! ```
//! use lehr_density::{Density, Predictive};
//! use lehr_model::Model;
//! use lehr_model::distribution::{Bernoulli, Distribution, HalfNormal, Normal};
//! use lehr_table::Table;
//!
//! let model = Model::new(|m| {
//!     let weight = m.sample("weight", Normal::new(0.0, 1.0).expand([2]));
//!     let scale = m.sample("group_scale", HalfNormal::new(1.0));
//!     let effect = m.sample("group_effect", Normal::new(0.0, scale).expand([m.levels("group")]));
//!     m.rows(|row| {
//!         let logit = row.matrix("x").dot(weight) + effect.at(row.index("group"));
//!         row.observe("y", Bernoulli::with_logit(logit));
//!     });
//! });
//! let table = Table::new()
//!     .with_number("y", vec![0.0, 1.0, 1.0])?
//!     .with_matrix("x", 3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?
//!     .with_category("group", vec![0, 1, 0], vec!["north".into(), "south".into()])?;
//! let density = model.bind(&table)?;
//! assert_eq!(density.latents().size(), 5);
//! println!("{}", density.describe());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bind;
mod bound;
mod data;
mod description;
pub mod distribution;
mod error;
mod evaluation;
mod gaussian;
pub mod gp;
mod linear;
mod model;
mod observe;
mod parts;
mod predict;
mod program;
mod record;
mod row;
mod schema;
mod sound;
mod split;
mod stacked;
mod statement;
mod tracer;

pub use bound::Bound;
pub use error::{BindError, Problem};
pub use model::Model;
pub use predict::PriorError;
pub use program::{Program, ProgramError};
pub use row::Row;
pub use schema::Schema;
pub use tracer::Tracer;
