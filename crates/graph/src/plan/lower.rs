//! From nodes to instructions.

use super::grid::{self, Lay};
use super::instruction::{
    Address, Dim, Extent, Fused, IndexAddress, Instruction, Mat, Tail, Write,
};
use super::memory::Memory;
use super::schedule::{Role, Schedule};
use crate::primitive::matmul::{Lanes, MatMul, Read};
use crate::primitive::{Binary, Op, Reduction};
use crate::shape::Shape;

/// An operand as an instruction sees it.
#[derive(Clone, Copy)]
struct Operand {
    at: Address,
    lane: Extent,
    shape: Shape,
}

impl Operand {
    fn lay(&self) -> Lay {
        Lay {
            shape: self.shape,
            lane: self.lane,
        }
    }

    /// The operand from a further flat place on.
    fn from(mut self, offset: usize) -> Operand {
        self.at.offset += offset;
        self
    }
}

/// Writes the instructions of one node after another.
pub(crate) struct Lower<'a> {
    pub(crate) schedule: &'a Schedule<'a>,
    pub(crate) memory: &'a Memory,
    /// The slot of each index input, by node.
    pub(crate) index_slots: &'a [Option<usize>],
}

impl Lower<'_> {
    fn streamed(&self, place: usize) -> bool {
        self.schedule.slots[place].role != Role::Plain
    }

    fn lanes(&self, place: usize) -> Extent {
        if self.schedule.laned[place] {
            Extent::LANES
        } else {
            Extent::ONE
        }
    }

    fn shape(&self, place: usize) -> Shape {
        self.schedule.nodes[place].shape
    }

    /// The leading axis: the rows of the block where streamed.
    fn leading(&self, place: usize, length: usize) -> Extent {
        if self.streamed(place) {
            Extent::ROWS
        } else {
            Extent::fixed(length)
        }
    }

    fn result(&self, place: usize) -> Operand {
        let shape = self.shape(place);
        let laned = self.schedule.laned[place];
        if self.schedule.crosses_lanes(place) {
            let at = self.memory.part(place);
            return Operand {
                at,
                lane: Extent::ZERO,
                shape,
            };
        }
        if self.schedule.slots[place].role == Role::Tail {
            let lane = if laned {
                Extent::fixed(shape.size())
            } else {
                Extent::ZERO
            };
            return Operand {
                at: self.memory.strip(place),
                lane,
                shape,
            };
        }
        let at = self.memory.address(place, self.streamed(place));
        let lane = if laned {
            self.memory.buffer(place).lane
        } else {
            Extent::ZERO
        };
        Operand { at, lane, shape }
    }

    fn operand(&self, user: usize, k: usize) -> Operand {
        let place = self.schedule.input(user, k);
        let streamed = self.streamed(user) && self.schedule.aligned(user, k);
        let laned = self.schedule.laned[place];
        Operand {
            at: self.memory.address(place, streamed),
            lane: if laned {
                self.memory.buffer(place).lane
            } else {
                Extent::ZERO
            },
            shape: self.shape(place),
        }
    }

    fn write(&self, place: usize) -> Write {
        match self.schedule.slots[place].role {
            Role::Tail => Write::Accumulate,
            _ => Write::Replace,
        }
    }

    fn grid(&self, place: usize, shape: Shape, operands: &[Operand]) -> super::instruction::Grid {
        let lays: Vec<Lay> = operands.iter().map(Operand::lay).collect();
        grid::elementwise(
            shape,
            &lays,
            self.schedule.laned[place],
            self.streamed(place),
        )
    }

    /// The instructions that compute `place`.
    pub(crate) fn instructions(&self, place: usize) -> Vec<Instruction> {
        let node = &self.schedule.nodes[place];
        match &node.op {
            Op::Unary(op) => {
                let all = [self.result(place), self.operand(place, 0)];
                let grid = self.grid(place, node.shape, &all);
                vec![Instruction::Unary {
                    op: *op,
                    to: all.map(|o| o.at),
                    grid,
                }]
            }
            Op::Binary(op) => vec![self.binary(place, *op)],
            Op::Select => {
                let operand = |k| self.operand(place, k);
                let all = [self.result(place), operand(0), operand(1), operand(2)];
                let grid = self.grid(place, node.shape, &all);
                vec![Instruction::Select {
                    to: all.map(|o| o.at),
                    grid,
                }]
            }
            Op::Broadcast | Op::Slice { .. } | Op::Transpose | Op::Diagonal => {
                vec![self.copy_out(place)]
            }
            Op::Pad { .. } | Op::DiagonalMatrix => self.copy_into_zeros(place),
            Op::Concat { axis } => self.concat(place, *axis),
            Op::Reduce { by, first, count } => vec![self.reduce(place, *by, *first, *count)],
            Op::CumulativeSum(direction) => {
                let (out, x) = (self.result(place), self.operand(place, 0));
                let length = *node.shape.dims().last().expect("checked when built");
                vec![Instruction::CumulativeSum {
                    direction: *direction,
                    to: [out.at, x.at],
                    lanes: [self.lanes(place), out.lane, x.lane],
                    count: node.shape.size() / length.max(1),
                    length,
                }]
            }
            Op::Gather | Op::ScatterAdd => self.by_index(place),
            Op::MatMul(op) => vec![self.matmul(place, *op)],
            Op::Cholesky => {
                let (out, x) = (self.result(place), self.operand(place, 0));
                vec![Instruction::Cholesky {
                    to: [out.at, x.at],
                    lanes: [self.lanes(place), out.lane, x.lane],
                    side: node.shape.dims()[0],
                }]
            }
            Op::Solve(op) => {
                let (out, l, b) = (
                    self.result(place),
                    self.operand(place, 0),
                    self.operand(place, 1),
                );
                vec![Instruction::Solve {
                    form: op.form,
                    to: [out.at, l.at, b.at],
                    lanes: [self.lanes(place), out.lane, l.lane, b.lane],
                    rows: self.leading(place, node.shape.dims()[0]),
                    side: node.shape.dims()[1],
                }]
            }
            Op::Tril(offset) => {
                let (out, x) = (self.result(place), self.operand(place, 0));
                vec![Instruction::Tril {
                    offset: *offset,
                    to: [out.at, x.at],
                    lanes: [self.lanes(place), out.lane, x.lane],
                    side: [node.shape.dims()[0], node.shape.dims()[1]],
                }]
            }
            Op::SumLanes => vec![self.sum_lanes(place)],
            _ => unreachable!("{} is not computed", node.op.name()),
        }
    }

    fn binary(&self, place: usize, op: Binary) -> Instruction {
        let absorbed =
            (0..2).find(|&k| self.schedule.slots[self.schedule.input(place, k)].absorbed);
        let shape = self.shape(place);
        let Some(k) = absorbed else {
            let all = [
                self.result(place),
                self.operand(place, 0),
                self.operand(place, 1),
            ];
            let grid = self.grid(place, shape, &all);
            return Instruction::Binary {
                op,
                to: all.map(|o| o.at),
                grid,
            };
        };
        let product = self.schedule.input(place, k);
        let fused = match (op, k) {
            (Binary::Add, _) => Fused::MulAdd,
            (_, 0) => Fused::MulSub,
            _ => Fused::NegMulAdd,
        };
        let last = self.schedule.nodes[product].inputs.len() - 1;
        let all = [
            self.result(place),
            self.operand(product, 0),
            self.operand(product, last),
            self.operand(place, 1 - k),
        ];
        let grid = self.grid(place, shape, &all);
        Instruction::Fused {
            op: fused,
            to: all.map(|o| o.at),
            grid,
        }
    }

    /// Reads the operand in another order than it is written.
    fn copy_out(&self, place: usize) -> Instruction {
        let (out, x) = (self.result(place), self.operand(place, 0));
        let shape = self.shape(place);
        match self.schedule.nodes[place].op {
            Op::Slice { axis, start } => {
                let x = x.from(start * x.shape.inner(axis + 1));
                let grid = self.grid(place, shape, &[out, x]);
                Instruction::Copy {
                    to: [out.at, x.at],
                    grid,
                }
            }
            Op::Transpose => {
                let (m, n) = (shape.dims()[0], shape.dims()[1]);
                let dims = [(m, [n, 1]), (n, [1, m])];
                self.copy(place, out, x, &dims)
            }
            Op::Diagonal => {
                let n = shape.dims()[0];
                self.copy(place, out, x, &[(n, [1, n + 1])])
            }
            _ => {
                let grid = self.grid(place, shape, &[out, x]);
                Instruction::Copy {
                    to: [out.at, x.at],
                    grid,
                }
            }
        }
    }

    /// A copy with given lengths and steps, inside the loop over lanes.
    fn copy(
        &self,
        place: usize,
        out: Operand,
        x: Operand,
        dims: &[(usize, [usize; 2])],
    ) -> Instruction {
        let mut all: Vec<Dim> = Vec::new();
        if self.schedule.laned[place] {
            let lane = [out.lane, x.lane];
            all.push(grid::dim(Extent::LANES, 2, |k| lane[k]));
        }
        for (length, steps) in dims {
            all.push(grid::dim(Extent::fixed(*length), 2, |k| {
                Extent::fixed(steps[k])
            }));
        }
        Instruction::Copy {
            to: [out.at, x.at],
            grid: grid::merged(all),
        }
    }

    fn zeros(&self, place: usize, out: Operand) -> Instruction {
        let rows = match self.streamed(place) {
            true => Extent::fixed(out.shape.inner(1)).times(Extent::ROWS),
            false => Extent::fixed(out.shape.size()),
        };
        Instruction::Fill {
            to: out.at,
            count: rows.times(self.lanes(place)),
            value: 0.0,
        }
    }

    fn copy_into_zeros(&self, place: usize) -> Vec<Instruction> {
        let (out, x) = (self.result(place), self.operand(place, 0));
        let zeros = self.zeros(place, out);
        let copy = match self.schedule.nodes[place].op {
            Op::Pad { axis, start } => {
                let to = out.from(start * out.shape.inner(axis + 1));
                let grid = self.grid(place, x.shape, &[to, x]);
                Instruction::Copy {
                    to: [to.at, x.at],
                    grid,
                }
            }
            _ => {
                let n = x.shape.dims()[0];
                self.copy(place, out, x, &[(n, [n + 1, 1])])
            }
        };
        vec![zeros, copy]
    }

    fn concat(&self, place: usize, axis: usize) -> Vec<Instruction> {
        let out = self.result(place);
        let inner = out.shape.inner(axis + 1);
        let mut start = 0;
        let parts = 0..self.schedule.nodes[place].inputs.len();
        parts
            .map(|k| {
                let x = self.operand(place, k);
                let to = out.from(start * inner);
                start += x.shape.dims()[axis];
                let grid = self.grid(place, x.shape, &[to, x]);
                Instruction::Copy {
                    to: [to.at, x.at],
                    grid,
                }
            })
            .collect()
    }

    fn reduce(&self, place: usize, by: Reduction, first: usize, count: usize) -> Instruction {
        let input = self.schedule.input(place, 0);
        if self.schedule.slots[input].absorbed {
            return self.dot(place, input);
        }
        let (out, x) = (self.result(place), self.operand(place, 0));
        let dims = x.shape.dims();
        let fixed = |axes: std::ops::Range<usize>| Extent::fixed(dims[axes].iter().product());
        let (outer, length) = match (self.streamed(place), first) {
            (false, _) => (fixed(0..first), fixed(first..first + count)),
            (true, 0) => (Extent::ONE, fixed(1..count).times(Extent::ROWS)),
            (true, _) => (
                fixed(1..first).times(Extent::ROWS),
                fixed(first..first + count),
            ),
        };
        Instruction::Reduce {
            by,
            to: [out.at, x.at],
            lanes: [self.lanes(place), out.lane, x.lane],
            outer,
            length,
            inner: x.shape.inner(first + count),
            write: self.write(place),
        }
    }

    fn dot(&self, place: usize, product: usize) -> Instruction {
        let out = self.result(place);
        let x = self.operand(product, 0);
        let last = self.schedule.nodes[product].inputs.len() - 1;
        let y = self.operand(product, last);
        let shape = self.shape(product);
        let length = match self.streamed(place) {
            true => Extent::fixed(shape.inner(1)).times(Extent::ROWS),
            false => Extent::fixed(shape.size()),
        };
        Instruction::Dot {
            to: [out.at, x.at, y.at],
            lanes: [self.lanes(place), out.lane, x.lane, y.lane],
            length,
            write: self.write(place),
        }
    }

    fn by_index(&self, place: usize) -> Vec<Instruction> {
        let (out, x) = (self.result(place), self.operand(place, 0));
        let column = self.schedule.input(place, 1);
        let streamed = self.streamed(place);
        let indices = IndexAddress {
            slot: self.index_slots[column].expect("an index input has a slot"),
            per_block: if streamed { self.schedule.block } else { 0 },
        };
        let count = self.leading(place, self.shape(column).size());
        let lanes = [self.lanes(place), out.lane, x.lane];
        let width = out.shape.inner(1);
        let to = [out.at, x.at];
        if self.schedule.nodes[place].op == Op::Gather {
            let rows = x.shape.dims()[0];
            return vec![Instruction::Gather {
                to,
                lanes,
                indices,
                count,
                width,
                rows,
            }];
        }
        let rows = out.shape.dims()[0];
        let add = Instruction::ScatterAdd {
            to,
            lanes,
            indices,
            count,
            width,
            rows,
        };
        match streamed {
            true => vec![add],
            false => vec![self.zeros(place, out), add],
        }
    }

    fn sum_lanes(&self, place: usize) -> Instruction {
        let (out, x) = (self.result(place), self.operand(place, 0));
        let crosses = self.schedule.crosses_lanes(place);
        let lanes = if crosses {
            Extent::LANES
        } else {
            Extent::fixed(self.schedule.lanes)
        };
        Instruction::SumLanes {
            to: [out.at, x.at],
            lanes: [lanes, x.lane],
            size: out.shape.size(),
        }
    }

    fn matmul(&self, place: usize, op: MatMul) -> Instruction {
        let (a, b, c) = (
            self.operand(place, 0),
            self.operand(place, 1),
            self.result(place),
        );
        let streamed = self.streamed(place);
        let (m, k) = op.a.dims(a.shape);
        let n = c.shape.dims()[1];
        let tail = self.schedule.slots[place].role == Role::Tail;
        let rows = |length: usize, here: bool| {
            if streamed && here {
                Extent::ROWS
            } else {
                Extent::fixed(length)
            }
        };
        let product = Product {
            a: matrix(a, op.a),
            b: matrix(b, op.b),
            c: matrix(c, Read::Plain),
            dims: [rows(m, !tail), Extent::fixed(n), rows(k, tail)],
            write: self.write(place),
        };
        let summed = op.lanes == Lanes::Summed;
        let any_lanes = summed || self.schedule.laned[place];
        match any_lanes && self.schedule.lanes > 1 {
            true => product.over_lanes(summed),
            false => product.once(),
        }
    }

    /// Where a streamed reduction collects, and where its total goes.
    pub(crate) fn tail(&self, place: usize) -> Option<Tail> {
        if self.schedule.slots[place].role != Role::Tail {
            return None;
        }
        let by = match self.schedule.nodes[place].op {
            Op::Reduce { by, .. } => by,
            _ => Reduction::Sum,
        };
        Some(Tail {
            by,
            strip: self.memory.strip(place),
            total: self.memory.address(place, false),
            size: Extent::fixed(self.shape(place).size()).times(self.lanes(place)),
        })
    }

    /// The sum of the lane blocks' parts.
    pub(crate) fn combine(&self, place: usize) -> Instruction {
        Instruction::Combine {
            to: [self.memory.address(place, false), self.memory.part(place)],
            size: self.shape(place).size(),
        }
    }

    /// A copy of a node to where an output is shown.
    pub(crate) fn export(&self, place: usize, to: Address, lane: Extent) -> Instruction {
        let laned = self.schedule.laned[place];
        let x = Operand {
            at: self.memory.address(place, false),
            lane: if laned {
                self.memory.buffer(place).lane
            } else {
                Extent::ZERO
            },
            shape: self.shape(place),
        };
        let out = Operand {
            at: to,
            lane,
            shape: x.shape,
        };
        let grid = grid::elementwise(x.shape, &[out.lay(), x.lay()], laned, false);
        Instruction::Copy {
            to: [to, x.at],
            grid,
        }
    }
}

fn matrix(x: Operand, read: Read) -> Mat {
    let columns = Extent::fixed(x.shape.dims()[1]);
    let (row, col) = match read {
        Read::Plain => (columns, Extent::ONE),
        Read::Transposed => (Extent::ONE, columns),
    };
    Mat {
        at: x.at,
        row,
        col,
        batch: x.lane,
    }
}

/// A product before it is decided how lanes enter it.
struct Product {
    a: Mat,
    b: Mat,
    c: Mat,
    dims: [Extent; 3],
    write: Write,
}

impl Product {
    fn once(self) -> Instruction {
        self.batched(Extent::ONE)
    }

    fn batched(self, batch: Extent) -> Instruction {
        Instruction::MatMul {
            a: self.a,
            b: self.b,
            c: self.c,
            dims: self.dims,
            batch,
            write: self.write,
        }
    }

    /// Lanes become rows of one larger product where their layout allows, else a loop.
    fn over_lanes(mut self, summed: bool) -> Instruction {
        let [m, n, k] = self.dims;
        let (a, b) = (self.a, self.b);
        if summed && k == Extent::ONE {
            // Σ over lanes of outer products: the lanes are what is contracted.
            self.a.col = a.batch;
            self.b.row = b.batch;
            self.dims[2] = Extent::LANES;
            return self.once();
        }
        if !summed && a.batch == Extent::ZERO && n == Extent::ONE {
            // A z for each lane's z: the vectors are the rows of a matrix, which meets Aᵀ.
            self.a = Mat {
                row: b.batch,
                col: b.row,
                ..b
            };
            self.b = Mat {
                row: a.col,
                col: a.row,
                ..a
            };
            self.c = Mat {
                row: self.c.batch,
                col: self.c.row,
                ..self.c
            };
            self.dims = [Extent::LANES, m, k];
            return self.once();
        }
        self.batched(Extent::LANES)
    }
}
