//! From a formula, a family, priors and a table to a model, and back to coefficients on the
//! original scale.
//!
//! ```
//! use lehr_density::Density;
//! use lehr_regression::{Family, Groups, Regression};
//! use lehr_table::Table;
//!
//! let table = Table::new()
//!     .with_number("y", vec![1.0, 3.0, 2.0, 4.0])?
//!     .with_number("dose", vec![10.0, 20.0, 30.0, 40.0])?
//!     .with_category("site", vec![0, 1, 0, 1], vec!["north".into(), "south".into()])?;
//! let priors = ["sd(site) ~ half_normal(1)".to_string()];
//! let regression = Regression::new("y ~ dose + (1 | site)", Family::Gaussian, &priors, &table)?;
//! let density = regression.bind(&table)?;
//!
//! let draw = vec![0.0; density.latents().size()];
//! let sites = density.latents().constrain_values(&draw);
//! let coefficients = regression.coefficients(&sites, Groups::Leave);
//! let names: Vec<&str> = coefficients.iter().map(|draws| draws.name.as_str()).collect();
//! assert_eq!(names, ["Intercept", "dose", "sd(site)", "sigma"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bounds;
mod coefficient;
pub mod column_name;
mod design;
mod error;
mod family;
mod law;
mod law_site;
mod learned_regression;
mod model_plan;
mod multivariate;
mod named_draws;
mod new_rows;
mod option;
mod prior;
mod prior_book;
mod program;
mod regression;
mod response_name;
mod shrinkage;
mod specification;
mod stored_response;
mod term;

pub use coefficient::group_effect::EffectMoments;
pub use design::{Design, DesignSource, Purpose, TableBlock};
pub use error::RegressionError;
pub use family::{DF_EXCESS, Family};
pub use learned_regression::Regression;
pub use multivariate::MultivariateRegression;
pub use named_draws::NamedDraws;
pub use new_rows::{Extrapolation, NewRows};
pub use option::{Groups, PredictionLevel};
pub use prior::{PriorLine, PriorOrigin, prior_distributions};
pub use specification::{FormulaModel, Specification};
