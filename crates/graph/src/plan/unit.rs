//! The order of work: phases of tasks and row loops.

use super::schedule::{ExecutionSchedule, LoopRole};
use crate::primitive::Op;

/// One node to compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeTask {
    /// The node, or a lane block's part of it.
    Compute(usize),
    /// The sum of the lane blocks' parts.
    Combine(usize),
}

/// A task or a row loop, which runs as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum WorkUnit {
    Task(NodeTask),
    /// The members of one row loop, operands first.
    Loop(Vec<usize>),
}

impl WorkUnit {
    /// The nodes it computes.
    pub(crate) fn members(&self) -> &[usize] {
        match self {
            WorkUnit::Task(NodeTask::Compute(place)) => std::slice::from_ref(place),
            WorkUnit::Task(NodeTask::Combine(_)) => &[],
            WorkUnit::Loop(members) => members,
        }
    }
}

/// Numbers of each array that a group of lanes holds: a few arrays fit a first-level cache.
const GROUP: usize = 512;

/// Units that run once, or once per block of lanes.
pub(crate) struct PhaseUnits {
    pub(crate) laned: bool,
    pub(crate) units: Vec<WorkUnit>,
}

impl ExecutionSchedule<'_> {
    /// Nodes that share the memory of their operand under another name.
    pub(crate) fn is_view(&self, place: usize) -> bool {
        match self.nodes[place].op {
            Op::Reshape | Op::StopGradient | Op::Anchor => true,
            Op::Slice { axis: 0, .. } => self.slots[place].role == LoopRole::Plain,
            Op::SumLanes => self.lanes == 1,
            _ => false,
        }
    }

    fn is_computed(&self, place: usize) -> bool {
        let op = &self.nodes[place].op;
        let given = matches!(
            op,
            Op::Scalar(_) | Op::Constant(_) | Op::Input(_) | Op::IndexInput(_)
        );
        !given && !self.is_view(place) && !self.slots[place].absorbed
    }

    /// All work in order.
    pub(crate) fn phase_units(&self) -> Vec<PhaseUnits> {
        let order = self.order.iter().copied();
        let computed: Vec<usize> = order.filter(|&p| self.is_computed(p)).collect();
        let last = computed
            .iter()
            .map(|&p| self.slots[p].stage)
            .max()
            .unwrap_or(0);
        let mut phases = Vec::new();
        for stage in 0..=last + 1 {
            let combines = computed
                .iter()
                .filter(|&&p| self.crosses_lanes(p) && self.slots[p].stage + 1 == stage)
                .map(|&p| WorkUnit::Task(NodeTask::Combine(p)));
            let mut once: Vec<WorkUnit> = combines.collect();
            once.extend(self.stage_units(&computed, stage, false));
            let laned = self.stage_units(&computed, stage, true);
            for (laned, units) in [(false, once), (true, laned)] {
                if !units.is_empty() {
                    phases.push(PhaseUnits { laned, units });
                }
            }
        }
        phases
    }

    fn stage_units(&self, computed: &[usize], stage: usize, laned: bool) -> Vec<WorkUnit> {
        let is_here = |p: &usize| self.slots[*p].stage == stage && self.in_lane_phase(*p) == laned;
        let here: Vec<usize> = computed.iter().copied().filter(is_here).collect();
        let last = here.iter().map(|&p| self.slots[p].level).max().unwrap_or(0);
        let mut by_level: Vec<(Vec<WorkUnit>, Vec<Vec<usize>>)> =
            vec![Default::default(); last + 1];
        for place in here {
            let (plain, loops) = &mut by_level[self.slots[place].level];
            if self.slots[place].role == LoopRole::Plain {
                plain.push(WorkUnit::Task(NodeTask::Compute(place)));
                continue;
            }
            let rows = self.row_count(place);
            match loops
                .iter_mut()
                .find(|members| self.row_count(members[0]) == rows)
            {
                Some(members) => members.push(place),
                None => loops.push(vec![place]),
            }
        }
        let units = by_level.into_iter().flat_map(|(plain, loops)| {
            plain
                .into_iter()
                .chain(loops.into_iter().map(WorkUnit::Loop))
        });
        units.collect()
    }

    /// How many lanes long elementwise work or an inner product should take at a time. Neighbours
    /// with the same answer run together, group by group.
    pub(crate) fn unit_group(&self, unit: &WorkUnit, lane_block: usize) -> Option<usize> {
        let WorkUnit::Task(NodeTask::Compute(place)) = *unit else {
            return None;
        };
        let node = &self.nodes[place];
        let size = match node.op {
            Op::Unary(_) | Op::Binary(_) | Op::Select => node.shape.size(),
            Op::Reduce { .. } => self.nodes[node.inputs[0].index()].shape.size(),
            _ => return None,
        };
        let group = (GROUP / size.max(1)).max(1);
        (self.laned[place] && group < lane_block).then_some(group)
    }

    /// The operands that computing `place` reads, those of absorbed operands included.
    pub(crate) fn unit_reads(&self, place: usize) -> Vec<usize> {
        let direct = self.nodes[place].inputs.iter().map(|i| i.index());
        let reads = direct.flat_map(|input| {
            if self.slots[input].absorbed {
                self.unit_reads(input)
            } else {
                vec![input]
            }
        });
        reads.collect()
    }
}
