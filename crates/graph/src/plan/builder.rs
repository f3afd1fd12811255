//! Fills a plan: inputs and constants, phases of instructions, outputs.

use super::arena::LINE;
use super::lower::Lower;
use super::memory::MemoryPlan;
use super::schedule::ExecutionSchedule;
use super::unit::{NodeTask, PhaseUnits, WorkUnit};
use super::{InputPlace, MAX_STRIPS, OutputAddress, Plan, Slot, report};
use crate::expr::{Graph, NodeId};
use crate::instruction::{ArrayAddress, Extent, Instruction, PhaseStep, PlanPhase, RowLoop, Space};
use crate::primitive::Op;

/// A plan under construction.
pub(super) struct Builder<'a> {
    graph: &'a Graph,
    schedule: &'a ExecutionSchedule<'a>,
    memory: &'a MemoryPlan,
    /// The slot of each index input, by node.
    index_slots: Vec<Option<usize>>,
    pub(super) plan: Plan,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        schedule: &'a ExecutionSchedule<'a>,
        memory: &'a MemoryPlan,
        plan: Plan,
    ) -> Builder<'a> {
        Builder {
            graph,
            schedule,
            memory,
            index_slots: vec![None; schedule.nodes.len()],
            plan,
        }
    }

    /// How many events an input or output holds.
    fn event_count(&self, place: usize) -> usize {
        if self.schedule.laned[place] {
            self.plan.lanes
        } else {
            1
        }
    }

    fn lowering(&self) -> Lower<'_> {
        Lower {
            schedule: self.schedule,
            memory: self.memory,
            index_slots: &self.index_slots,
        }
    }

    /// Places inputs and constants.
    pub(super) fn place_inputs(&mut self) {
        for &place in &self.schedule.order {
            let id = NodeId(place as u32);
            match self.schedule.nodes[place].op {
                Op::Input(input) => {
                    let buffer = self.memory.node_buffer(place);
                    let slot = Slot::Numbers(self.plan.inputs.len());
                    self.plan.slots.insert(id, slot);
                    self.plan.inputs.push(InputPlace {
                        name: self.graph.input_info(input).name,
                        space: buffer.space,
                        offset: buffer.offset,
                        size: buffer.size * self.event_count(place),
                    });
                }
                Op::IndexInput(input) => {
                    let slot = self.plan.index_inputs.len();
                    self.index_slots[place] = Some(slot);
                    self.plan.slots.insert(id, Slot::Indices(slot));
                    let length = self.schedule.nodes[place].shape.size();
                    let name = self.graph.input_info(input).name;
                    self.plan.index_inputs.push((name, length));
                }
                Op::Constant(constant) => {
                    let values = self.graph.constant_values(constant).to_vec();
                    self.plan
                        .constants
                        .push((self.memory.node_buffer(place).offset, values));
                }
                Op::Scalar(bits) => {
                    let at = self.memory.node_buffer(place).offset;
                    self.plan.constants.push((at, vec![f64::from_bits(bits)]));
                }
                _ => {}
            }
        }
    }

    pub(super) fn build_phases(&mut self, phases: &[PhaseUnits]) {
        for phase in phases {
            let mut steps = Vec::new();
            for unit in &phase.units {
                self.build_unit(unit, &mut steps);
            }
            let steps = steps.into_iter().map(PhaseStep::pack_step).collect();
            let flops = phase.units.iter().map(|unit| self.unit_flops(unit));
            let flops = flops.fold(0, u64::saturating_add);
            self.plan.phases.push(PlanPhase {
                laned: phase.laned,
                steps,
                flops,
            });
        }
    }

    /// Appends the work of one unit. A unit that is not a row loop joins the step before it if it
    /// can.
    fn build_unit(&mut self, unit: &WorkUnit, steps: &mut Vec<PhaseStep>) {
        let work = match unit {
            WorkUnit::Task(NodeTask::Compute(place)) => self.lowering().lower_node(*place),
            WorkUnit::Task(NodeTask::Combine(place)) => vec![self.lowering().lower_combine(*place)],
            WorkUnit::Loop(members) => {
                let rows = self.row_loop(members, self.unit_flops(unit));
                return steps.push(PhaseStep::Rows(rows));
            }
        };
        match (
            steps.last_mut(),
            self.schedule.unit_group(unit, self.plan.lane_block),
        ) {
            (Some(PhaseStep::Block(list)), None) => list.extend(work),
            (Some(PhaseStep::Lanes { group, list }), Some(same)) if *group == same => {
                list.extend(work);
            }
            (_, None) => steps.push(PhaseStep::Block(work)),
            (_, Some(group)) => steps.push(PhaseStep::Lanes { group, list: work }),
        }
    }

    fn row_loop(&mut self, members: &[usize], flops: u64) -> RowLoop {
        let lower = self.lowering();
        let body: Vec<Instruction> = members.iter().flat_map(|&m| lower.lower_node(m)).collect();
        let tails = members
            .iter()
            .filter_map(|&m| lower.reduction_tail(m))
            .collect();
        let (rows, block) = (self.schedule.row_count(members[0]), self.schedule.block);
        let strips = rows.div_ceil(block).min(MAX_STRIPS);
        self.plan.strips = self.plan.strips.max(strips);
        RowLoop {
            rows,
            block,
            strips,
            body,
            tails,
            flops,
        }
    }

    fn unit_flops(&self, unit: &WorkUnit) -> u64 {
        let flops = unit
            .members()
            .iter()
            .map(|&place| report::count_flops(self.schedule, place));
        flops.fold(0, u64::saturating_add)
    }

    /// Outputs that are not computed in place are copied at the end.
    pub(super) fn place_outputs(&mut self, places: &[usize]) {
        let (mut once, mut laned) = (Vec::new(), Vec::new());
        for &place in places {
            let shown = if self.memory.shows(self.schedule, place) {
                let buffer = self.memory.node_buffer(place);
                self.shown_buffer(place, buffer.space, buffer.offset)
            } else {
                let shown = self.place_of_copy(place);
                let list = if self.schedule.laned[place] {
                    &mut laned
                } else {
                    &mut once
                };
                list.push(self.copy_to(place, shown));
                shown
            };
            self.plan.outputs.push(shown);
        }
        for (laned, copies) in [(false, once), (true, laned)] {
            if !copies.is_empty() {
                self.plan.phases.push(PlanPhase {
                    laned,
                    steps: vec![PhaseStep::Block(copies)],
                    flops: 0,
                });
            }
        }
    }

    fn shown_buffer(&self, place: usize, space: Space, offset: usize) -> OutputAddress {
        let size = self.schedule.nodes[place].shape.size() * self.event_count(place);
        OutputAddress {
            space,
            offset,
            size,
        }
    }

    /// Allocates a new place at the end of its space.
    fn place_of_copy(&mut self, place: usize) -> OutputAddress {
        let sizes = self.plan.sizes;
        let (space, offset) = if self.schedule.laned[place] {
            (Space::Pinned, sizes.pinned)
        } else {
            (Space::Shared, sizes.shared)
        };
        let shown = self.shown_buffer(place, space, offset);
        let end = offset + shown.size.next_multiple_of(LINE);
        match space {
            Space::Pinned => self.plan.sizes.pinned = end,
            _ => self.plan.sizes.shared = end,
        }
        shown
    }

    fn copy_to(&self, place: usize, shown: OutputAddress) -> Instruction {
        let per_lane = if self.schedule.laned[place] {
            self.schedule.nodes[place].shape.size()
        } else {
            0
        };
        let to = ArrayAddress {
            space: shown.space,
            offset: shown.offset,
            per_block: 0,
            per_lane,
        };
        let lower = self.lowering();
        lower.export_instruction(place, to, Extent::fixed(per_lane))
    }
}
