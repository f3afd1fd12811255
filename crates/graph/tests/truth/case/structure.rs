//! Cases that move numbers or sum them: layout, reductions, lanes and row numbers.

use lehr_graph::Shape;

use super::Domain::{Any, Distinct, Other};
use super::{Case, axes, case, matrix, one, vector};
use crate::directional::Operands;
use crate::random::Random;

/// A random axis of the first operand.
fn axis(o: &Operands<'_>) -> usize {
    o.pick % o.x[0].shape().rank()
}

pub(super) fn layout() -> Vec<Case> {
    vec![
        case("broadcast", &[Any], one, |o| {
            let shape = o.x[0].shape();
            let wide: Vec<usize> = [&[2], shape.dims()].concat();
            o.x[0].broadcast(&wide[..]) * o.x[0].exp()
        }),
        case("reshape", &[Any], one, |o| {
            o.x[0].reshape([o.x[0].shape().size(), 1]).tanh()
        }),
        case("transpose", &[Any], matrix, |o| {
            o.x[0].exp().transpose() * 2.0
        }),
        case("slice", &[Any], axes, |o| {
            let axis = axis(o);
            let length = o.x[0].shape().dims()[axis];
            let start = o.pick / 3 % length;
            o.x[0].slice(axis, start..length)
        }),
        case("slices that overlap", &[Any], axes, |o| {
            let axis = axis(o);
            let length = o.x[0].shape().dims()[axis];
            let front = o.x[0].slice(axis, 0..1.max(length - 1));
            let back = o.x[0].slice(axis, 1.min(length - 1)..length);
            front.exp().sum() * back + o.x[0].sum()
        }),
        case("entry", &[Any], axes, |o| {
            o.x[0].entry(o.pick % o.x[0].shape().dims()[0])
        }),
        case("concat", &[Any, Other], along_one_axis, |o| {
            let axis = o.x[0].shape().rank() - 1;
            o.graph.concat(&[o.x[0], o.x[1].exp(), o.x[0]], axis)
        }),
        case(
            "concat of the leading axis",
            &[Any, Other],
            side_by_side,
            |o| o.graph.concat(&[o.x[0], o.x[1]], 0).tanh(),
        ),
        case("stack", &[Any, Other], same, |o| {
            o.graph.stack(&[o.x[0], o.x[1].tanh(), o.x[1]])
        }),
    ]
}

/// Two shapes that differ in their last axis only.
fn along_one_axis(random: &mut Random) -> Vec<Shape> {
    let first = random.shape(1, 3);
    let mut dims = first.dims().to_vec();
    dims[first.rank() - 1] = random.between(1, 5);
    vec![first, Shape::new(&dims)]
}

/// Two shapes that differ in their leading axis only.
fn side_by_side(random: &mut Random) -> Vec<Shape> {
    let first = random.shape(1, 3);
    let mut dims = first.dims().to_vec();
    dims[0] = random.between(1, 5);
    vec![first, Shape::new(&dims)]
}

fn same(random: &mut Random) -> Vec<Shape> {
    vec![random.shape(0, 3); 2]
}

pub(super) fn reduction() -> Vec<Case> {
    vec![
        case("sum", &[Any], one, |o| o.x[0].exp().sum()),
        case("mean", &[Any], one, |o| o.x[0].exp().mean()),
        case("sum_axis", &[Any], axes, |o| o.x[0].exp().sum_axis(axis(o))),
        case("sum of a product with a number", &[Any], axes, |o| {
            let number = o.x[0].mean();
            (-(o.x[0].square() * number)).sum_axis(axis(o))
        }),
        case("maximum", &[Distinct], one, |o| o.x[0].maximum()),
        case("max_axis", &[Distinct], axes, |o| o.x[0].max_axis(axis(o))),
        case("log_sum_exp", &[Any], axes, |o| o.x[0].log_sum_exp(axis(o))),
        case("cumulative_sum", &[Any], axes, |o| o.x[0].cumulative_sum()),
    ]
}

pub(super) fn lane_and_index() -> Vec<Case> {
    vec![
        case("sum_lanes", &[Any, Other], same, |o| {
            (o.x[0].exp() * o.x[1]).sum_lanes() + o.x[0]
        }),
        case("mean_lanes", &[Any, Other], same, |o| {
            o.x[0].exp().mean_lanes() * o.x[1]
        }),
        case("lane_count", &[Any], one, |o| o.x[0] * o.graph.lane_count()),
        case("stop_gradient of a constant", &[Any], vector, |o| {
            o.x[0] * o.graph.iota(o.x[0].shape().size()).stop_gradient()
        }),
        Case {
            indices: |shapes, random| {
                let (count, rows) = (random.between(1, 6), shapes[0].dims()[0]);
                (0..count).map(|_| random.below(rows) as u32).collect()
            },
            ..case("at", &[Any], axes, |o| o.x[0].at(o.rows).exp())
        },
        Case {
            indices: |shapes, random| {
                let count = shapes[0].dims()[0];
                (0..count).map(|_| random.below(4) as u32).collect()
            },
            ..case("scatter_add", &[Any], axes, |o| {
                o.x[0].scatter_add(o.rows, 4).exp()
            })
        },
    ]
}
