//! The parts of a program, as they are stored.

use lehr_density::{Columns, Layout};
use lehr_graph::Recording;
use serde::{Deserialize, Serialize};

use crate::data::Demands;
use crate::schema::Schema;
use crate::statement::{Given, Statement};

/// What a program consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parts {
    pub(crate) latents: Layout,
    pub(crate) params: Layout,
    pub(crate) locals: Layout,
    pub(crate) columns: Columns,
    /// The columns that are read, as they were when the model was recorded.
    pub(crate) schema: Schema,
    pub(crate) demands: Demands,
    pub(crate) statements: Vec<Statement>,
    pub(crate) recording: Recording,
    /// What each input of the recording is.
    pub(crate) inputs: Vec<Given>,
    /// The output with the log likelihood of each row.
    pub(crate) likelihood: usize,
}
