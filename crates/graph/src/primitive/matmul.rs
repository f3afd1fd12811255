//! The matrix product with either side transposed, batched over lanes or summed over them.

use serde::{Deserialize, Serialize};

use super::{Application, Event, Op};
use crate::expr::{Expr, add_parts};
use crate::shape::Shape;
use crate::simplify;

/// Whether an operand is read as it is or transposed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Read {
    Plain,
    Transposed,
}

impl Read {
    pub(crate) fn flipped(self) -> Read {
        match self {
            Read::Plain => Read::Transposed,
            Read::Transposed => Read::Plain,
        }
    }

    /// Rows and columns as the product sees them.
    pub(crate) fn dims(self, shape: Shape) -> (usize, usize) {
        let (m, n) = (shape.dims()[0], shape.dims()[1]);
        match self {
            Read::Plain => (m, n),
            Read::Transposed => (n, m),
        }
    }
}

/// The treatment of the lanes of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum LaneTreatment {
    /// One product per lane.
    Kept,
    /// The sum of the lanes' products: lanes join the contraction.
    Summed,
}

/// A matrix product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct MatMul {
    pub(crate) a: Read,
    pub(crate) b: Read,
    pub(crate) lanes: LaneTreatment,
}

impl MatMul {
    pub(crate) fn name(self) -> String {
        let mark = |read| if read == Read::Plain { "" } else { "ᵀ" };
        let sum = match self.lanes {
            LaneTreatment::Summed => " over lanes",
            LaneTreatment::Kept => "",
        };
        format!("matmul A{} B{}{sum}", mark(self.a), mark(self.b))
    }

    pub(crate) fn pullback<'g>(
        self,
        site: &Application<'_, 'g>,
        c: Expr<'g>,
        k: usize,
    ) -> Expr<'g> {
        let (a, b) = (site.inputs[0], site.inputs[1]);
        // Ā = C̄ op(B)ᵀ or its transpose, B̄ = op(A)ᵀ C̄ or its transpose.
        match (k, self.a, self.b) {
            (0, Read::Plain, read) => matrix_product(c, Read::Plain, b, read.flipped()),
            (0, Read::Transposed, read) => matrix_product(b, read, c, Read::Transposed),
            (_, read, Read::Plain) => matrix_product(a, read.flipped(), c, Read::Plain),
            (_, read, Read::Transposed) => matrix_product(c, Read::Transposed, a, read),
        }
    }

    pub(crate) fn pushforward<'g>(
        self,
        site: &Application<'_, 'g>,
        tangents: &[Option<Expr<'g>>],
    ) -> Option<Expr<'g>> {
        let left = tangents[0].map(|t| self.apply_to(t, site.inputs[1]));
        let right = tangents[1].map(|t| self.apply_to(site.inputs[0], t));
        add_parts(left, right)
    }

    pub(crate) fn apply_to<'g>(self, a: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
        let c = matrix_product(a, self.a, b, self.b);
        match self.lanes {
            LaneTreatment::Kept => c,
            LaneTreatment::Summed => c.sum_lanes(),
        }
    }

    pub(super) fn reference_values(self, inputs: &[Event<'_>], shape: Shape) -> Vec<f64> {
        let (a, b) = (inputs[0], inputs[1]);
        let (m, k) = self.a.dims(a.shape);
        let n = shape.dims()[1];
        let at = |x: Event<'_>, read: Read, i: usize, j: usize| match read {
            Read::Plain => x.values[i * x.shape.dims()[1] + j],
            Read::Transposed => x.values[j * x.shape.dims()[1] + i],
        };
        let mut values = vec![0.0; m * n];
        for (place, out) in values.iter_mut().enumerate() {
            let (i, j) = (place / n, place % n);
            *out = (0..k)
                .map(|l| at(a, self.a, i, l) * at(b, self.b, l, j))
                .sum();
        }
        values
    }
}

/// The product of two matrices that fit, each read plain or transposed.
pub(crate) fn matrix_product<'g>(a: Expr<'g>, read_a: Read, b: Expr<'g>, read_b: Read) -> Expr<'g> {
    let (m, k) = read_a.dims(a.shape());
    let (l, n) = read_b.dims(b.shape());
    assert_eq!(k, l, "shapes are checked where a product is asked for");
    let op = MatMul {
        a: read_a,
        b: read_b,
        lanes: LaneTreatment::Kept,
    };
    let shape = Shape::from([m, n]);
    simplify::matmul(op, a, b, shape)
        .unwrap_or_else(|| a.graph().build(Op::MatMul(op), &[a, b], shape))
}

impl<'g> Expr<'g> {
    /// The matrix product. A vector on the left is a row, on the right a column; the result
    /// has no axis for either, so two vectors give their inner product.
    #[must_use]
    #[track_caller]
    pub fn dot(self, other: Expr<'g>) -> Expr<'g> {
        let (a, b) = (self.shape(), other.shape());
        let (left, right) = match (a.dims(), b.dims()) {
            ([k], _) => (self.reshape([1, *k]), other),
            _ => (self, other),
        };
        let right = match b.dims() {
            [k] => right.reshape([*k, 1]),
            _ => right,
        };
        if left.shape().rank() != 2 || right.shape().rank() != 2 {
            return self.graph().fail(format!(
                "dot: expects vectors or matrices, found shapes {a} and {b}"
            ));
        }
        let (columns, rows) = (left.shape().dims()[1], right.shape().dims()[0]);
        if columns != rows {
            return self.graph().fail(format!(
                "dot: shapes {a} and {b} do not fit: {columns} columns meet {rows} rows"
            ));
        }
        let c = matrix_product(left, Read::Plain, right, Read::Plain);
        let (m, n) = (c.shape().dims()[0], c.shape().dims()[1]);
        match (a.rank(), b.rank()) {
            (1, 1) => c.reshape(()),
            (1, _) => c.reshape([n]),
            (_, 1) => c.reshape([m]),
            _ => c,
        }
    }

    /// The matrix `self otherᵀ` of two vectors.
    #[must_use]
    #[track_caller]
    pub fn outer(self, other: Expr<'g>) -> Expr<'g> {
        let (m, n) = (self.shape().size(), other.shape().size());
        self.reshape([m, 1]).dot(other.reshape([1, n]))
    }
}
