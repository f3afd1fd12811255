//! Neighbouring instructions as one.
//!
//! Arithmetic on short arrays: a chain in few dimensions runs hundreds of such instructions per
//! step, and reading and dispatching them one by one would cost more than they do. Softplus and
//! sigmoid of one operand: a log likelihood and its slope share the exponential.

use super::instruction::{Address, Arithmetic, Dim, Extent, Grid, Instruction, Space};
use crate::primitive::Unary;

/// An address in memory of the plan's own, outside of row loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    offset: u32,
    per_lane: u32,
    /// As [`Space::index`] counts.
    space: u8,
    /// Zero for one number that is repeated.
    step: u8,
}

impl Place {
    fn new(address: Address, step: usize) -> Option<Place> {
        if matches!(address.space, Space::Lent(_)) || address.per_block != 0 {
            return None;
        }
        Some(Place {
            offset: address.offset.try_into().ok()?,
            per_lane: address.per_lane.try_into().ok()?,
            space: address.space.index() as u8,
            step: step.try_into().ok()?,
        })
    }

    pub(crate) fn space(self) -> usize {
        self.space.into()
    }

    /// The offset as seen from lane `first`.
    pub(crate) fn offset(self, first: usize) -> usize {
        self.offset as usize + first * self.per_lane as usize
    }

    pub(crate) fn step(self) -> usize {
        self.step.into()
    }
}

/// One run of arithmetic in the space of a cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Short {
    pub(crate) to: [Place; 4],
    per: u32,
    lanes: bool,
    pub(crate) op: Arithmetic,
}

impl Short {
    fn new(instruction: &Instruction) -> Option<Short> {
        let Instruction::Arithmetic { op, to, grid } = instruction else {
            return None;
        };
        let Extent { per, lanes, rows } = grid.run;
        if rows || !grid.outer.is_empty() {
            return None;
        }
        let place = |k: usize| Place::new(to[k], grid.steps[k]);
        Some(Short {
            to: [place(0)?, place(1)?, place(2)?, place(3)?],
            per: per.try_into().ok()?,
            lanes,
            op: *op,
        })
    }

    /// Numbers of the run in a block of this many lanes.
    pub(crate) fn count(&self, lanes: usize) -> usize {
        self.per as usize * if self.lanes { lanes } else { 1 }
    }
}

/// The same work, with neighbouring instructions packed.
pub(crate) fn packed(list: Vec<Instruction>) -> Vec<Instruction> {
    let mut packed = Vec::new();
    for instruction in list {
        match (Short::new(&instruction), packed.last_mut()) {
            (Some(short), Some(Instruction::Sequence(before))) => before.push(short),
            (Some(short), _) => packed.push(Instruction::Sequence(vec![short])),
            (None, _) => packed.push(instruction),
        }
    }
    packed
}

/// The same work, with softplus and sigmoid computed together where they are neighbours.
pub(crate) fn paired(list: Vec<Instruction>) -> Vec<Instruction> {
    let mut paired: Vec<Instruction> = Vec::with_capacity(list.len());
    for instruction in list {
        match paired.last().and_then(|before| pair(before, &instruction)) {
            Some(both) => *paired.last_mut().expect("there is one before") = both,
            None => paired.push(instruction),
        }
    }
    paired
}

fn pair(first: &Instruction, second: &Instruction) -> Option<Instruction> {
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

/// The grid of a result and an operand, with two results that lie alike.
fn with_two_results(grid: &Grid) -> Grid {
    let outer = grid.outer.iter().map(|dim| {
        let [result, operand, ..] = dim.steps;
        Dim {
            steps: [result, result, operand, Extent::ZERO],
            ..*dim
        }
    });
    let [result, operand, ..] = grid.steps;
    Grid {
        outer: outer.collect(),
        run: grid.run,
        steps: [result, result, operand, 0],
    }
}
