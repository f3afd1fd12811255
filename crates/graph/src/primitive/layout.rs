//! Changes of layout without arithmetic: broadcast, reshape, transpose, slice, pad, concat.

use std::ops::Range;

use super::{Application, Event, Op};
use crate::expr::{Expr, Graph};
use crate::length::AxisLength;
use crate::shape::{MAX_RANK, Shape};
use crate::simplify;

impl<'g> Expr<'g> {
    /// The array repeated along new or unit axes up to `shape`.
    #[must_use]
    #[track_caller]
    pub fn broadcast(self, shape: impl Into<Shape>) -> Expr<'g> {
        let shape = shape.into();
        if self.shape() == shape {
            return self;
        }
        if self.shape().broadcast(shape) != Some(shape) {
            return self.graph().fail(format!(
                "broadcast: shape {} does not broadcast to {shape}",
                self.shape()
            ));
        }
        simplify::simplify_broadcast(self, shape)
            .unwrap_or_else(|| self.graph().build(Op::Broadcast, &[self], shape))
    }

    /// The same numbers in row-major order under another shape.
    #[must_use]
    #[track_caller]
    pub fn reshape(self, shape: impl Into<Shape>) -> Expr<'g> {
        let shape = shape.into();
        if self.shape() == shape {
            return self;
        }
        if self.shape().size() == usize::MAX {
            let message = format!("reshape: shape {} does not become {shape}", self.shape());
            return self.graph().fail(message);
        }
        if self.shape().size() != shape.size() {
            return self.graph().fail(format!(
                "reshape: shape {} holds {} numbers, {shape} holds {}",
                self.shape(),
                AxisLength(self.shape().size()),
                AxisLength(shape.size())
            ));
        }
        simplify::simplify_reshape(self, shape)
            .unwrap_or_else(|| self.graph().build(Op::Reshape, &[self], shape))
    }

    /// The matrix with its last two axes swapped.
    #[must_use]
    #[track_caller]
    pub fn transpose(self) -> Expr<'g> {
        let [m, n] = *self.shape().dims() else {
            let found = self.shape();
            return self
                .graph()
                .fail(format!("transpose: expects a matrix, found shape {found}"));
        };
        if m == 1 || n == 1 {
            return self.reshape([n, m]);
        }
        simplify::simplify_transpose(self)
            .unwrap_or_else(|| self.graph().build(Op::Transpose, &[self], [n, m].into()))
    }

    /// The part of an axis from `range.start` up to but not with `range.end`.
    #[must_use]
    #[track_caller]
    pub fn slice(self, axis: usize, range: Range<usize>) -> Expr<'g> {
        let shape = self.shape();
        let (start, end) = (AxisLength(range.start), AxisLength(range.end));
        let fits = |length: &usize| start.is_within(end) && end.is_within(AxisLength(*length));
        if !shape.dims().get(axis).is_some_and(fits) {
            return self.graph().fail(format!(
                "slice: axis {axis}, {start}..{end} is outside shape {shape}"
            ));
        }
        let out = shape.with_dim(axis, range.len());
        if out == shape {
            return self;
        }
        let start = range.start;
        simplify::simplify_slice(self, axis, range)
            .unwrap_or_else(|| self.graph().build(Op::Slice { axis, start }, &[self], out))
    }

    /// Entry `place` of the leading axis, without that axis.
    #[must_use]
    #[track_caller]
    pub fn entry(self, place: usize) -> Expr<'g> {
        let part = self.slice(0, place..place + 1);
        let rest = part.shape().without_axes(0, 1.min(part.shape().rank()));
        part.reshape(rest)
    }

    /// This array padded with zeros to `length` along an axis; it starts at `start`.
    #[must_use]
    #[track_caller]
    pub(crate) fn pad(self, axis: usize, start: usize, length: usize) -> Expr<'g> {
        let shape = self.shape().with_dim(axis, length);
        if shape == self.shape() {
            return self;
        }
        if self.is_filled_with(0.0) {
            return self.graph().full(shape, 0.0);
        }
        self.graph().build(Op::Pad { axis, start }, &[self], shape)
    }
}

impl Graph {
    /// The arrays end to end along an axis.
    ///
    /// ```
    /// let graph = lehr_graph::Graph::new();
    /// let (a, b) = (graph.input("a", [2, 3]), graph.input("b", [2, 1]));
    /// assert_eq!(graph.concat(&[a, b], 1).shape().dims(), [2, 4]);
    /// ```
    ///
    /// # Panics
    /// Without parts, or where their other axes differ.
    #[track_caller]
    pub fn concat<'g>(&'g self, parts: &[Expr<'g>], axis: usize) -> Expr<'g> {
        let Some(first) = parts.first() else {
            return self.fail("concat: expects at least one array, found none".into());
        };
        let shape = first.shape();
        let fits = |p: &Expr<'g>| {
            axis < p.shape().rank() && p.shape().with_dim(axis, 0) == shape.with_dim(axis, 0)
        };
        if let Some(odd) = parts.iter().find(|p| !fits(p)) {
            return self.fail(format!(
                "concat: shapes {shape} and {} do not fit along axis {axis}",
                odd.shape()
            ));
        }
        let parts = simplify::flat_parts(parts, axis);
        if let [only] = parts[..] {
            return only;
        }
        let lengths = parts.iter().map(|p| p.shape().dims()[axis]);
        let length = lengths.fold(0, usize::saturating_add);
        self.build(Op::Concat { axis }, &parts, shape.with_dim(axis, length))
    }

    /// The arrays of one shape along a new leading axis.
    ///
    /// ```
    /// let graph = lehr_graph::Graph::new();
    /// let rows = [graph.input("a", [3]), graph.input("b", [3])];
    /// assert_eq!(graph.stack(&rows).shape().dims(), [2, 3]);
    /// ```
    ///
    /// # Panics
    /// As [`Graph::concat`], or where the arrays have [`crate::MAX_RANK`] axes already.
    #[track_caller]
    pub fn stack<'g>(&'g self, parts: &[Expr<'g>]) -> Expr<'g> {
        let Some(first) = parts.first() else {
            return self.fail("stack: expects at least one array, found none".into());
        };
        let shape = first.shape();
        if let Some(odd) = parts.iter().find(|p| p.shape() != shape) {
            return self.fail(format!(
                "stack: shapes {shape} and {} are not the same",
                odd.shape()
            ));
        }
        if shape.rank() == MAX_RANK {
            return self.fail(format!("stack: shape {shape} has no room for an axis"));
        }
        let row = Shape::new(&[&[1], shape.dims()].concat());
        let rows: Vec<Expr<'g>> = parts.iter().map(|part| part.reshape(row)).collect();
        self.concat(&rows, 0)
    }
}

pub(super) fn pullback<'g>(
    op: &Op,
    site: &Application<'_, 'g>,
    adjoint: Expr<'g>,
    k: usize,
) -> Expr<'g> {
    let shape = site.inputs[k].shape();
    match op {
        Op::Slice { axis, start } => adjoint.pad(*axis, *start, shape.dims()[*axis]),
        Op::Pad { axis, start } => adjoint.slice(*axis, *start..start + shape.dims()[*axis]),
        Op::Concat { axis } => {
            let length = |e: &Expr<'g>| e.shape().dims()[*axis];
            let start: usize = site.inputs[..k].iter().map(length).sum();
            adjoint.slice(*axis, start..start + shape.dims()[*axis])
        }
        _ => unreachable!("only slices, pads and concats"),
    }
}

pub(super) fn concat_pushforward<'g>(
    axis: usize,
    site: &Application<'_, 'g>,
    tangents: &[Option<Expr<'g>>],
) -> Expr<'g> {
    let pairs = site.inputs.iter().zip(tangents);
    let parts: Vec<Expr<'g>> = pairs
        .map(|(x, t)| t.unwrap_or_else(|| x.filled_like(0.0)))
        .collect();
    site.out.graph().concat(&parts, axis)
}

/// The element of `event` that lands at flat place `i` of the broadcast `shape`.
pub(super) fn at_broadcast(event: Event<'_>, shape: Shape, i: usize) -> f64 {
    let rank = shape.rank();
    let (mut place, mut stride, mut rest) = (0, 1, i);
    for axis in (0..rank).rev() {
        let here = rest % shape.dims()[axis];
        rest /= shape.dims()[axis];
        let length = event.shape.aligned_axis(axis, rank);
        if length > 1 {
            place += here * stride;
        }
        stride *= length;
    }
    event.values[place]
}

pub(super) fn broadcast_reference(x: Event<'_>, shape: Shape) -> Vec<f64> {
    (0..shape.size())
        .map(|i| at_broadcast(x, shape, i))
        .collect()
}

pub(super) fn transpose_reference(x: Event<'_>) -> Vec<f64> {
    let (m, n) = (x.shape.dims()[0], x.shape.dims()[1]);
    let at = |k: usize| x.values[(k % m) * n + k / m];
    (0..m * n).map(at).collect()
}

pub(super) fn slice_reference(x: Event<'_>, out: Shape, axis: usize, start: usize) -> Vec<f64> {
    let inner = x.shape.inner_size(axis + 1);
    let (whole, part) = (x.shape.inner_size(axis), out.inner_size(axis));
    x.values
        .chunks_exact(whole.max(1))
        .flat_map(|chunk| chunk[start * inner..start * inner + part].iter().copied())
        .collect()
}

pub(super) fn pad_reference(x: Event<'_>, out: Shape, axis: usize, start: usize) -> Vec<f64> {
    let inner = x.shape.inner_size(axis + 1);
    let (part, whole) = (x.shape.inner_size(axis), out.inner_size(axis));
    let mut values = vec![0.0; out.size()];
    for (to, from) in values
        .chunks_exact_mut(whole.max(1))
        .zip(x.values.chunks_exact(part.max(1)))
    {
        to[start * inner..start * inner + part].copy_from_slice(from);
    }
    values
}

pub(super) fn concat_reference(parts: &[Event<'_>], out: Shape, axis: usize) -> Vec<f64> {
    let mut values = Vec::with_capacity(out.size());
    for block in 0..out.outer_size(axis) {
        for part in parts {
            let length = part.shape.inner_size(axis);
            values.extend_from_slice(&part.values[block * length..(block + 1) * length]);
        }
    }
    values
}
