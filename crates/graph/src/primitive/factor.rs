//! Cholesky factors and triangular solves, differentiated by their own rules.

use serde::{Deserialize, Serialize};

use super::matmul::{Read, matrix_product};
use super::{Application, Event, Op};
use crate::expr::{Expr, add_parts};

/// The triangular system that is solved for every row b of the right side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum TriangularForm {
    /// L x = b
    Lower,
    /// Lᵀ x = b
    LowerTransposed,
}

impl TriangularForm {
    fn flipped(self) -> TriangularForm {
        match self {
            TriangularForm::Lower => TriangularForm::LowerTransposed,
            TriangularForm::LowerTransposed => TriangularForm::Lower,
        }
    }
}

/// A triangular solve, one system per **row** of the right side. Lanes and table rows both lie
/// along rows, so both stream. Only the lower triangle of the first operand is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Solve {
    pub(crate) form: TriangularForm,
}

impl Solve {
    pub(crate) fn name(self) -> String {
        match self.form {
            TriangularForm::Lower => "solve L x = b".into(),
            TriangularForm::LowerTransposed => "solve Lᵀ x = b".into(),
        }
    }

    /// B̄ solves the transposed system for X̄; L̄ = −tril Σ b̄ xᵀ, or −tril Σ x b̄ᵀ for Lᵀ.
    pub(crate) fn pullback<'g>(
        self,
        site: &Application<'_, 'g>,
        adjoint: Expr<'g>,
        k: usize,
    ) -> Expr<'g> {
        let (l, x) = (site.inputs[0], site.out);
        let b_bar = solve_triangular(self.form.flipped(), l, adjoint);
        match (k, self.form) {
            (1, _) => b_bar,
            (_, TriangularForm::Lower) => {
                -matrix_product(b_bar, Read::Transposed, x, Read::Plain).tril(0)
            }
            (_, TriangularForm::LowerTransposed) => {
                -matrix_product(x, Read::Transposed, b_bar, Read::Plain).tril(0)
            }
        }
    }

    /// ẋ = op(L)⁻¹(ḃ − op(L̇) x), row by row.
    pub(crate) fn pushforward<'g>(
        self,
        site: &Application<'_, 'g>,
        tangents: &[Option<Expr<'g>>],
    ) -> Option<Expr<'g>> {
        let (l, x) = (site.inputs[0], site.out);
        // Rows are multiplied by the transposed matrix from the left.
        let read = match self.form {
            TriangularForm::Lower => Read::Transposed,
            TriangularForm::LowerTransposed => Read::Plain,
        };
        let bent = tangents[0].map(|t| -matrix_product(x, Read::Plain, t.tril(0), read));
        let moved = add_parts(tangents[1], bent)?;
        Some(solve_triangular(self.form, l, moved))
    }

    pub(super) fn reference_values(self, inputs: &[Event<'_>]) -> Vec<f64> {
        let (l, n) = (inputs[0].values, inputs[0].shape.dims()[0]);
        let mut values = inputs[1].values.to_vec();
        for x in values.chunks_exact_mut(n.max(1)) {
            for step in 0..n {
                let i = match self.form {
                    TriangularForm::Lower => step,
                    TriangularForm::LowerTransposed => n - 1 - step,
                };
                let known = (0..step).map(|done| match self.form {
                    TriangularForm::Lower => l[i * n + done] * x[done],
                    TriangularForm::LowerTransposed => l[(n - 1 - done) * n + i] * x[n - 1 - done],
                });
                x[i] = (x[i] - known.sum::<f64>()) / l[i * n + i];
            }
        }
        values
    }
}

/// The solutions of a triangular system for the rows of a matrix.
pub(crate) fn solve_triangular<'g>(form: TriangularForm, l: Expr<'g>, b: Expr<'g>) -> Expr<'g> {
    if b.is_filled_with(0.0) {
        return b;
    }
    l.graph()
        .build(Op::Solve(Solve { form }), &[l, b], b.shape())
}

/// ½ on the diagonal, 1 below, 0 above.
fn halve_diagonal(x: Expr<'_>) -> Expr<'_> {
    x.tril(0) - x.diagonal().diagonal_matrix() * 0.5
}

/// Ā = ½ L⁻ᵀ(P + Pᵀ)L⁻¹ with P = Φ(LᵀL̄), Φ the halved lower triangle.
pub(super) fn cholesky_pullback<'g>(site: &Application<'_, 'g>, adjoint: Expr<'g>) -> Expr<'g> {
    let l = site.out;
    let product = matrix_product(l, Read::Transposed, adjoint.tril(0), Read::Plain);
    let p = halve_diagonal(product);
    let s = (p + p.transpose()) * 0.5;
    let right = solve_triangular(TriangularForm::LowerTransposed, l, s);
    solve_triangular(TriangularForm::LowerTransposed, l, right.transpose())
}

/// L̇ = L Φ(L⁻¹ȦL⁻ᵀ)
pub(super) fn cholesky_pushforward<'g>(site: &Application<'_, 'g>, tangent: Expr<'g>) -> Expr<'g> {
    let l = site.out;
    let symmetric = (tangent + tangent.transpose()) * 0.5;
    let right = solve_triangular(TriangularForm::Lower, l, symmetric);
    let both = solve_triangular(TriangularForm::Lower, l, right.transpose());
    matrix_product(l, Read::Plain, halve_diagonal(both), Read::Plain)
}

pub(super) fn cholesky_reference(a: Event<'_>) -> Vec<f64> {
    let n = a.shape.dims()[0];
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let done: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let symmetric = 0.5 * (a.values[i * n + j] + a.values[j * n + i]);
            let rest = symmetric - done;
            l[i * n + j] = match i == j {
                // The square root of a negative number is NaN, which propagates to the rest of the
                // factor.
                true if rest > 0.0 => rest.sqrt(),
                true => f64::NAN,
                false => rest / l[j * n + j],
            };
        }
    }
    l
}

impl<'g> Expr<'g> {
    #[track_caller]
    pub(super) fn matrix_side(self, what: &str) -> Result<usize, Expr<'g>> {
        match *self.shape().dims() {
            [m, n] if m == n => Ok(n),
            _ => Err(self.graph().fail(format!(
                "{what}: expects a square matrix, found shape {}",
                self.shape()
            ))),
        }
    }

    /// The lower factor L of this symmetric matrix, L Lᵀ = (A + Aᵀ)/2; NaN if the matrix is not
    /// positive definite.
    #[must_use]
    #[track_caller]
    pub fn cholesky(self) -> Expr<'g> {
        match self.matrix_side("cholesky") {
            Ok(n) => self.graph().build(Op::Cholesky, &[self], [n, n].into()),
            Err(stand_in) => stand_in,
        }
    }

    #[track_caller]
    fn solve_form(self, form: TriangularForm, b: Expr<'g>) -> Expr<'g> {
        let n = match self.matrix_side("solve") {
            Ok(n) => n,
            Err(stand_in) => return stand_in,
        };
        let shape = b.shape();
        match *shape.dims() {
            [m] if m == n => solve_triangular(form, self, b.reshape([1, m])).reshape(shape),
            [m, _] if m == n => solve_triangular(form, self, b.transpose()).transpose(),
            _ => self.graph().fail(format!(
                "solve: a factor of shape {} does not fit a right side of shape {shape}",
                self.shape()
            )),
        }
    }

    #[track_caller]
    fn solve_rows(self, form: TriangularForm, b: Expr<'g>) -> Expr<'g> {
        let n = match self.matrix_side("solve") {
            Ok(n) => n,
            Err(stand_in) => return stand_in,
        };
        match *b.shape().dims() {
            [_, m] if m == n => solve_triangular(form, self, b),
            _ => self.graph().fail(format!(
                "solve: a factor of shape {} does not fit a left side of shape {}",
                self.shape(),
                b.shape()
            )),
        }
    }

    /// ln |L Lᵀ| of this lower-triangular L with a positive diagonal.
    #[must_use]
    #[track_caller]
    pub fn log_determinant_of_factor(self) -> Expr<'g> {
        self.diagonal().ln().sum() * 2.0
    }
}

macro_rules! solves {
    ($($(#[$doc:meta])* $name:ident => $by:ident, $form:ident;)*) => {
        impl<'g> Expr<'g> {
            $($(#[$doc])* #[must_use] #[track_caller]
            pub fn $name(self, b: Expr<'g>) -> Expr<'g> { self.$by(TriangularForm::$form, b) })*
        }
    };
}

solves! {
    /// L⁻¹b for this lower-triangular L and a vector or matrix b.
    solve_lower => solve_form, Lower;
    /// L⁻ᵀb for this lower-triangular L and a vector or matrix b.
    solve_lower_transposed => solve_form, LowerTransposed;
    /// bL⁻¹ for this lower-triangular L and a matrix b.
    solve_lower_right => solve_rows, LowerTransposed;
    /// bL⁻ᵀ for this lower-triangular L and a matrix b.
    solve_lower_transposed_right => solve_rows, Lower;
}
