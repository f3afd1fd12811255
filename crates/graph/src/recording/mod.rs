//! A program as data: owned, printable, saved and loaded, replayed on other inputs.

mod algebra;
mod check;
mod number;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::expr::{Expr, Graph};
use crate::length::AxisLength;
use crate::primitive::Op;
use crate::shape::Shape;

/// A copy of the nodes that some outputs of a graph need, which outlives the graph.  Lengths may be
/// affine in a number of rows ([`crate::ROWS`]) that is given when the recording is replayed. A
/// recording that is read from a file is checked first, and is an error if it cannot be replayed.
///
/// ```
/// use lehr_graph::{Graph, ROWS, RecordedProgram};
///
/// let graph = Graph::new();
/// let (x, scale) = (graph.input("x", [ROWS]), graph.input("scale", ()));
/// let recording = RecordedProgram::from_outputs(&graph, &[("density", -(x / scale).square())]);
/// assert_eq!(recording.format_output(0, &[]), "-(x / scale)²");
///
/// let other = Graph::new();
/// let inputs = [other.input("x", [3]), other.laned_input("scale", ())];
/// let density = recording.replay(&other, &[0], &|place| inputs[place], 3)[0];
/// assert!(density.shape() == [3].into() && density.is_laned());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RecordingParts", into = "RecordingParts")]
pub struct RecordedProgram(Arc<RecordingParts>);

/// Why a recording that was read back cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("recording, step {step}: {message}")]
pub struct RecordingError {
    /// The place of the step, counted from 0.
    pub step: usize,
    /// The reason.
    pub message: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct RecordingParts {
    inputs: Vec<RecordedInput>,
    constants: Vec<Arc<[f64]>>,
    steps: Vec<RecordedStep>,
    outputs: Vec<RecordedOutput>,
}

/// A named array that is given when the recording is replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RecordedInput {
    name: String,
    shape: Shape,
    kind: InputKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum InputKind {
    Numbers,
    Indices,
}

/// One operation on the results of earlier steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RecordedStep {
    op: Op,
    operands: Vec<u32>,
    shape: Shape,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct RecordedOutput {
    name: String,
    step: u32,
}

impl RecordedProgram {
    /// The nodes that `outputs` need, under their names. The inputs are all those of the graph, in
    /// the order in which they were named.
    pub fn from_outputs(graph: &Graph, outputs: &[(&str, Expr<'_>)]) -> RecordedProgram {
        let exprs: Vec<Expr<'_>> = outputs.iter().map(|(_, expr)| *expr).collect();
        let reachable = graph.mark_reachable(&exprs);
        let nodes = graph.nodes();
        let mut parts = RecordingParts {
            inputs: inputs_of(graph),
            ..RecordingParts::default()
        };
        let mut steps = vec![u32::MAX; reachable.len()];
        for place in (0..reachable.len()).filter(|&place| reachable[place]) {
            let node = &nodes[place];
            steps[place] = parts.steps.len() as u32;
            let op = match node.op {
                Op::Constant(constant) => {
                    parts.constants.push(graph.constant_values(constant));
                    Op::Constant(parts.constants.len() as u32 - 1)
                }
                ref op => op.clone(),
            };
            parts.steps.push(RecordedStep {
                op,
                operands: node.inputs.iter().map(|id| steps[id.index()]).collect(),
                shape: node.shape,
            });
        }
        let output = |(name, expr): &(&str, Expr<'_>)| RecordedOutput {
            name: (*name).to_owned(),
            step: steps[expr.id.index()],
        };
        parts.outputs = outputs.iter().map(output).collect();
        RecordedProgram(Arc::new(parts))
    }

    /// How many inputs there are.
    pub fn n_inputs(&self) -> usize {
        self.0.inputs.len()
    }

    /// The name and shape of an input.
    pub fn input(&self, place: usize) -> (&str, Shape) {
        let input = &self.0.inputs[place];
        (&input.name, input.shape)
    }

    /// True if an input is a column of row numbers.
    pub fn is_index(&self, place: usize) -> bool {
        self.0.inputs[place].kind == InputKind::Indices
    }

    /// How many outputs there are.
    pub fn n_outputs(&self) -> usize {
        self.0.outputs.len()
    }

    /// The name and shape of an output.
    pub fn output(&self, place: usize) -> (&str, Shape) {
        let output = &self.0.outputs[place];
        (&output.name, self.0.steps[output.step as usize].shape)
    }

    /// Writes the outputs at `outputs` on `graph`, for `rows` rows, with the inputs that are given
    /// by their places. Every rule of the graph applies anew. Only the nodes and inputs that these
    /// outputs need are used.
    ///
    /// # Panics
    /// If an input has another shape than the recorded one.
    pub fn replay<'g>(
        &self,
        graph: &'g Graph,
        outputs: &[usize],
        inputs: &dyn Fn(usize) -> Expr<'g>,
        rows: usize,
    ) -> Vec<Expr<'g>> {
        let RecordingParts { steps, .. } = &*self.0;
        let last: Vec<usize> = (outputs.iter())
            .map(|&place| self.0.outputs[place].step as usize)
            .collect();
        let needed = self.needed_steps(&last);
        let mut done: Vec<Option<Expr<'g>>> = vec![None; needed.len()];
        let mut operands = Vec::new();
        let stage = ReplayTarget {
            graph,
            inputs,
            rows,
        };
        for (place, step) in steps.iter().enumerate().take(needed.len()) {
            if needed[place] {
                operands.clear();
                let earlier = step
                    .operands
                    .iter()
                    .map(|&k| done[k as usize].expect("earlier"));
                operands.extend(earlier);
                done[place] = Some(self.replay_step(&stage, step, &operands));
            }
        }
        last.iter()
            .map(|&place| done[place].expect("needed"))
            .collect()
    }

    /// The steps that these outputs need.
    fn needed_steps(&self, last: &[usize]) -> Vec<bool> {
        let end = last.iter().map(|place| place + 1).max().unwrap_or(0);
        let mut needed = vec![false; end];
        for &place in last {
            needed[place] = true;
        }
        for place in (0..end).rev() {
            if needed[place] {
                for &operand in &self.0.steps[place].operands {
                    needed[operand as usize] = true;
                }
            }
        }
        needed
    }

    fn replay_step<'g>(
        &self,
        stage: &ReplayTarget<'_, 'g>,
        step: &RecordedStep,
        operands: &[Expr<'g>],
    ) -> Expr<'g> {
        let (graph, rows) = (stage.graph, stage.rows);
        let shape = step.shape.resolve(rows);
        match step.op {
            Op::Scalar(bits) => graph.scalar(f64::from_bits(bits)),
            Op::Constant(place) => graph.shared_constant(shape, &self.0.constants[place as usize]),
            Op::Input(place) | Op::IndexInput(place) => {
                let given = (stage.inputs)(place as usize);
                let name = &self.0.inputs[place as usize].name;
                assert_eq!(given.shape(), shape, "input {name:?} of a recording");
                given
            }
            Op::Slice { axis, start } => {
                let start = AxisLength(start).resolve(rows);
                Op::Slice { axis, start }.apply_to(operands, shape)
            }
            Op::Pad { axis, start } => {
                let start = AxisLength(start).resolve(rows);
                Op::Pad { axis, start }.apply_to(operands, shape)
            }
            ref op => op.apply_to(operands, shape),
        }
    }
}

/// The target of a replay: a graph, the inputs by their places, and the number of rows.
struct ReplayTarget<'a, 'g> {
    graph: &'g Graph,
    inputs: &'a dyn Fn(usize) -> Expr<'g>,
    rows: usize,
}

fn inputs_of(graph: &Graph) -> Vec<RecordedInput> {
    let nodes = graph.nodes();
    let inputs = graph.inputs();
    let input = |info: &crate::expr::InputInfo| {
        let node = &nodes[info.node.index()];
        RecordedInput {
            name: info.name.clone(),
            shape: node.shape,
            kind: match node.op {
                Op::IndexInput(_) => InputKind::Indices,
                _ => InputKind::Numbers,
            },
        }
    };
    inputs.iter().map(input).collect()
}

impl From<RecordedProgram> for RecordingParts {
    fn from(recording: RecordedProgram) -> RecordingParts {
        RecordingParts::clone(&recording.0)
    }
}

impl TryFrom<RecordingParts> for RecordedProgram {
    type Error = RecordingError;

    fn try_from(parts: RecordingParts) -> Result<RecordedProgram, RecordingError> {
        let recording = RecordedProgram(Arc::new(parts));
        check::check_recording(&recording)?;
        Ok(recording)
    }
}
