//! The arrays that an array is computed from, and whether derivatives describe that dependence
//! fully.

use std::collections::{HashMap, HashSet};

use crate::expr::Expr;
use crate::primitive::{Binary, Op, Reduction, Unary};

impl<'g> Expr<'g> {
    /// Whether this array is smooth in `input`, without kinks and jumps. At a kink or jump a
    /// derivative may be zero or constant on both sides although the values are not: |x| is not
    /// affine, and the sign of x is not a constant.
    pub fn is_smooth_in(self, input: Expr<'g>) -> bool {
        self.is_smooth_with(input, &[])
    }

    /// As [`Expr::is_smooth_in`], with the arrays `fixed`, which are computed from `input`, held
    /// constant.
    pub fn is_smooth_with(self, input: Expr<'g>, fixed: &[Expr<'g>]) -> bool {
        let held = fixed.iter().map(|one| (one.id, SmoothDependence::Free));
        let mut known = HashMap::from([(input.id, SmoothDependence::Smooth)]);
        known.extend(held);
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            if known.contains_key(&expr.id) {
                continue;
            }
            let operands = expr.operands();
            let is_open = |operand: &Expr<'g>| !known.contains_key(&operand.id);
            let next: Vec<Expr<'g>> = operands.iter().copied().filter(is_open).collect();
            if next.is_empty() {
                let all: Vec<_> = operands.iter().map(|one| known[&one.id]).collect();
                known.insert(expr.id, expr.dependence(&all));
            } else {
                open.push(expr);
                open.extend(next);
            }
        }
        known[&self.id] != SmoothDependence::Broken
    }

    /// The members of `parts`, which are computed from `whole`, that this array reads; `None` if it
    /// reads `whole` in any other way. Jumps and stopped gradients count, too.
    pub fn parts_read(self, whole: Expr<'g>, parts: &[Expr<'g>]) -> Option<Vec<bool>> {
        let mut reached = vec![false; parts.len()];
        let mut seen = HashSet::new();
        let mut open = vec![self];
        while let Some(expr) = open.pop() {
            if !seen.insert(expr.id) {
                continue;
            }
            match parts.iter().position(|part| part.is(expr)) {
                Some(part) => reached[part] = true,
                None if expr.is(whole) => return None,
                None => open.extend(expr.operands()),
            }
        }
        Some(reached)
    }

    /// The dependence of this array, from the dependence of its operands.
    fn dependence(self, operands: &[SmoothDependence]) -> SmoothDependence {
        let worst = operands
            .iter()
            .copied()
            .max()
            .unwrap_or(SmoothDependence::Free);
        if worst == SmoothDependence::Free {
            return worst;
        }
        let breaks = match self.op() {
            Op::Unary(Unary::Abs | Unary::Sign)
            | Op::Binary(
                Binary::Min | Binary::Max | Binary::Less | Binary::LessEqual | Binary::Equal,
            )
            | Op::Reduce {
                by: Reduction::Max, ..
            } => true,
            // The choice between two smooth arrays may depend on the rows.
            Op::Select => operands[0] != SmoothDependence::Free,
            _ => false,
        };
        if breaks {
            SmoothDependence::Broken
        } else {
            worst
        }
    }
}

/// How an array depends on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SmoothDependence {
    Free,
    Smooth,
    Broken,
}

#[cfg(test)]
mod tests {
    use crate::Graph;

    #[test]
    fn corners_and_jumps_are_found_wherever_they_lie() {
        let graph = Graph::new();
        let (z, x) = (graph.input("z", [3]), graph.input("x", [3]));
        let zero = graph.scalar(0.0);
        for smooth in [
            (z * 2.0 + x.abs()).exp(),
            x.less(zero).select(z, z.square()),
            x.max(zero) * z,
            x.sign(),
        ] {
            assert!(smooth.is_smooth_in(z));
        }
        for broken in [
            z.abs(),
            (z * x).sign() + z,
            z.max(zero),
            z.less(zero).select(x, x * 2.0),
            (z + 1.0).min(x).exp().sum(),
        ] {
            assert!(!broken.is_smooth_in(z));
        }
    }

    #[test]
    fn what_is_held_fixed_breaks_nothing() {
        let graph = Graph::new();
        let z = graph.input("z", [4]);
        let (moved, held) = (z.slice(0, 0..2), z.slice(0, 2..4));
        let value = moved * 2.0 + held.abs();
        assert!(!value.is_smooth_in(z) && value.is_smooth_with(z, &[held]));
        assert!(!(moved.abs() + held).is_smooth_with(z, &[held]));
    }

    #[test]
    fn parts_are_found_behind_jumps_and_stopped_gradients() {
        let graph = Graph::new();
        let z = graph.input("z", [4]);
        let parts = [z.slice(0, 0..1), z.slice(0, 1..3), z.slice(0, 3..4)];
        let value = parts[0].sign() + parts[1].sum().stop_gradient();
        assert_eq!(value.parts_read(z, &parts), Some(vec![true, true, false]));
        assert_eq!((value + z.sum()).parts_read(z, &parts), None);
    }
}
