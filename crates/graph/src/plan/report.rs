//! A readable summary of a plan.

use std::collections::BTreeMap;
use std::fmt;

use super::Plan;
use super::schedule::ExecutionSchedule;
use crate::instruction::{Arithmetic, Instruction, PhaseStep};
use crate::primitive::{Op, Unary};

/// Kernels, memory and arithmetic of a plan.
#[derive(Clone, Debug)]
pub struct PlanReport {
    /// How often each kind of kernel is called in a run (once per lane or row block).
    pub kernels: BTreeMap<String, usize>,
    /// Row loops.
    pub row_loops: usize,
    /// Bytes of all memory spaces, lent inputs not counted.
    pub arena_bytes: usize,
    /// Floating-point operations of a run, functions such as exp counted as twenty.
    pub flops: u64,
}

impl PlanReport {
    pub(super) fn new(plan: &Plan) -> PlanReport {
        let mut report = PlanReport {
            kernels: BTreeMap::new(),
            row_loops: 0,
            arena_bytes: 8 * plan.size(),
            flops: 0,
        };
        for phase in &plan.phases {
            let lanes = if phase.laned { plan.lanes as u64 } else { 1 };
            let flops = phase.flops.saturating_mul(lanes);
            report.flops = report.flops.saturating_add(flops);
            for step in &phase.steps {
                let list = match step {
                    PhaseStep::Block(list) | PhaseStep::Lanes { list, .. } => list,
                    PhaseStep::Rows(rows) => {
                        report.row_loops += 1;
                        &rows.body
                    }
                };
                for instruction in list {
                    report.count_instruction(instruction);
                }
            }
        }
        report
    }

    fn count_instruction(&mut self, instruction: &Instruction) {
        let mut one = |name| *self.kernels.entry(name).or_default() += 1;
        match instruction {
            Instruction::Sequence(list) => list.iter().for_each(|short| one(name_of(short.op))),
            other => one(name(other)),
        }
    }

    /// How many kernels there are.
    pub fn n_kernels(&self) -> usize {
        self.kernels.values().sum()
    }
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} kernels, {} row loops, {} bytes, {} flops",
            self.n_kernels(),
            self.row_loops,
            self.arena_bytes,
            self.flops
        )?;
        for (name, count) in &self.kernels {
            writeln!(f, "{count:6} {name}")?;
        }
        Ok(())
    }
}

fn name_of(op: Arithmetic) -> String {
    format!("{op:?}").to_lowercase()
}

fn name(instruction: &Instruction) -> String {
    match instruction {
        Instruction::Unary { op, .. } => op.name(),
        Instruction::Binary { op, .. } => op.name().into(),
        Instruction::Arithmetic { op, .. } => name_of(*op),
        Instruction::Sequence(_) => "sequence".into(),
        Instruction::Logistic { .. } => "softplus and sigmoid".into(),
        Instruction::Copy { .. } => "copy".into(),
        Instruction::Fill { .. } => "fill".into(),
        Instruction::Reduce { by, .. } => by.name().into(),
        Instruction::Dot { .. } => "dot".into(),
        Instruction::CumulativeSum { .. } => "cumulative sum".into(),
        Instruction::Gather { .. } => "gather".into(),
        Instruction::ScatterAdd { .. } => "scatter add".into(),
        Instruction::MatMul(_) => "matmul".into(),
        Instruction::Cholesky { .. } => "cholesky".into(),
        Instruction::Solve { .. } => "solve".into(),
        Instruction::Tril { .. } => "tril".into(),
        Instruction::SumLanes { .. } => "sum lanes".into(),
        Instruction::Combine { .. } => "combine".into(),
    }
}

/// Arithmetic of one node, per lane.
pub(super) fn count_flops(schedule: &ExecutionSchedule<'_>, place: usize) -> u64 {
    let node = &schedule.nodes[place];
    let size = node.shape.size() as u64;
    let first = || schedule.nodes[node.inputs[0].index()].shape;
    match node.op {
        Op::Unary(Unary::Neg | Unary::Abs | Unary::Square | Unary::Sign) => size,
        Op::Unary(_) => size.saturating_mul(20),
        Op::MatMul(op) => size.saturating_mul(2 * op.a.dims(first()).1 as u64),
        Op::Reduce { .. } | Op::ScatterAdd => first().size() as u64,
        Op::Cholesky => size.saturating_mul(node.shape.dims()[0] as u64) / 3,
        Op::Solve(_) => size.saturating_mul(node.shape.dims()[1] as u64),
        _ => size,
    }
}
