//! Packs neighbouring instructions into one.
//!
//! Arithmetic on short arrays: a chain in few dimensions runs hundreds of such instructions per
//! step, and reading and dispatching them one by one would cost more than the arithmetic. Softplus
//! and sigmoid of one operand: a log likelihood and its slope share the exponential.

use crate::instruction::{Dim, Extent, Instruction, LoopGrid, PhaseStep, Short};
use crate::primitive::Unary;

impl PhaseStep {
    /// The same step with neighbouring instructions packed.
    pub(crate) fn pack_step(self) -> PhaseStep {
        match self {
            PhaseStep::Block(list) => PhaseStep::Block(pack_instructions(pair_instructions(list))),
            PhaseStep::Lanes { group, list } => PhaseStep::Lanes {
                group,
                list: pack_instructions(pair_instructions(list)),
            },
            PhaseStep::Rows(mut rows) => {
                rows.body = pair_instructions(rows.body);
                PhaseStep::Rows(rows)
            }
        }
    }
}

/// The same work, with neighbouring instructions packed.
pub(crate) fn pack_instructions(list: Vec<Instruction>) -> Vec<Instruction> {
    let mut packed = Vec::new();
    for instruction in list {
        let short = match &instruction {
            Instruction::Arithmetic { op, to, grid } => Short::new(*op, to, grid),
            _ => None,
        };
        match (short, packed.last_mut()) {
            (Some(short), Some(Instruction::Sequence(before))) => before.push(short),
            (Some(short), _) => packed.push(Instruction::Sequence(vec![short])),
            (None, _) => packed.push(instruction),
        }
    }
    packed
}

/// The same work, with softplus and sigmoid computed together where they are neighbours.
pub(crate) fn pair_instructions(list: Vec<Instruction>) -> Vec<Instruction> {
    let mut paired: Vec<Instruction> = Vec::with_capacity(list.len());
    for instruction in list {
        match paired
            .last()
            .and_then(|before| fuse_pair(before, &instruction))
        {
            Some(both) => *paired.last_mut().expect("there is one before") = both,
            None => paired.push(instruction),
        }
    }
    paired
}

fn fuse_pair(first: &Instruction, second: &Instruction) -> Option<Instruction> {
    let (
        Instruction::Unary { op, to, grid },
        Instruction::Unary {
            op: next,
            to: and,
            grid: same,
        },
    ) = (first, second)
    else {
        return None;
    };
    let [softplus, sigmoid] = match (op, next) {
        (Unary::Softplus, Unary::Sigmoid) => [to[0], and[0]],
        (Unary::Sigmoid, Unary::Softplus) => [and[0], to[0]],
        _ => return None,
    };
    (to[1] == and[1] && to[0] != to[1] && grid == same).then(|| Instruction::Logistic {
        to: [softplus, sigmoid, to[1]],
        grid: with_two_results(grid),
    })
}

/// The grid of a result and an operand, changed to have two results of the same layout.
fn with_two_results(grid: &LoopGrid) -> LoopGrid {
    let outer = grid.outer.iter().map(|dim| {
        let [result, operand, ..] = dim.steps;
        Dim {
            steps: [result, result, operand, Extent::ZERO],
            ..*dim
        }
    });
    let [result, operand, ..] = grid.steps;
    LoopGrid {
        outer: outer.collect(),
        run: grid.run,
        steps: [result, result, operand, 0],
    }
}
