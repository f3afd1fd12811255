//! Triangles and diagonals of matrices.

use super::{Event, Op};
use crate::expr::Expr;

impl<'g> Expr<'g> {
    /// The matrix with zeros above its diagonal shifted right by `offset` columns.
    #[must_use]
    #[track_caller]
    pub fn tril(self, offset: i32) -> Expr<'g> {
        if self.shape().rank() != 2 {
            let found = self.shape();
            return self
                .graph()
                .fail(format!("tril: expects a matrix, found shape {found}"));
        }
        if self.is_filled_with(0.0) || self.op() == Op::Tril(offset) {
            return self;
        }
        self.graph().build(Op::Tril(offset), &[self], self.shape())
    }

    /// The diagonal of a square matrix.
    #[must_use]
    #[track_caller]
    pub fn diagonal(self) -> Expr<'g> {
        match (self.matrix_side("diagonal"), self.op()) {
            (Err(stand_in), _) => stand_in,
            (Ok(_), Op::DiagonalMatrix) => self.operand(0),
            (Ok(n), _) => self.graph().build(Op::Diagonal, &[self], [n].into()),
        }
    }

    /// The square matrix with this vector on its diagonal.
    #[must_use]
    #[track_caller]
    pub fn diagonal_matrix(self) -> Expr<'g> {
        let [n] = *self.shape().dims() else {
            let found = self.shape();
            return self.graph().fail(format!(
                "diagonal_matrix: expects a vector, found shape {found}"
            ));
        };
        if self.is_filled_with(0.0) {
            return self.graph().full([n, n], 0.0);
        }
        self.graph()
            .build(Op::DiagonalMatrix, &[self], [n, n].into())
    }
}

pub(super) fn tril_reference(offset: i32, x: Event<'_>) -> Vec<f64> {
    let n = x.shape.dims()[1];
    let keep = |place: usize| (place % n) as i64 <= (place / n) as i64 + i64::from(offset);
    let values = x.values.iter().enumerate();
    values
        .map(|(place, &value)| if keep(place) { value } else { 0.0 })
        .collect()
}

pub(super) fn diagonal_reference(x: Event<'_>) -> Vec<f64> {
    let n = x.shape.dims()[0];
    (0..n).map(|i| x.values[i * n + i]).collect()
}

pub(super) fn diagonal_matrix_reference(x: Event<'_>) -> Vec<f64> {
    let n = x.values.len();
    let mut values = vec![0.0; n * n];
    for (i, &value) in x.values.iter().enumerate() {
        values[i * n + i] = value;
    }
    values
}
