//! Sums over the hidden axis of lanes.

use super::Op;
use crate::expr::Expr;
use crate::simplify;

impl<'g> Expr<'g> {
    /// The sum over lanes. An event without lanes counts once per lane.
    #[must_use]
    pub fn sum_lanes(self) -> Expr<'g> {
        simplify::sum_lanes(self).unwrap_or_else(|| {
            let graph = self.graph();
            graph.add(Op::SumLanes, vec![self.id], self.shape(), false)
        })
    }

    /// The mean over lanes.
    #[must_use]
    pub fn mean_lanes(self) -> Expr<'g> {
        if !self.is_laned() {
            return self;
        }
        self.sum_lanes() / self.graph().lane_count()
    }

    /// The same array as a separate node, with respect to which derivatives can be taken.  Rules
    /// that simplify a program may look through a computed array to its operands, and a derivative
    /// in that array would then miss the path. An anchor is never looked through, and costs nothing
    /// when the program runs.
    #[must_use]
    pub fn anchor(self) -> Expr<'g> {
        self.graph().build(Op::Anchor, &[self], self.shape())
    }

    /// The value, whose derivative is zero.
    #[must_use]
    pub fn stop_gradient(self) -> Expr<'g> {
        self.graph().build(Op::StopGradient, &[self], self.shape())
    }
}

impl crate::expr::Graph {
    /// How many lanes a run has, as a number in the program.
    pub fn lane_count(&self) -> Expr<'_> {
        self.scalar(1.0).sum_lanes()
    }
}
