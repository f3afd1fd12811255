//! Derivatives as expressions: reverse for gradients, forward for directional derivatives.

use std::collections::HashMap;

use crate::expr::{Expr, Graph, NodeId, add_parts};
use crate::outer;
use crate::primitive::{Application, Op};

impl Graph {
    /// The gradient of `of` (summed over its entries and lanes) in each of `wrt`.  Lanes are
    /// independent, so the gradient in a laned array is each lane's own; in an unlaned one it is
    /// the sum over lanes. The results can be differentiated again. Only nodes on paths from `wrt`
    /// to `of` are built.
    ///
    /// # Panics
    /// If an array of `wrt` is computed and no [`Expr::anchor`]: rules that simplify while a
    /// program is written may have looked through it, and the derivative would miss those paths.
    pub fn grad<'g>(&'g self, of: Expr<'g>, wrt: &[Expr<'g>]) -> Vec<Expr<'g>> {
        self.assert_own(wrt);
        for array in wrt {
            assert!(
                array.op().is_leaf(),
                "a gradient in a computed array needs an anchor: take {array:?}.anchor() and compute \
                 with that"
            );
        }
        let active = self.mark_active(of, wrt);
        let mut adjoints: HashMap<NodeId, AdjointTerms<'g>> = HashMap::new();
        let start = adjoints.entry(of.id).or_default();
        start.own.push(of.filled_like(1.0));
        let mut found: HashMap<NodeId, Expr<'g>> = HashMap::new();
        for place in (0..active.len()).rev().filter(|&p| active[p]) {
            let id = NodeId(place as u32);
            let Some(parts) = adjoints.remove(&id) else {
                continue;
            };
            let adjoint = parts.total();
            if wrt.iter().any(|w| w.id == id) {
                found.insert(id, adjoint);
            }
            pull_adjoint(self.expr(id), adjoint, &active, &mut adjoints);
        }
        let known = |w: &Expr<'g>| found.get(&w.id).copied();
        let gradient = |w| known(w).unwrap_or_else(|| w.filled_like(0.0));
        wrt.iter().map(gradient).collect()
    }

    /// The derivative of each of `of` along `along`, the direction in which `wrt` moves.
    pub fn jvp<'g>(
        &'g self,
        of: &[Expr<'g>],
        wrt: &[Expr<'g>],
        along: &[Expr<'g>],
    ) -> Vec<Expr<'g>> {
        self.assert_own(&[wrt, along].concat());
        assert_eq!(wrt.len(), along.len(), "jvp: one direction for each array");
        let mut tangents: HashMap<NodeId, Option<Expr<'g>>> = HashMap::new();
        for (w, t) in wrt.iter().zip(along) {
            let fits = w.shape() == t.shape();
            assert!(fits, "jvp: a direction has its array's shape");
            tangents.insert(w.id, known_tangent(*t));
        }
        let reachable = self.mark_reachable(of);
        for place in (0..reachable.len()).filter(|&p| reachable[p]) {
            let id = NodeId(place as u32);
            if !tangents.contains_key(&id) {
                let tangent = push_tangent(self.expr(id), &tangents);
                tangents.insert(id, tangent.and_then(known_tangent));
            }
        }
        let tangent = |e: &Expr<'g>| tangents[&e.id].unwrap_or_else(|| e.filled_like(0.0));
        of.iter().map(tangent).collect()
    }

    /// Which nodes up to `of` lead to it, by place.
    pub(crate) fn mark_reachable(&self, of: &[Expr<'_>]) -> Vec<bool> {
        self.assert_own(of);
        let nodes = self.nodes();
        let end = of.iter().map(|e| e.id.index() + 1).max().unwrap_or(0);
        let mut reachable = vec![false; end];
        for e in of {
            reachable[e.id.index()] = true;
        }
        for place in (0..end).rev() {
            if reachable[place] {
                for input in &nodes[place].inputs {
                    reachable[input.index()] = true;
                }
            }
        }
        reachable
    }

    /// Which nodes lie on a path from `wrt` to `of`, by place.
    fn mark_active(&self, of: Expr<'_>, wrt: &[Expr<'_>]) -> Vec<bool> {
        let mut active = self.mark_reachable(&[of]);
        let nodes = self.nodes();
        for place in 0..active.len() {
            let starts = wrt.iter().any(|w| w.id.index() == place);
            let depends = nodes[place].inputs.iter().any(|i| active[i.index()]);
            active[place] &= starts || depends;
        }
        active
    }
}

/// The tangent, or `None` if it is known to be zero, so that derivatives of constant parts are
/// skipped.
fn known_tangent(tangent: Expr<'_>) -> Option<Expr<'_>> {
    (!tangent.is_filled_with(0.0)).then_some(tangent)
}

/// Passes the adjoint of a node on to its operands.
fn pull_adjoint<'g>(
    out: Expr<'g>,
    adjoint: Expr<'g>,
    active: &[bool],
    adjoints: &mut HashMap<NodeId, AdjointTerms<'g>>,
) {
    let inputs = out.operands();
    let site = Application {
        out,
        inputs: &inputs,
    };
    let op = out.op();
    for (k, input) in inputs.iter().enumerate() {
        if !active[input.id.index()] {
            continue;
        }
        let Some(part) = op.pullback(&site, adjoint, k) else {
            continue;
        };
        debug_assert_eq!(part.shape(), input.shape(), "pullback of {}", op.name());
        let adjoint = adjoints.entry(input.id).or_default();
        // An array without lanes sums the contributions of all lanes.
        if out.is_laned() && !input.is_laned() {
            adjoint.from_lanes.push(part);
        } else {
            adjoint.own.push(part);
        }
    }
}

/// The tangent of a node from those of its operands.
fn push_tangent<'g>(
    out: Expr<'g>,
    tangents: &HashMap<NodeId, Option<Expr<'g>>>,
) -> Option<Expr<'g>> {
    let inputs = out.operands();
    let parts: Vec<Option<Expr<'g>>> = inputs.iter().map(|e| tangents[&e.id]).collect();
    if parts.iter().all(Option::is_none) {
        return None;
    }
    let site = Application {
        out,
        inputs: &inputs,
    };
    out.op().pushforward(&site, &parts)
}

/// The contributions that have reached a node from its consumers.
#[derive(Default)]
struct AdjointTerms<'g> {
    own: Vec<Expr<'g>>,
    /// Contributions of single lanes to an array without lanes: summed over lanes once, at the end.
    from_lanes: Vec<Expr<'g>>,
}

impl<'g> AdjointTerms<'g> {
    fn total(&self) -> Expr<'g> {
        let shared = total(&self.from_lanes).map(Expr::sum_lanes);
        add_parts(total(&self.own), shared).expect("an adjoint has a contribution")
    }
}

/// The sum of the contributions to one adjoint. Slices of one axis that do not overlap are
/// concatenated, so that K slices of one array cost one copy and not K sums of mostly zeros.
fn total<'g>(parts: &[Expr<'g>]) -> Option<Expr<'g>> {
    let is_pad = |e: &&Expr<'g>| matches!(e.op(), Op::Pad { .. });
    let pads: Vec<Expr<'g>> = parts.iter().filter(is_pad).copied().collect();
    let Some(joined) = side_by_side(&pads) else {
        return sum_of(parts.iter().copied());
    };
    let rest = parts.iter().filter(|e| !is_pad(e)).copied();
    sum_of(rest.chain([joined]))
}

fn sum_of<'g>(parts: impl IntoIterator<Item = Expr<'g>>) -> Option<Expr<'g>> {
    let parts: Vec<Expr<'g>> = parts.into_iter().collect();
    outer::join_parts(&parts).into_iter().reduce(|a, b| a + b)
}

/// One concatenation from padded slices of one axis, or `None` if they overlap or differ.
fn side_by_side<'g>(pads: &[Expr<'g>]) -> Option<Expr<'g>> {
    let Op::Pad { axis, .. } = pads.first()?.op() else {
        return None;
    };
    let mut slices = Vec::with_capacity(pads.len());
    for pad in pads {
        match pad.op() {
            Op::Pad { axis: a, start } if a == axis => slices.push((start, pad.operand(0))),
            _ => return None,
        }
    }
    slices.sort_by_key(|(start, _)| *start);
    let (graph, shape) = (pads[0].graph(), pads[0].shape());
    let gap = |length| graph.full(shape.with_dim(axis, length), 0.0);
    let (mut parts, mut end) = (Vec::new(), 0);
    for (start, part) in slices {
        if start < end {
            return None;
        }
        if start > end {
            parts.push(gap(start - end));
        }
        end = start + part.shape().dims()[axis];
        parts.push(part);
    }
    let length = shape.dims()[axis];
    if end < length {
        parts.push(gap(length - end));
    }
    Some(graph.concat(&parts, axis))
}
