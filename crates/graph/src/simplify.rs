//! Rules applied while a node is built: constants fold, zeros vanish, broadcasts float outward.
//!
//! Each function returns the simpler expression, or `None` where the node must be built. `0·x` is 0
//! even where `x` may be infinite: a zero in a program is a structural one. A rule that builds
//! other nodes may call itself through them. What is nested too deep for that
//! ([`Graph::nest`](crate::Graph)) is built as it was asked for.

use std::ops::Range;

use crate::expr::Expr;
use crate::length::AxisLength;
use crate::primitive::matmul::{LaneTreatment, MatMul, Read, matrix_product};
use crate::primitive::{Binary, Op, Reduction, Unary};
use crate::shape::Shape;

/// Logarithms of products of more factors than this are taken as they are.
const MOST_FACTORS: usize = 500;

pub(crate) fn simplify_unary(op: Unary, x: Expr<'_>) -> Option<Expr<'_>> {
    let _rule = x.graph().nest()?;
    if let Some(value) = x.as_number() {
        return Some(x.graph().full(x.shape(), op.value_at(value)));
    }
    if let Some(small) = x.widened() {
        return Some(small.apply_unary(op).broadcast(x.shape()));
    }
    match (op, x.op()) {
        (Unary::Neg, Op::Unary(Unary::Neg)) | (Unary::Recip, Op::Unary(Unary::Recip)) => {
            Some(x.operand(0))
        }
        (Unary::Neg, Op::Binary(Binary::Sub)) => Some(x.operand(1) - x.operand(0)),
        (Unary::Neg, Op::Binary(Binary::Mul)) if x.operand(0).as_number().is_some() => {
            Some(-x.operand(0) * x.operand(1))
        }
        (Unary::Square | Unary::Abs, Op::Unary(Unary::Neg)) => Some(x.operand(0).apply_unary(op)),
        (Unary::Ln, _) => simplify_exponent(x, &mut { MOST_FACTORS }),
        _ => None,
    }
}

/// The logarithm of a product or quotient of exponentials, computed without the exponentials; `None`
/// if it would look at more than `left` nodes.
fn simplify_exponent<'g>(x: Expr<'g>, left: &mut usize) -> Option<Expr<'g>> {
    *left = left.checked_sub(1)?;
    let (first, second) = match x.op() {
        Op::Unary(Unary::Exp) => return Some(x.operand(0)),
        Op::Unary(Unary::Sqrt) => return simplify_exponent(x.operand(0), left).map(|of| of * 0.5),
        Op::Unary(Unary::Recip) => return simplify_exponent(x.operand(0), left).map(|of| -of),
        Op::Binary(Binary::Mul | Binary::Div) => (x.operand(0), x.operand(1)),
        _ => return None,
    };
    let is_small = |e: Expr<'_>| e.shape().is_scalar() && !x.shape().is_scalar();
    let mut known = |e| simplify_exponent(e, left).or_else(|| is_small(e).then(|| e.ln()));
    let (first, second) = (known(first)?, known(second)?);
    Some(match x.op() {
        Op::Binary(Binary::Mul) => first + second,
        _ => first - second,
    })
}

pub(crate) fn binary<'g>(op: Binary, x: Expr<'g>, y: Expr<'g>, shape: Shape) -> Option<Expr<'g>> {
    let _rule = x.graph().nest()?;
    if let (Some(a), Some(b)) = (x.as_number(), y.as_number()) {
        return Some(x.graph().full(shape, op.value_at(a, b)));
    }
    // Elementwise kernels broadcast by themselves, and work on small arrays is cheaper.
    let (small_x, small_y) = (x.widened().unwrap_or(x), y.widened().unwrap_or(y));
    if !small_x.is(x) || !small_y.is(y) {
        return Some(small_x.apply_binary(op, small_y).broadcast(shape));
    }
    if let Some((x, y)) = strip_broadcasts(x, y, shape) {
        return Some(x.apply_binary(op, y));
    }
    if op.commutes() && precedes(y, x) {
        return Some(y.apply_binary(op, x));
    }
    let simple = match op {
        Binary::Add => add(x, y),
        Binary::Sub => sub(x, y),
        Binary::Mul => mul(x, y),
        Binary::Div => div(x, y),
        Binary::Pow => pow(x, y),
        _ => None,
    };
    simple.map(|e| e.broadcast(shape))
}

/// An array that repeats one number, beside an array of the full shape, reduced to that number.
fn strip_broadcasts<'g>(x: Expr<'g>, y: Expr<'g>, shape: Shape) -> Option<(Expr<'g>, Expr<'g>)> {
    let guised = |e: Expr<'g>| e.shape().rank() > 0 && e.shape().size() == 1;
    if guised(x) && y.shape() == shape && shape.size() != 1 {
        return Some((x.reshape(()), y));
    }
    (guised(y) && x.shape() == shape && shape.size() != 1).then(|| (x, y.reshape(())))
}

/// Constants first, then older nodes first, so that `a·b` and `b·a` are one node.
fn precedes(x: Expr<'_>, y: Expr<'_>) -> bool {
    let key = |e: Expr<'_>| (e.as_number().is_none(), e.id);
    key(x) < key(y)
}

fn add<'g>(x: Expr<'g>, y: Expr<'g>) -> Option<Expr<'g>> {
    if x.is_filled_with(0.0) {
        return Some(y);
    }
    if x.is(y) {
        return Some(x * 2.0);
    }
    match (x.negated(), y.negated()) {
        (_, Some(y)) => Some(x - y),
        (Some(x), _) => Some(y - x),
        _ => None,
    }
}

fn sub<'g>(x: Expr<'g>, y: Expr<'g>) -> Option<Expr<'g>> {
    if y.is_filled_with(0.0) {
        return Some(x);
    }
    if x.is_filled_with(0.0) {
        return Some(-y);
    }
    if x.is(y) {
        return Some(x.filled_like(0.0));
    }
    y.negated().map(|y| x + y)
}

fn mul<'g>(x: Expr<'g>, y: Expr<'g>) -> Option<Expr<'g>> {
    if x.is(y) {
        return Some(x.square());
    }
    if let Some(value) = x.as_number() {
        return simplify_scaling(value, y);
    }
    match (x.negated(), y.negated()) {
        (Some(x), Some(y)) => return Some(x * y),
        (Some(x), _) => return Some(-(x * y)),
        (_, Some(y)) => return Some(-(x * y)),
        _ => {}
    }
    if x.shape().is_scalar() {
        return numbers_first(x, y);
    }
    if y.shape().is_scalar() {
        return numbers_first(y, x);
    }
    // (s·a)·b = s·(a·b): numbers gather in front, where they cost one product.
    let (s, rest) = leading_number(x).map(|(s, a)| (s, a * y)).or_else(|| {
        let (s, b) = leading_number(y)?;
        Some((s, x * b))
    })?;
    Some(s * rest)
}

/// The number and the array of a product of the two.
fn leading_number(x: Expr<'_>) -> Option<(Expr<'_>, Expr<'_>)> {
    if x.op() != Op::Binary(Binary::Mul) || x.shape().is_scalar() {
        return None;
    }
    let (a, b) = (x.operand(0), x.operand(1));
    if a.shape().is_scalar() {
        return Some((a, b));
    }
    b.shape().is_scalar().then_some((b, a))
}

/// s·(t·a) = (s·t)·a for numbers s, t and an array a.
fn numbers_first<'g>(s: Expr<'g>, y: Expr<'g>) -> Option<Expr<'g>> {
    let (t, a) = leading_number(y)?;
    Some((s * t) * a)
}

/// A constant times an expression.
fn simplify_scaling(value: f64, y: Expr<'_>) -> Option<Expr<'_>> {
    match (value, y.op()) {
        (0.0, _) => Some(y.filled_like(0.0)),
        (1.0, _) => Some(y),
        (-1.0, _) => Some(-y),
        (_, Op::Unary(Unary::Neg)) => Some(y.operand(0) * -value),
        (_, Op::Binary(Binary::Mul)) => match y.operand(0).as_number() {
            Some(inner) => Some(y.operand(1) * (inner * value)),
            None => numbers_first(y.graph().scalar(value), y),
        },
        _ => None,
    }
}

fn div<'g>(x: Expr<'g>, y: Expr<'g>) -> Option<Expr<'g>> {
    match (x.as_number(), y.as_number()) {
        (Some(0.0), _) => Some(y.filled_like(0.0)),
        (Some(1.0), _) => Some(y.recip()),
        (_, Some(1.0)) => Some(x),
        (_, Some(-1.0)) => Some(-x),
        _ => None,
    }
}

fn pow<'g>(x: Expr<'g>, y: Expr<'g>) -> Option<Expr<'g>> {
    match y.as_number()? {
        0.0 => Some(x.filled_like(1.0)),
        1.0 => Some(x),
        2.0 => Some(x.square()),
        3.0 => Some(x.square() * x),
        -1.0 => Some(x.recip()),
        0.5 => Some(x.sqrt()),
        _ => None,
    }
}

pub(crate) fn simplify_select<'g>(
    condition: Expr<'g>,
    a: Expr<'g>,
    b: Expr<'g>,
    shape: Shape,
) -> Option<Expr<'g>> {
    let _rule = condition.graph().nest()?;
    if a.is(b) {
        return Some(a.broadcast(shape));
    }
    if let Some(value) = condition.as_number() {
        let arm = if value == 0.0 { b } else { a };
        return Some(arm.broadcast(shape));
    }
    let small = [condition, a, b].map(|e| e.widened().unwrap_or(e));
    let changed = !small[0].is(condition) || !small[1].is(a) || !small[2].is(b);
    changed.then(|| small[0].select(small[1], small[2]).broadcast(shape))
}

pub(crate) fn simplify_broadcast(x: Expr<'_>, shape: Shape) -> Option<Expr<'_>> {
    let _rule = x.graph().nest()?;
    if let Some(small) = x.widened() {
        return Some(small.broadcast(shape));
    }
    // New unit axes in front need no copy.
    let size = x.shape().size();
    (size == shape.size() && size < usize::MAX).then(|| x.reshape(shape))
}

pub(crate) fn simplify_reshape(x: Expr<'_>, shape: Shape) -> Option<Expr<'_>> {
    let _rule = x.graph().nest()?;
    if matches!(x.op(), Op::Reshape) {
        return Some(x.operand(0).reshape(shape));
    }
    if let Some(x) = x.negated() {
        return Some(-x.reshape(shape));
    }
    // A broadcast number is a broadcast number under any shape.
    let small = x.widened()?;
    small.shape().is_scalar().then(|| small.broadcast(shape))
}

pub(crate) fn simplify_transpose(x: Expr<'_>) -> Option<Expr<'_>> {
    let _rule = x.graph().nest()?;
    if matches!(x.op(), Op::Transpose) {
        return Some(x.operand(0));
    }
    if let Op::MatMul(op) = x.op()
        && op.lanes == LaneTreatment::Kept
    {
        let (a, b) = (x.operand(0), x.operand(1));
        return Some(matrix_product(b, op.b.flipped(), a, op.a.flipped()));
    }
    let small = x.widened()?;
    let (m, n) = (x.shape().dims()[0], x.shape().dims()[1]);
    let turned = match small.shape().dims() {
        [] | [1] => small,
        [_] => small.reshape([n, 1]),
        _ => small.transpose(),
    };
    Some(turned.broadcast([n, m]))
}

pub(crate) fn simplify_slice(x: Expr<'_>, axis: usize, range: Range<usize>) -> Option<Expr<'_>> {
    let _rule = x.graph().nest()?;
    match x.op() {
        Op::Slice { axis: a, start } if a == axis => {
            let range = range.start + start..range.end + start;
            Some(x.operand(0).slice(axis, range))
        }
        Op::Concat { axis: a } if a == axis => slice_of_concat(x, axis, &range),
        _ => {
            let small = x.widened()?;
            let out = x.shape().with_dim(axis, range.len());
            let length = small.shape().aligned_axis(axis, x.shape().rank());
            (length == 1).then(|| small.broadcast(out))
        }
    }
}

/// Rows by number of an array whose rows are all the same.
pub(crate) fn simplify_gather(x: Expr<'_>, out: Shape) -> Option<Expr<'_>> {
    let _rule = x.graph().nest()?;
    let small = x.widened()?;
    let length = small.shape().aligned_axis(0, x.shape().rank());
    (length == 1).then(|| small.broadcast(out))
}

/// A slice that lies within one part of a concatenation is a slice of that part.
fn slice_of_concat<'g>(x: Expr<'g>, axis: usize, range: &Range<usize>) -> Option<Expr<'g>> {
    let mut start = 0;
    for part in x.operands() {
        let end = start + part.shape().dims()[axis];
        if start <= range.start && range.end <= end {
            return Some(part.slice(axis, range.start - start..range.end - start));
        }
        start = end;
    }
    None
}

/// The parts of a concatenation with nested ones opened and empty ones left out.
pub(crate) fn flat_parts<'g>(parts: &[Expr<'g>], axis: usize) -> Vec<Expr<'g>> {
    let opened = parts.iter().flat_map(|p| match p.op() {
        Op::Concat { axis: a } if a == axis => p.operands(),
        _ => vec![*p],
    });
    let full: Vec<Expr<'g>> = opened.filter(|p| p.shape().dims()[axis] > 0).collect();
    match full[..] {
        [] => parts[..1].to_vec(),
        _ => full,
    }
}

pub(crate) fn reduce(by: Reduction, x: Expr<'_>, first: usize, count: usize) -> Option<Expr<'_>> {
    let _rule = x.graph().nest()?;
    let out = x.shape().without_axes(first, count);
    let length = Shape::new(&x.shape().dims()[first..first + count]).size();
    if length == 1 {
        return Some(x.reshape(out));
    }
    if let Some(small) = x.widened()
        && small.shape().is_scalar()
    {
        let total = match by {
            Reduction::Sum if small.is_filled_with(0.0) => small,
            // The number of terms is known only when the program is replayed.
            Reduction::Sum if AxisLength(length).is_symbolic() => return None,
            Reduction::Sum => small * length as f64,
            Reduction::Max if length > 0 => small,
            Reduction::Max => return None,
        };
        return Some(total.broadcast(out));
    }
    if by == Reduction::Max {
        return None;
    }
    simplify_sum(x, first, count)
}

fn simplify_sum(x: Expr<'_>, first: usize, count: usize) -> Option<Expr<'_>> {
    let whole = count == x.shape().rank();
    match x.op() {
        Op::Unary(Unary::Neg) => Some(-sum_again(x.operand(0), first, count)),
        // A scalar factor moves out of the sum.
        Op::Binary(Binary::Mul) => {
            let (a, b) = (x.operand(0), x.operand(1));
            if a.shape().is_scalar() && b.shape() == x.shape() {
                return Some(a * sum_again(b, first, count));
            }
            if b.shape().is_scalar() && a.shape() == x.shape() {
                return Some(b * sum_again(a, first, count));
            }
            None
        }
        Op::Reshape | Op::Transpose | Op::Pad { .. } | Op::DiagonalMatrix if whole => {
            Some(x.operand(0).sum())
        }
        _ => None,
    }
}

fn sum_again(x: Expr<'_>, first: usize, count: usize) -> Expr<'_> {
    if count == x.shape().rank() {
        return x.sum();
    }
    (0..count).fold(x, |e, _| e.sum_axis(first))
}

pub(crate) fn sum_lanes(x: Expr<'_>) -> Option<Expr<'_>> {
    let _rule = x.graph().nest()?;
    if x.is_filled_with(0.0) {
        return Some(x);
    }
    match x.op() {
        Op::Unary(Unary::Neg) => Some(-x.operand(0).sum_lanes()),
        Op::Broadcast => Some(x.operand(0).sum_lanes().broadcast(x.shape())),
        Op::Reshape => Some(x.operand(0).sum_lanes().reshape(x.shape())),
        Op::Tril(offset) => Some(x.operand(0).sum_lanes().tril(offset)),
        Op::MatMul(op) if op.lanes == LaneTreatment::Kept => {
            let (a, b) = (x.operand(0), x.operand(1));
            sum_product_over_lanes(op, a, b, x.shape())
        }
        Op::Binary(Binary::Mul) => {
            let (a, b) = (x.operand(0), x.operand(1));
            match (a.is_laned(), b.is_laned()) {
                (false, _) => Some(a * b.sum_lanes()),
                (_, false) => Some(b * a.sum_lanes()),
                _ => None,
            }
        }
        Op::Binary(op @ (Binary::Add | Binary::Sub)) => {
            let (a, b) = (x.operand(0), x.operand(1));
            let apart = contracts_lanes(a) || contracts_lanes(b);
            let whole = |e: Expr<'_>| e.is_laned() && e.shape() == x.shape();
            (apart && whole(a) && whole(b)).then(|| match op {
                Binary::Add => a.sum_lanes() + b.sum_lanes(),
                _ => a.sum_lanes() - b.sum_lanes(),
            })
        }
        _ => None,
    }
}

/// True for a product, or a part of one, whose lanes would become part of the contraction.
fn contracts_lanes(mut x: Expr<'_>) -> bool {
    while matches!(x.op(), Op::Unary(Unary::Neg) | Op::Tril(_)) {
        x = x.operand(0);
    }
    let Op::MatMul(op) = x.op() else {
        return false;
    };
    op.lanes == LaneTreatment::Kept && x.operand(0).is_laned() && x.operand(1).is_laned()
}

/// Includes the lanes in the contraction.
fn sum_product_over_lanes<'g>(
    op: MatMul,
    a: Expr<'g>,
    b: Expr<'g>,
    shape: Shape,
) -> Option<Expr<'g>> {
    // With one laned factor the product per lane is usually needed anyway.
    if !a.is_laned() || !b.is_laned() {
        return None;
    }
    let op = MatMul {
        lanes: LaneTreatment::Summed,
        ..op
    };
    let inputs = vec![a.id, b.id];
    Some(a.graph().add(Op::MatMul(op), inputs, shape, false))
}

pub(crate) fn matmul<'g>(op: MatMul, a: Expr<'g>, b: Expr<'g>, shape: Shape) -> Option<Expr<'g>> {
    let _rule = a.graph().nest()?;
    if a.is_filled_with(0.0) || b.is_filled_with(0.0) {
        return Some(a.graph().full(shape, 0.0));
    }
    if matches!(a.op(), Op::Transpose) {
        return Some(matrix_product(a.operand(0), op.a.flipped(), b, op.b));
    }
    if matches!(b.op(), Op::Transpose) {
        return Some(matrix_product(a, op.a, b.operand(0), op.b.flipped()));
    }
    // A matrix of one row or column is the same numbers read plain.
    let turned = |e: Expr<'g>, read: Read| {
        let (m, n) = read.dims(e.shape());
        (read == Read::Transposed && (m == 1 || n == 1)).then(|| e.reshape([m, n]))
    };
    if let Some(a) = turned(a, op.a) {
        return Some(matrix_product(a, Read::Plain, b, op.b));
    }
    if let Some(b) = turned(b, op.b) {
        return Some(matrix_product(a, op.a, b, Read::Plain));
    }
    // A row times a matrix is the transposed matrix times a column: one thin form, not two.
    if let [1, n] = *shape.dims()
        && n > 1
    {
        let column = a.reshape([a.shape().size(), 1]);
        let turned = matrix_product(b, op.b.flipped(), column, Read::Plain);
        return Some(turned.reshape(shape));
    }
    if let Some(a) = a.negated() {
        return Some(-matrix_product(a, op.a, b, op.b));
    }
    if let Some(b) = b.negated() {
        return Some(-matrix_product(a, op.a, b, op.b));
    }
    // A (s·b) = s·(A b) where the result is the smaller array.
    let (s, rest) = leading_number(b).filter(|_| shape.size() < b.shape().size())?;
    Some(s * matrix_product(a, op.a, rest, op.b))
}
