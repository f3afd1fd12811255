//! Sums of outer products as one product.
//!
//! A chain of K steps through one matrix leaves at least 2 K outer products in its gradient. One by
//! one, each is written, cut to a triangle and added, per lane. Together they are one product whose
//! contraction runs over steps and lanes.

use crate::expr::Expr;
use crate::primitive::matmul::{LaneTreatment, Read, matrix_product};
use crate::primitive::{Op, Unary};

/// Longer vectors are rows of a table, which are streamed rather than gathered.
const LONGEST: usize = 1024;

/// `±a bᵀ`, or its lower triangle.
struct Outer<'g> {
    whole: Expr<'g>,
    negative: bool,
    triangle: Option<i32>,
    /// Both as a single row.
    a: Expr<'g>,
    b: Expr<'g>,
}

impl<'g> Outer<'g> {
    fn from_expr(whole: Expr<'g>) -> Option<Outer<'g>> {
        let (mut negative, mut triangle, mut e) = (false, None, whole);
        loop {
            match e.op() {
                Op::Unary(Unary::Neg) => negative = !negative,
                Op::Tril(offset) if triangle.is_none() => triangle = Some(offset),
                Op::MatMul(op) if op.lanes == LaneTreatment::Kept => {
                    let (a, b) = (e.operand(0), e.operand(1));
                    let (m, k) = op.a.dims(a.shape());
                    let n = e.shape().dims()[1];
                    let short = (2..=LONGEST).contains(&m) && (2..=LONGEST).contains(&n);
                    return (k == 1 && short).then(|| Outer {
                        whole,
                        negative,
                        triangle,
                        a: a.reshape([1, m]),
                        b: b.reshape([1, n]),
                    });
                }
                _ => return None,
            }
            e = e.operand(0);
        }
    }

    fn fits(&self, other: &Outer<'g>) -> bool {
        self.triangle == other.triangle
            && self.a.shape() == other.a.shape()
            && self.b.shape() == other.b.shape()
    }
}

/// The parts of a sum, with its outer products joined into one of each kind.
pub(crate) fn join_parts<'g>(parts: &[Expr<'g>]) -> Vec<Expr<'g>> {
    let mut kinds: Vec<Vec<Outer<'g>>> = Vec::new();
    let mut rest = Vec::new();
    for &part in parts {
        let Some(outer) = Outer::from_expr(part) else {
            rest.push(part);
            continue;
        };
        match kinds.iter_mut().find(|kind| kind[0].fits(&outer)) {
            Some(kind) => kind.push(outer),
            None => kinds.push(vec![outer]),
        }
    }
    let sums = kinds.iter().map(|kind| match &kind[..] {
        [one] => one.whole,
        several => one_product(several),
    });
    rest.extend(sums);
    rest
}

fn one_product<'g>(found: &[Outer<'g>]) -> Expr<'g> {
    let graph = found[0].a.graph();
    // All negative, as the gradient of a solve is, needs one sign and not one for each.
    let all = found.iter().all(|o| o.negative);
    let signed = |o: &Outer<'g>| if o.negative && !all { -o.a } else { o.a };
    let left: Vec<Expr<'g>> = found.iter().map(signed).collect();
    let right: Vec<Expr<'g>> = found.iter().map(|o| o.b).collect();
    let (a, b) = (graph.concat(&left, 0), graph.concat(&right, 0));
    let sum = matrix_product(a, Read::Transposed, b, Read::Plain);
    let sum = found[0].triangle.map_or(sum, |offset| sum.tril(offset));
    if all { -sum } else { sum }
}
