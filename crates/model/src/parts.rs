//! The parts of a program, as they are stored.

use lehr_density::{Columns, Layout};
use lehr_graph::RecordedProgram;
use serde::{Deserialize, Serialize};

use crate::data::Demands;
use crate::schema::Schema;
use crate::statement::{InputRole, Statement};

/// The parts of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProgramParts {
    pub(crate) latents: Layout,
    pub(crate) params: Layout,
    pub(crate) locals: Layout,
    pub(crate) columns: Columns,
    /// The columns that are read, as they were when the model was recorded.
    pub(crate) schema: Schema,
    pub(crate) demands: Demands,
    pub(crate) statements: Vec<Statement>,
    pub(crate) recording: RecordedProgram,
    /// The meaning of each input of the recording.
    pub(crate) inputs: Vec<InputRole>,
    /// The output with the log likelihood of each row.
    pub(crate) likelihood: usize,
}
