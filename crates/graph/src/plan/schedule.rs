//! The schedule: each node runs once or per block of lanes, whole or streamed over rows.

use super::PlanOptions;
use super::rewrite::PlanNodes;
use crate::expr::Node;
use crate::primitive::matmul::{LaneTreatment, Read};
use crate::primitive::{Binary, Op, Unary};

/// How a node takes part in row loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LoopRole {
    /// Computed whole.
    Plain,
    /// Computed block by block; its leading axis is the rows.
    Map,
    /// Accumulated over the blocks.
    Tail,
}

/// The place of a node in the program's order. Phases alternate: stage 0 once, stage 0 per lane
/// block, stage 1 once, …; within a phase, plain nodes of a level come before its row loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeSlot {
    pub(crate) role: LoopRole,
    pub(crate) stage: usize,
    pub(crate) level: usize,
    /// Computed inside its only consumer.
    pub(crate) absorbed: bool,
}

/// The nodes that a plan computes, with their schedule.
pub(crate) struct ExecutionSchedule<'a> {
    pub(crate) nodes: &'a [Node],
    /// Places of the nodes that are needed, operands first.
    pub(crate) order: Vec<usize>,
    /// One event per lane; never with a single lane.
    pub(crate) laned: Vec<bool>,
    pub(crate) consumers: Vec<Vec<usize>>,
    pub(crate) is_output: Vec<bool>,
    pub(crate) slots: Vec<NodeSlot>,
    pub(crate) lanes: usize,
    pub(crate) block: usize,
}

impl<'a> ExecutionSchedule<'a> {
    pub(crate) fn new(
        program: &'a PlanNodes,
        outputs: &[usize],
        options: &PlanOptions,
    ) -> ExecutionSchedule<'a> {
        let nodes = &program.nodes;
        let mut schedule = ExecutionSchedule {
            nodes,
            laned: nodes.iter().map(|n| n.laned && options.lanes > 1).collect(),
            consumers: vec![Vec::new(); nodes.len()],
            is_output: vec![false; nodes.len()],
            slots: vec![
                NodeSlot {
                    role: LoopRole::Plain,
                    stage: 0,
                    level: 0,
                    absorbed: false,
                };
                nodes.len()
            ],
            order: program.order.clone(),
            lanes: options.lanes,
            block: options.row_block,
        };
        for &place in outputs {
            schedule.is_output[place] = true;
        }
        for &place in &schedule.order {
            for input in &nodes[place].inputs {
                schedule.consumers[input.index()].push(place);
            }
        }
        if options.fusion == super::Fusion::On {
            schedule.assign_roles();
        }
        schedule.assign_stages();
        schedule.assign_levels();
        if options.fusion == super::Fusion::On {
            schedule.absorb_nodes();
        }
        schedule
    }

    /// Fewer rows than this are not worth a loop.
    fn threshold(&self) -> usize {
        2 * self.block + 1
    }

    pub(crate) fn dims(&self, place: usize) -> &[usize] {
        self.nodes[place].shape.dims()
    }

    pub(crate) fn node_input(&self, place: usize, k: usize) -> usize {
        self.nodes[place].inputs[k].index()
    }

    /// Whether the node sums over lanes that exist.
    pub(crate) fn crosses_lanes(&self, place: usize) -> bool {
        let node = &self.nodes[place];
        let sums = match node.op {
            Op::SumLanes => true,
            Op::MatMul(op) => op.lanes == LaneTreatment::Summed,
            _ => false,
        };
        sums && self.laned[node.inputs[0].index()]
    }

    /// True for nodes that run inside a phase of lane blocks.
    pub(crate) fn in_lane_phase(&self, place: usize) -> bool {
        self.laned[place] || self.crosses_lanes(place)
    }

    /// The role the operation allows.
    fn allowed_role(&self, place: usize) -> LoopRole {
        let node = &self.nodes[place];
        let long = |place: usize| self.dims(place).first() >= Some(&self.threshold());
        let map = |yes: bool| {
            if yes && long(place) {
                LoopRole::Map
            } else {
                LoopRole::Plain
            }
        };
        let tail = || {
            if node.inputs.first().is_some_and(|i| long(i.index())) {
                LoopRole::Tail
            } else {
                LoopRole::Plain
            }
        };
        match node.op {
            Op::Reshape | Op::StopGradient | Op::Anchor => {
                map(self.dims(self.node_input(place, 0)).first() == self.dims(place).first())
            }
            Op::Slice { axis, .. } | Op::Concat { axis } => map(axis > 0),
            Op::Reduce { first: 0, .. } | Op::ScatterAdd => tail(),
            Op::Unary(_)
            | Op::Binary(_)
            | Op::Select
            | Op::Broadcast
            | Op::Gather
            | Op::Reduce { .. }
            | Op::Solve(_) => map(true),
            Op::MatMul(op) if op.lanes == LaneTreatment::Summed => LoopRole::Plain,
            Op::MatMul(op) => match (op.a, op.b) {
                (Read::Plain, _) => map(true),
                (Read::Transposed, Read::Plain) => tail(),
                _ => LoopRole::Plain,
            },
            _ => LoopRole::Plain,
        }
    }

    /// True if operand `k` is read block by block when `place` is streamed.
    pub(crate) fn is_aligned(&self, place: usize, k: usize) -> bool {
        let node = &self.nodes[place];
        let input = self.nodes[self.node_input(place, k)].shape;
        match node.op {
            Op::Gather | Op::Solve(_) => k == 1,
            Op::MatMul(op) => k == 0 || op.a == Read::Transposed,
            Op::Reduce { .. } | Op::ScatterAdd | Op::Reshape | Op::StopGradient | Op::Anchor => {
                true
            }
            _ => input.rank() == node.shape.rank() && input.dims()[0] == node.shape.dims()[0],
        }
    }

    /// Consumers first: a laned array is streamed only if no consumer needs it whole.
    fn assign_roles(&mut self) {
        for at in (0..self.order.len()).rev() {
            let place = self.order[at];
            let mut role = self.allowed_role(place);
            if role == LoopRole::Map && self.laned[place] && self.needed_whole(place) {
                role = LoopRole::Plain;
            }
            self.slots[place].role = role;
        }
    }

    fn needed_whole(&self, place: usize) -> bool {
        let whole_use = |&user: &usize| {
            let inputs = &self.nodes[user].inputs;
            let uses = (0..inputs.len()).filter(|&k| inputs[k].index() == place);
            self.slots[user].role == LoopRole::Plain
                || uses.into_iter().any(|k| !self.is_aligned(user, k))
        };
        self.is_output[place] || self.consumers[place].iter().any(whole_use)
    }

    fn assign_stages(&mut self) {
        for at in 0..self.order.len() {
            let place = self.order[at];
            let mine = self.in_lane_phase(place);
            let stage = |input: usize| {
                // Unlaned results of a lane phase are ready a stage later.
                let later = usize::from(self.crosses_lanes(input) || (!mine && self.laned[input]));
                self.slots[input].stage + later
            };
            let inputs = self.nodes[place].inputs.iter();
            self.slots[place].stage = inputs.map(|i| stage(i.index())).max().unwrap_or(0);
        }
    }

    fn same_phase(&self, a: usize, b: usize) -> bool {
        self.in_lane_phase(a) == self.in_lane_phase(b) && self.slots[a].stage == self.slots[b].stage
    }

    fn assign_levels(&mut self) {
        for at in 0..self.order.len() {
            let place = self.order[at];
            let inputs = &self.nodes[place].inputs;
            let level = |k: usize| self.level_after(place, k);
            self.slots[place].level = (0..inputs.len()).map(level).max().unwrap_or(0);
        }
    }

    /// The first level at which operand `k` allows `place` to run.
    fn level_after(&self, place: usize, k: usize) -> usize {
        let input = self.node_input(place, k);
        if !self.same_phase(place, input) {
            return 0;
        }
        let level = self.slots[input].level;
        match (self.slots[input].role, self.slots[place].role) {
            (LoopRole::Plain, _) => level,
            (LoopRole::Map, LoopRole::Map | LoopRole::Tail)
                if self.is_aligned(place, k) && self.row_count(place) == self.row_count(input) =>
            {
                level
            }
            _ => level + 1,
        }
    }

    /// How many rows a streamed node runs over.
    pub(crate) fn row_count(&self, place: usize) -> usize {
        match self.slots[place].role {
            LoopRole::Tail => self.dims(self.node_input(place, 0))[0],
            _ => self.dims(place)[0],
        }
    }

    /// True if the two run in the same row loop, or both whole in the same phase.
    pub(crate) fn belong_together(&self, a: usize, b: usize) -> bool {
        let (x, y) = (self.slots[a], self.slots[b]);
        let streamed = x.role != LoopRole::Plain;
        self.same_phase(a, b)
            && streamed == (y.role != LoopRole::Plain)
            && (!streamed || (x.level == y.level && self.row_count(a) == self.row_count(b)))
    }

    fn absorb_nodes(&mut self) {
        for at in 0..self.order.len() {
            let place = self.order[at];
            for k in self.absorbable_inputs(place) {
                let input = self.node_input(place, k);
                let single = self.consumers[input].len() == 1 && !self.is_output[input];
                if single && self.belong_together(place, input) && !self.slots[input].absorbed {
                    self.slots[input].absorbed = true;
                    break;
                }
            }
        }
    }

    /// Operands that can be computed within `place`: a product in a sum or a difference.
    fn absorbable_inputs(&self, place: usize) -> Vec<usize> {
        let is_product = |k: &usize| {
            let op = &self.nodes[self.node_input(place, *k)].op;
            matches!(op, Op::Binary(Binary::Mul) | Op::Unary(Unary::Square))
        };
        match self.nodes[place].op {
            Op::Binary(Binary::Add | Binary::Sub) => {
                let whole = |k: &usize| self.dims(self.node_input(place, *k)) == self.dims(place);
                (0..2).filter(is_product).filter(whole).collect()
            }
            Op::Reduce {
                by: crate::primitive::Reduction::Sum,
                first: 0,
                count,
            } => {
                let input = self.node_input(place, 0);
                let whole = count == self.dims(input).len() && self.is_plain_product(input);
                (0..usize::from(whole)).collect()
            }
            _ => vec![],
        }
    }

    /// A product or square of arrays of one shape, which a sum turns into an inner product.
    fn is_plain_product(&self, place: usize) -> bool {
        let op = &self.nodes[place].op;
        let product = matches!(op, Op::Binary(Binary::Mul) | Op::Unary(Unary::Square));
        let mut inputs = self.nodes[place].inputs.iter();
        product && inputs.all(|i| self.dims(i.index()) == self.dims(place))
    }
}
