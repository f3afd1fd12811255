//! The commands: one file each, with its arguments and what it does.

mod check;
mod compare;
mod completions;
mod demo;
mod draws;
mod effects;
mod evaluate;
mod families;
mod fit;
mod help;
mod loo;
mod man;
mod methods;
mod models;
mod predict;
mod priors;
mod report;
mod summary;

pub(crate) use check::Check;
pub(crate) use compare::Compare;
pub(crate) use completions::Completions;
pub(crate) use demo::Demo;
pub(crate) use draws::Draws;
pub(crate) use effects::Effects;
pub(crate) use evaluate::Evaluate;
pub(crate) use families::Families;
pub(crate) use fit::Fit;
pub(crate) use help::Help;
pub(crate) use loo::Loo;
pub(crate) use man::Man;
pub(crate) use methods::Methods;
pub(crate) use predict::Predict;
pub(crate) use priors::Priors;
pub(crate) use report::Report;
pub(crate) use summary::Summary;
