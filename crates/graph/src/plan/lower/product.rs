//! Matrix products, and the role of lanes in them.

use super::super::schedule::LoopRole;
use super::{LocatedOperand, Lower};
use crate::instruction::{Extent, Instruction, Mat, Products};
use crate::primitive::matmul::{LaneTreatment, MatMul, Read};

impl Lower<'_> {
    pub(super) fn lower_matmul(&self, place: usize, op: MatMul) -> Instruction {
        let (a, b) = (self.input_operand(place, 0), self.input_operand(place, 1));
        let c = self.result_operand(place);
        // A transposed copy has padding columns; the result's shape gives the columns that count.
        let (m, k) = (c.shape.dims()[0], op.a.dims(a.shape).1);
        // A streamed product has the rows of the table as its rows; a tail contracts them.
        let (m, k) = match self.schedule.slots[place].role {
            LoopRole::Plain => (Extent::fixed(m), Extent::fixed(k)),
            LoopRole::Map => (Extent::ROWS, Extent::fixed(k)),
            LoopRole::Tail => (Extent::fixed(m), Extent::ROWS),
        };
        let products = Products {
            a: matrix_operand(a, op.a),
            b: matrix_operand(b, op.b),
            c: matrix_operand(c, Read::Plain),
            dims: [m, Extent::fixed(c.shape.dims()[1]), k],
            batch: Extent::ONE,
            write: self.write_mode(place),
        };
        let summed = op.lanes == LaneTreatment::Summed;
        let laned = self.schedule.lanes > 1 && (summed || self.schedule.laned[place]);
        let products = match op.lanes {
            _ if !laned => products,
            LaneTreatment::Summed => products.summed_over_lanes(),
            LaneTreatment::Kept => products.per_lane(),
        };
        Instruction::MatMul(Box::new(products))
    }
}

fn matrix_operand(x: LocatedOperand, read: Read) -> Mat {
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

impl Products {
    /// One product per lane: one larger product where the lanes' layout allows, else a batch.
    fn per_lane(mut self) -> Products {
        let [m, n, k] = self.dims;
        let (a, b, c) = (self.a, self.b, self.c);
        if a.batch != Extent::ZERO || n != Extent::ONE {
            self.batch = Extent::LANES;
            return self;
        }
        // A z for each lane's z: the vectors are the rows of a matrix, which is multiplied by Aᵀ.
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
            row: c.batch,
            col: c.row,
            ..c
        };
        self.dims = [Extent::LANES, m, k];
        self
    }

    /// The sum of the lanes' products: the contraction includes the lanes where their layout
    /// allows.
    fn summed_over_lanes(mut self) -> Products {
        let k = self.dims[2];
        let follows = |step: Extent, lane: Extent| lane == step.times(k);
        if follows(self.a.col, self.a.batch) && follows(self.b.row, self.b.batch) {
            self.dims[2] = k.times(Extent::LANES);
        } else if k == Extent::ONE {
            self.a.col = self.a.batch;
            self.b.row = self.b.batch;
            self.dims[2] = Extent::LANES;
        } else {
            self.batch = Extent::LANES;
        }
        self
    }
}
