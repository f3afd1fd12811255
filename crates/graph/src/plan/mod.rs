//! From expressions to a list of kernels over one block of memory.

pub(crate) mod arena;
pub(crate) mod grid;
pub(crate) mod instruction;
mod lower;
mod memory;
mod report;
mod rewrite;
mod schedule;
mod unit;
mod workspace;

pub use report::PlanReport;
pub use workspace::{Slot, Workspace};

use std::collections::HashMap;

use crate::expr::Expr;
use crate::graph::NodeId;
use crate::kernel::run::Machine;
use crate::primitive::Op;
use instruction::{Extent, Instruction, Phase, RowLoop, Space, Step};
use lower::Lower;
use memory::{Memory, Sizes};
use rewrite::Program;
use schedule::Schedule;
use unit::{PhaseUnits, Task, Unit};

/// Whether neighbouring nodes share a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fusion {
    /// Products join sums, and long arrays stream through row loops.
    #[default]
    On,
    /// One kernel per node, for comparison.
    Off,
}

/// How a plan is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanOptions {
    /// How many lanes a run has.
    pub lanes: usize,
    /// Whether neighbouring nodes share a loop.
    pub fusion: Fusion,
    /// Rows per block of a row loop; arrays of more than two blocks are streamed.
    pub row_block: usize,
}

impl PlanOptions {
    /// The defaults for a number of lanes.
    pub fn lanes(lanes: usize) -> PlanOptions {
        PlanOptions {
            lanes,
            fusion: Fusion::On,
            row_block: if lanes >= 4 { 256 } else { 512 },
        }
    }
}

/// Lanes that share a block: enough for wide products, few enough for the cache.
const LANE_BLOCK: usize = 8;
/// Row loops have at most this many strips, whatever the number of threads.
const MAX_STRIPS: usize = 8;

/// Where the values of an output are.
#[derive(Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) space: Space,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// An input of a plan.
#[derive(Clone)]
pub(crate) struct InputPlace {
    pub(crate) name: String,
    pub(crate) space: Space,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

/// A compiled program: run it as often as you like, with any number of workspaces.
pub struct Plan {
    pub(crate) phases: Vec<Phase>,
    pub(crate) sizes: Sizes,
    pub(crate) lanes: usize,
    pub(crate) lane_block: usize,
    pub(crate) strips: usize,
    pub(crate) inputs: Vec<InputPlace>,
    /// Names and lengths of the index inputs.
    pub(crate) index_inputs: Vec<(String, usize)>,
    slots: HashMap<NodeId, Slot>,
    pub(crate) outputs: Vec<Shown>,
    /// Constants and where they go in the shared space.
    pub(crate) constants: Vec<(usize, Vec<f64>)>,
    pub(crate) lent: usize,
    arch: pulp::Arch,
}

impl Plan {
    /// A plan for the values of `outputs`, with this many lanes.
    ///
    /// # Panics
    /// Without lanes or outputs.
    pub fn new(outputs: &[Expr<'_>], lanes: usize) -> Plan {
        Plan::with(outputs, &PlanOptions::lanes(lanes))
    }

    /// A plan made as `options` say.
    ///
    /// # Panics
    /// Without lanes or outputs.
    pub fn with(outputs: &[Expr<'_>], options: &PlanOptions) -> Plan {
        assert!(options.lanes > 0, "a plan needs at least one lane");
        let graph = outputs.first().expect("a plan needs an output").graph();
        let nodes = graph.nodes();
        let places: Vec<usize> = outputs.iter().map(|e| e.id.index()).collect();
        let reachable = graph.reachable(outputs);
        let program = Program::new(&nodes, &reachable, options);
        let schedule = Schedule::new(&program, &places, options);
        let phases = schedule.phases();
        let blocks = options.lanes.div_ceil(LANE_BLOCK);
        let lane_block = options.lanes.div_ceil(blocks);
        let memory = Memory::new(&schedule, &phases, lane_block);
        let mut builder = Builder {
            schedule: &schedule,
            memory: &memory,
            graph,
            plan: Plan {
                phases: Vec::new(),
                sizes: memory.sizes,
                lanes: options.lanes,
                lane_block,
                strips: 1,
                inputs: Vec::new(),
                index_inputs: Vec::new(),
                slots: HashMap::new(),
                outputs: Vec::new(),
                constants: Vec::new(),
                lent: memory.lent.len(),
                arch: pulp::Arch::new(),
            },
            index_slots: vec![None; program.nodes.len()],
        };
        builder.given();
        builder.phases(&phases);
        builder.outputs(&places);
        builder.plan
    }

    /// The slot of an input, or `None` if the plan does not need it.
    pub fn input(&self, input: Expr<'_>) -> Option<Slot> {
        self.slots.get(&input.id).copied()
    }

    /// The slot of an input by its name.
    pub fn input_named(&self, name: &str) -> Option<Slot> {
        let number = self.inputs.iter().position(|i| i.name == name);
        let index = || self.index_inputs.iter().position(|i| i.0 == name);
        number
            .map(Slot::Numbers)
            .or_else(|| index().map(Slot::Indices))
    }

    /// How many lanes a run has.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Memory to run in.
    pub fn workspace(&self) -> Workspace {
        Workspace::new(self)
    }

    /// Computes all outputs from the inputs in `workspace`. Allocates nothing. Uses the threads
    /// of the current rayon pool where that pays; the bits do not depend on their number.
    ///
    /// # Panics
    /// If the workspace belongs to another plan, or an input was never set.
    pub fn run(&self, workspace: &mut Workspace) {
        let frame = workspace.frame(self);
        let machine = Machine {
            frame,
            lanes: self.lanes,
            lane_block: self.lane_block,
            scratch: (self.sizes.scratch, self.strips),
        };
        machine.run(self.arch, &self.phases);
    }

    /// What the plan does, for people.
    pub fn report(&self) -> PlanReport {
        PlanReport::new(self)
    }
}

struct Builder<'a> {
    schedule: &'a Schedule<'a>,
    memory: &'a Memory,
    graph: &'a crate::graph::Graph,
    plan: Plan,
    index_slots: Vec<Option<usize>>,
}

impl Builder<'_> {
    fn lower(&self) -> Lower<'_> {
        Lower {
            schedule: self.schedule,
            memory: self.memory,
            index_slots: &self.index_slots,
        }
    }

    /// Inputs and constants.
    fn given(&mut self) {
        for &place in &self.schedule.order {
            let id = NodeId(place as u32);
            match self.schedule.nodes[place].op {
                Op::Input(input) => {
                    let buffer = self.memory.buffer(place);
                    let lanes = if self.schedule.laned[place] {
                        self.plan.lanes
                    } else {
                        1
                    };
                    self.plan
                        .slots
                        .insert(id, Slot::Numbers(self.plan.inputs.len()));
                    self.plan.inputs.push(InputPlace {
                        name: self.graph.input_info(input).name,
                        space: buffer.space,
                        offset: buffer.offset,
                        size: buffer.size * lanes,
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
                        .push((self.memory.buffer(place).offset, values));
                }
                Op::Scalar(bits) => {
                    let at = self.memory.buffer(place).offset;
                    self.plan.constants.push((at, vec![f64::from_bits(bits)]));
                }
                _ => {}
            }
        }
    }

    fn phases(&mut self, phases: &[PhaseUnits]) {
        for phase in phases {
            let steps: Vec<Step> = phase
                .units
                .iter()
                .flat_map(|unit| self.unit(unit))
                .collect();
            let flops = phase.units.iter().map(|unit| self.unit_flops(unit)).sum();
            self.plan.phases.push(Phase {
                laned: phase.laned,
                steps,
                flops,
            });
        }
    }

    fn unit(&mut self, unit: &Unit) -> Vec<Step> {
        match unit {
            Unit::Task(Task::Compute(place)) => self
                .lower()
                .instructions(*place)
                .into_iter()
                .map(Step::Single)
                .collect(),
            Unit::Task(Task::Combine(place)) => vec![Step::Single(self.lower().combine(*place))],
            Unit::Loop(members) => vec![Step::Rows(self.row_loop(members, self.unit_flops(unit)))],
        }
    }

    fn row_loop(&mut self, members: &[usize], flops: u64) -> RowLoop {
        let lower = self.lower();
        let body: Vec<Instruction> = members
            .iter()
            .flat_map(|&m| lower.instructions(m))
            .collect();
        let tails = members.iter().filter_map(|&m| lower.tail(m)).collect();
        let (rows, block) = (self.schedule.rows(members[0]), self.schedule.block);
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

    fn unit_flops(&self, unit: &Unit) -> u64 {
        let nodes = match unit {
            Unit::Task(Task::Compute(place)) => std::slice::from_ref(place),
            Unit::Task(Task::Combine(_)) => &[],
            Unit::Loop(members) => &members[..],
        };
        nodes
            .iter()
            .map(|&place| report::flops(self.schedule, place))
            .sum()
    }

    /// Outputs that are not computed in place are copied at the end.
    fn outputs(&mut self, places: &[usize]) {
        let (mut once, mut laned) = (Vec::new(), Vec::new());
        for &place in places {
            let size = self.schedule.nodes[place].shape.size();
            let lanes = if self.schedule.laned[place] {
                self.plan.lanes
            } else {
                1
            };
            if self.memory.shows(self.schedule, place) {
                let buffer = self.memory.buffer(place);
                self.plan.outputs.push(Shown {
                    space: buffer.space,
                    offset: buffer.offset,
                    size: size * lanes,
                });
                continue;
            }
            let (space, end) = match self.schedule.laned[place] {
                true => (Space::Pinned, &mut self.plan.sizes.pinned),
                false => (Space::Shared, &mut self.plan.sizes.shared),
            };
            let offset = *end;
            *end += (size * lanes).next_multiple_of(arena::LINE);
            let is_laned = self.schedule.laned[place];
            let to = instruction::Address {
                space,
                offset,
                per_block: 0,
                per_lane: if is_laned { size } else { 0 },
            };
            let lane = if is_laned {
                Extent::fixed(size)
            } else {
                Extent::ZERO
            };
            let copy = Step::Single(self.lower().export(place, to, lane));
            if is_laned { &mut laned } else { &mut once }.push(copy);
            self.plan.outputs.push(Shown {
                space,
                offset,
                size: size * lanes,
            });
        }
        for (laned, steps) in [(false, once), (true, laned)] {
            if !steps.is_empty() {
                self.plan.phases.push(Phase {
                    laned,
                    steps,
                    flops: 0,
                });
            }
        }
    }
}
