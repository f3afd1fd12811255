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

pub(crate) use check::CheckArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use completions::CompletionsArgs;
pub(crate) use demo::DemoArgs;
pub(crate) use draws::DrawsArgs;
pub(crate) use effects::EffectsArgs;
pub(crate) use evaluate::EvaluateArgs;
pub(crate) use families::FamiliesArgs;
pub(crate) use fit::FitArgs;
pub(crate) use help::HelpArgs;
pub(crate) use loo::LooArgs;
pub(crate) use man::ManArgs;
pub(crate) use methods::MethodsArgs;
pub(crate) use predict::PredictArgs;
pub(crate) use priors::PriorsArgs;
pub(crate) use report::ReportArgs;
pub(crate) use summary::SummaryArgs;
