//! One random step of a program: an operation on arrays of the pool that fit it.

use lehr_graph::Expr;

use super::Settings;
use super::generate::{Bounded, GROUPS, Kinks, Program};
use crate::random::Random;

type Step = for<'g> fn(&Program<'g>, &mut Random) -> Option<Bounded<'g>>;

const STEPS: [Step; 12] = [
    unary, unary, binary, binary, layout, join, reduction, running, grouped, product, factor, lane,
];
const KINKED: [Step; 2] = [kinked, kinked_pair];

/// A random step; `None` if no array of the pool is suitable.
pub(super) fn random<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let kinks = program.settings.kinks == Kinks::Allowed && random.chance(0.2);
    let step = if kinks {
        random.pick(&KINKED)
    } else {
        random.pick(&STEPS)
    };
    step(program, random)
}

#[expect(clippy::unnecessary_wraps, reason = "steps end with it")]
fn bounded(expr: Expr<'_>, bound: f64) -> Option<Bounded<'_>> {
    Some(Bounded { expr, bound })
}

/// softplus(x) + least, with its bound: a positive number for functions that need one.
fn positive(x: Bounded<'_>, least: f64) -> Bounded<'_> {
    Bounded {
        expr: x.expr.softplus() + least,
        bound: x.bound + 0.7 + least,
    }
}

fn unary<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let x = program.any(random);
    let (e, b) = (x.expr, x.bound);
    let p = positive(x, 0.5);
    match random.below(19) {
        0 => bounded(-e, b),
        1 => bounded(e.exp(), b.exp()),
        2 => bounded(e.expm1(), b.exp()),
        3 => bounded(p.expr.ln(), p.bound),
        4 => bounded(p.expr.log1p(), p.bound),
        5 => bounded(p.expr.sqrt(), p.bound),
        6 => bounded(p.expr.recip(), 2.0),
        7 => bounded(e.square(), b * b),
        8 => bounded(e.sigmoid(), 1.0),
        9 => bounded(e.softplus(), b + 0.7),
        10 => bounded(e.tanh(), 1.0),
        11 => bounded(p.expr.lgamma(), 8.0),
        12 => bounded(p.expr.digamma(), 3.0),
        13 => bounded(p.expr.trigamma(), 5.0),
        14 => bounded(e.erf(), 1.0),
        15 => bounded(e.erfc(), 2.0),
        16 => bounded(e.normal_log_cdf(), b * b + 1.5),
        17 => bounded(e.inverse_mills(), b + 1.0),
        _ => bounded(e * 0.75 + 0.25, b),
    }
}

fn binary<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let x = program.any(random);
    let y = program.find(random, |s| s.broadcast(x.expr.shape()).is_some())?;
    let p = positive(y, 0.5);
    match random.below(6) {
        0 => bounded(x.expr + y.expr, x.bound + y.bound),
        1 => bounded(x.expr - y.expr, x.bound + y.bound),
        2 => bounded(x.expr * y.expr, x.bound * y.bound),
        3 => bounded(x.expr / p.expr, 2.0 * x.bound),
        4 => bounded(p.expr.pow(x.expr.tanh()), p.bound + 2.0),
        _ => bounded(x.expr * 2.0 - y.expr * x.expr, x.bound * (2.0 + y.bound)),
    }
}

fn kinked<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let x = program.any(random);
    let (e, b) = (x.expr, x.bound);
    match random.below(7) {
        0 => bounded(e.abs(), b),
        1 => bounded(e.sign() * e, b),
        2 => bounded(e.elu(), b),
        3 => bounded(e.clip(-0.612, 0.437), b),
        4 => bounded(e.maximum() - e, 2.0 * b),
        // Central differences cannot check a gradient that is stopped.
        5 => bounded(e.stop_gradient() * e, b * b),
        _ if e.shape().is_scalar() => None,
        _ => bounded(e.max_axis(random.below(e.shape().rank())), b),
    }
}

fn kinked_pair<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let x = program.any(random);
    let y = program.find(random, |s| s.broadcast(x.expr.shape()).is_some())?;
    let bound = x.bound.max(y.bound);
    let threshold = program.graph.scalar(0.123_456);
    match random.below(5) {
        0 => bounded(x.expr.min(y.expr), bound),
        1 => bounded(x.expr.max(y.expr), bound),
        2 => bounded(x.expr.less(threshold).select(y.expr, x.expr), bound),
        3 => bounded(threshold.less_equal(x.expr) * y.expr, bound),
        _ => bounded(x.expr.equal(threshold).select(x.expr, y.expr), bound),
    }
}

fn layout<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let x = program.find(random, |s| s.rank() > 0)?;
    let Settings { rows, width, .. } = program.settings;
    let (shape, axis) = (x.expr.shape(), random.below(x.expr.shape().rank()));
    let length = shape.dims()[axis];
    let start = random.below(length);
    let same = |expr| bounded(expr, x.bound);
    match random.below(7) {
        0 => same(x.expr.reshape([shape.size()]).tanh().reshape(shape)),
        1 if shape.rank() == 2 => same(x.expr.transpose()),
        2 => same(x.expr.slice(axis, start..length)),
        3 => same(x.expr.entry(random.below(shape.dims()[0]))),
        4 if shape.dims() == [width] => same(x.expr.broadcast([rows, width])),
        5 if shape.dims() == [width, width] => same(x.expr.tril(random.below(3) as i32 - 1)),
        6 if shape.dims() == [width, width] => same(x.expr.diagonal()),
        _ if shape.dims() == [width] => same(x.expr.diagonal_matrix()),
        _ => None,
    }
}

fn join<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let x = program.find(random, |s| s.rank() > 0)?;
    let shape = x.expr.shape();
    let y = program.find(random, |s| s == shape)?;
    let bound = x.bound.max(y.bound);
    let axis = random.below(shape.rank());
    let length = shape.dims()[axis];
    let cut = random.below(length);
    let pieces = [
        x.expr.slice(axis, cut..length),
        y.expr.slice(axis, 0..length).tanh(),
        x.expr.slice(axis, 0..cut),
    ];
    let joined = program.graph.concat(&pieces, axis);
    match random.below(3) {
        0 => bounded(joined.slice(axis, cut..cut + length), bound.max(1.0)),
        1 => bounded(
            program.graph.stack(&[x.expr, y.expr]).sum_axis(0),
            2.0 * bound,
        ),
        _ => bounded(
            joined.slice(axis, 0..length) * x.expr,
            bound * bound.max(1.0),
        ),
    }
}

fn reduction<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let x = program.find(random, |s| s.rank() > 0)?;
    let (e, b) = (x.expr, x.bound);
    let axis = random.below(e.shape().rank());
    let length = e.shape().dims()[axis] as f64;
    match random.below(5) {
        0 => bounded(e.sum() * (1.0 / e.shape().size() as f64), b),
        1 => bounded(e.mean(), b),
        2 => bounded(e.sum_axis(axis) * (1.0 / length), b),
        3 => bounded(e.square().sum_axis(axis) * (1.0 / length), b * b),
        _ => bounded(e.log_sum_exp(axis) - length.ln(), b),
    }
}

fn running<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let x = program.find(random, |s| s.rank() > 0)?;
    let length = *x.expr.shape().dims().last()? as f64;
    bounded(x.expr.cumulative_sum() * (1.0 / length), x.bound)
}

fn grouped<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let (rows, groups) = (program.settings.rows, program.groups.0);
    if random.chance(0.5) {
        let x = program.find(random, |s| s.dims().first() == Some(&GROUPS))?;
        return bounded(x.expr.at(groups), x.bound);
    }
    let x = program.find(random, |s| s.dims().first() == Some(&rows))?;
    let sum = x.expr.scatter_add(groups, GROUPS);
    bounded(sum * (GROUPS as f64 / rows as f64), x.bound * GROUPS as f64)
}

/// Two arrays and the factor that keeps their product as small as they are.
fn product<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let Settings { rows, width, .. } = program.settings;
    let table = program.find(random, |s| s.dims() == [rows, width])?;
    let square = program.find(random, |s| s.dims() == [width, width])?;
    let short = program.find(random, |s| s.dims() == [width])?;
    let long = program.find(random, |s| s.dims() == [rows])?;
    let (a, b, length) = match random.below(9) {
        0 => (table.expr, short.expr, width),
        1 => (table.expr, square.expr, width),
        2 => (table.expr, square.expr.transpose(), width),
        3 => (table.expr.transpose(), long.expr, rows),
        4 => (table.expr.transpose(), table.expr, rows),
        5 => (square.expr.transpose(), square.expr.tanh(), width),
        6 => (short.expr, square.expr, width),
        7 => (long.expr, table.expr, rows),
        _ => (
            short.expr.outer(short.expr.tanh()),
            square.expr.transpose(),
            width,
        ),
    };
    // Every array of the pool is below 3.
    bounded(a.dot(b) * (1.0 / length as f64), 27.0)
}

fn factor<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let Settings { rows, width, .. } = program.settings;
    let square = program.find(random, |s| s.dims() == [width, width])?;
    let short = program.find(random, |s| s.dims() == [width])?;
    let table = program.find(random, |s| s.dims() == [rows, width])?;
    let ones = program.graph.full([width], 1.0).diagonal_matrix();
    let e = square.expr * 0.3;
    let factor = (e.dot(e.transpose()) + ones).cholesky();
    // A factor of 1 + EEᵀ has an inverse below one, and itself is below 1 + ‖E‖.
    let size = width as f64;
    match random.below(7) {
        0 => bounded(factor, 1.0 + size),
        1 => bounded(factor.solve_lower(short.expr), size * short.bound),
        2 => bounded(
            factor.solve_lower_transposed(short.expr),
            size * short.bound,
        ),
        3 => bounded(factor.solve_lower(square.expr), size * square.bound),
        4 => bounded(factor.solve_lower_right(table.expr), size * table.bound),
        5 => bounded(
            factor.solve_lower_transposed_right(table.expr),
            size * table.bound,
        ),
        _ => bounded(factor.log_determinant_of_factor(), size * size),
    }
}

fn lane<'g>(program: &Program<'g>, random: &mut Random) -> Option<Bounded<'g>> {
    let x = program.any(random);
    if random.chance(0.5) {
        return bounded(x.expr - x.expr.mean_lanes(), 2.0 * x.bound);
    }
    let lanes = program.settings.lanes as f64;
    bounded(x.expr.sum_lanes(), lanes * x.bound)
}
