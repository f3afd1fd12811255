//! Checks that a recording read from bytes can be replayed: the bytes may be damaged or hostile.

use super::{
    InputKind, RecordedProgram, RecordedStep, RecordingError, RecordingParts, ReplayTarget,
};
use crate::expr::{Expr, Graph};
use crate::length::{AxisLength, ROWS};
use crate::primitive::{Op, Unary};
use crate::shape::Shape;

/// The longest axis, and the highest derivative of ln Γ, that a recording may have.
const LONGEST: usize = ROWS * 1024;
const MOST_DERIVATIVES: u8 = 64;

/// Replays every step on a graph that collects mistakes, for any number of rows.
pub(super) fn check_recording(recording: &RecordedProgram) -> Result<(), RecordingError> {
    let graph = Graph::collecting_errors();
    let parts = &*recording.0;
    let inputs = replay_inputs(&graph, parts)?;
    let stage = ReplayTarget {
        graph: &graph,
        inputs: &|place| inputs[place],
        rows: ROWS,
    };
    let mut done: Vec<Expr<'_>> = Vec::with_capacity(parts.steps.len());
    for (place, step) in parts.steps.iter().enumerate() {
        let wrong = |message: String| RecordingError {
            step: place,
            message,
        };
        let operands = replay_operands(step, &done).map_err(wrong)?;
        check_step(step, &operands, parts).map_err(wrong)?;
        let value = recording.replay_step(&stage, step, &operands);
        if let Some(error) = graph.errors().pop() {
            return Err(wrong(error.message));
        }
        if value.shape() != step.shape {
            let (found, expected) = (value.shape(), step.shape);
            return Err(wrong(format!("expected shape {expected}, found {found}")));
        }
        done.push(value);
    }
    match parts
        .outputs
        .iter()
        .find(|output| output.step as usize >= done.len())
    {
        Some(output) => Err(RecordingError {
            step: output.step as usize,
            message: format!("output {:?} needs it, but it is not there", output.name),
        }),
        None => Ok(()),
    }
}

fn replay_inputs<'g>(
    graph: &'g Graph,
    parts: &RecordingParts,
) -> Result<Vec<Expr<'g>>, RecordingError> {
    let given = |input: &super::RecordedInput| {
        let message = match (input.kind, input.shape.dims()) {
            _ if !is_short(input.shape) => format!("has shape {}", input.shape),
            (InputKind::Numbers, _) => return Ok(graph.input(&input.name, input.shape)),
            (InputKind::Indices, &[length]) => {
                return Ok(graph.index_input(&input.name, length).expr());
            }
            (InputKind::Indices, _) => "is no column of row numbers".to_owned(),
        };
        let message = format!("input {:?} {message}", input.name);
        Err(RecordingError { step: 0, message })
    };
    parts.inputs.iter().map(given).collect()
}

fn is_short(shape: Shape) -> bool {
    shape.dims().iter().all(|&length| length < LONGEST)
}

/// The operands, which are earlier steps. Row numbers are operands of look-ups only.
fn replay_operands<'g>(step: &RecordedStep, done: &[Expr<'g>]) -> Result<Vec<Expr<'g>>, String> {
    let looks_up = matches!(step.op, Op::Gather | Op::ScatterAdd);
    let operand = |(k, &place): (usize, &u32)| {
        let Some(&operand) = done.get(place as usize) else {
            return Err(format!("operand {place} is no earlier step"));
        };
        let is_index = matches!(operand.op(), Op::IndexInput(_));
        if is_index != (looks_up && k == 1) {
            return Err(format!("operand {place} is of the wrong kind"));
        }
        Ok(operand)
    };
    let operands: Vec<Expr<'g>> =
        (step.operands.iter().enumerate().map(operand)).collect::<Result<_, _>>()?;
    match (arity(&step.op), operands.len()) {
        (Some(expected), found) if expected != found => {
            Err(format!("expected {expected} operands, found {found}"))
        }
        (None, 0) => Err("expected an operand, found none".into()),
        _ => Ok(operands),
    }
}

/// How many operands an operation has; `None` for one or more.
fn arity(op: &Op) -> Option<usize> {
    match op {
        Op::Scalar(_) | Op::Constant(_) | Op::Input(_) | Op::IndexInput(_) => Some(0),
        Op::Binary(_) | Op::Gather | Op::ScatterAdd | Op::MatMul(_) | Op::Solve(_) => Some(2),
        Op::Select => Some(3),
        Op::Concat { .. } => None,
        _ => Some(1),
    }
}

/// Checks the preconditions of the constructors.
fn check_step(
    step: &RecordedStep,
    operands: &[Expr<'_>],
    parts: &RecordingParts,
) -> Result<(), String> {
    let shape = step.shape;
    let of = |k: usize| operands[k].shape();
    let fits = match step.op {
        _ if !is_short(shape) => false,
        Op::Constant(place) => {
            (parts.constants.get(place as usize)).is_some_and(|values| values.len() == shape.size())
        }
        Op::Input(place) => is_input(parts, place, shape, InputKind::Numbers),
        Op::IndexInput(place) => is_input(parts, place, shape, InputKind::Indices),
        Op::Unary(Unary::Polygamma(order)) => order <= MOST_DERIVATIVES,
        Op::Slice { axis, start } => {
            axis < shape.rank() && of(0).rank() == shape.rank() && start < LONGEST
        }
        Op::Pad { axis, start } => is_padded(of(0), shape, axis, start),
        Op::Reduce { first, count, .. } => first <= of(0).rank() && count <= of(0).rank() - first,
        Op::CumulativeSum(_) | Op::ScatterAdd => shape.rank() > 0,
        Op::MatMul(op) => {
            let matrices = of(0).rank() == 2 && of(1).rank() == 2;
            matrices && op.a.dims(of(0)).1 == op.b.dims(of(1)).0
        }
        Op::Solve(_) => match (of(0).dims(), of(1).dims()) {
            ([m, n], [_, k]) => m == n && n == k,
            _ => false,
        },
        _ => true,
    };
    if fits {
        return Ok(());
    }
    Err(format!("{} does not give shape {shape}", step.op.name()))
}

fn is_input(parts: &RecordingParts, place: u32, shape: Shape, kind: InputKind) -> bool {
    let input = parts.inputs.get(place as usize);
    input.is_some_and(|input| input.kind == kind && input.shape == shape)
}

fn is_padded(part: Shape, whole: Shape, axis: usize, start: usize) -> bool {
    if axis >= whole.rank() || part.rank() != whole.rank() || start >= LONGEST {
        return false;
    }
    let end = AxisLength(start + part.dims()[axis]);
    end.is_within(AxisLength(whole.dims()[axis]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    /// A recording with every kind of operation.
    fn recording() -> RecordedProgram {
        let graph = Graph::new();
        let (x, w) = (graph.input("x", [ROWS, 3]), graph.input("w", [3]));
        let (effect, group) = (graph.input("effect", [4]), graph.index_input("group", ROWS));
        let shift = graph.constant([2], &[1.0, 2.0]);
        let logit = x.dot(w) + effect.at(group) + shift.dot(w.slice(0, 0..2));
        let matrix = w.outer(w) + graph.full([3], 1.0).diagonal_matrix();
        let solved = matrix.cholesky().solve_lower(w).cumulative_sum();
        let total = (logit.softplus().tanh() * solved.sum()).mean() + x.max_axis(0).sum();
        let wide = graph.concat(&[x, logit.reshape([ROWS, 1])], 1);
        let chosen = logit
            .less(graph.scalar(0.0))
            .select(logit, logit.lgamma().digamma());
        let outputs = [
            ("logit", logit),
            ("total", total),
            ("wide", wide),
            ("chosen", chosen),
        ];
        RecordedProgram::from_outputs(&graph, &outputs)
    }

    fn run(recording: &RecordedProgram, rows: usize) -> Vec<Vec<f64>> {
        let graph = Graph::new();
        let shape = |place: usize| recording.input(place).1.resolve(rows);
        let inputs: Vec<Expr<'_>> = (0..recording.n_inputs())
            .map(|place| {
                if recording.is_index(place) {
                    return graph.index_input("i", rows).expr();
                }
                graph.input("x", shape(place))
            })
            .collect();
        let outputs: Vec<usize> = (0..recording.n_outputs()).collect();
        let exprs = recording.replay(&graph, &outputs, &|place| inputs[place], rows);
        let plan = Plan::new(&exprs, 1);
        let mut workspace = plan.workspace();
        for (place, input) in inputs.iter().enumerate() {
            let Some(slot) = plan.input(*input) else {
                continue;
            };
            if recording.is_index(place) {
                workspace.indices_mut(slot).fill(1);
            } else {
                let values: Vec<f64> = (0..shape(place).size()).map(|k| k as f64 * 0.1).collect();
                workspace.set(slot, &values);
            }
        }
        plan.run(&mut workspace);
        (0..exprs.len())
            .map(|k| workspace.output(k).to_vec())
            .collect()
    }

    #[test]
    fn what_is_read_back_runs_to_the_same_bits() {
        let recording = recording();
        let bytes = postcard::to_stdvec(&recording).unwrap();
        let again: RecordedProgram = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(again, recording);
        for rows in [1, 2, 7] {
            let (first, second) = (run(&recording, rows), run(&again, rows));
            assert_eq!(first[2].len(), 4 * rows);
            assert_eq!(first, second);
        }
    }

    #[test]
    fn damaged_bytes_are_an_error_or_still_run() {
        let bytes = postcard::to_stdvec(&recording()).unwrap();
        let mut refused = 0;
        for place in 0..bytes.len() {
            for flip in [0x01, 0x02, 0x04, 0x10, 0x40, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[place] ^= flip;
                refused += usize::from(postcard::from_bytes::<RecordedProgram>(&damaged).is_err());
            }
            assert!(postcard::from_bytes::<RecordedProgram>(&bytes[..place]).is_err());
        }
        assert!(
            refused > 3 * bytes.len(),
            "{refused} of {}",
            7 * bytes.len()
        );
    }
}
