//! From expressions to a list of kernels over one block of memory.

mod arena;
mod builder;
mod capacity;
mod grid;
mod lower;
mod memory;
mod pack;
mod report;
mod rewrite;
mod schedule;
mod unit;
mod workspace;

pub use report::PlanReport;
pub use workspace::{Slot, Workspace};

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::expr::{Expr, NodeId};
use crate::instruction::{PlanPhase, Space};
use crate::kernel::run::{Machine, has_parts};
use crate::level::SimdLevel;
use crate::shape::MAX_SIZE;
use builder::Builder;
use memory::{MemoryPlan, Sizes};
use rewrite::PlanNodes;
use schedule::ExecutionSchedule;

/// Whether neighbouring nodes share a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Fusion {
    /// Products join sums, and long arrays stream through row loops.
    #[default]
    On,
    /// One kernel per node, for comparison.
    Off,
}

/// The options of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlanOptions {
    /// How many lanes a run has.
    pub lanes: usize,
    /// Whether neighbouring nodes share a loop.
    pub fusion: Fusion,
    /// Rows per block of a row loop; arrays of more than two blocks are streamed.
    pub row_block: usize,
    /// The most lanes that run together: few stay in the cache, many make large products.
    pub lane_block: usize,
    /// The instruction set of its kernels.
    pub level: SimdLevel,
}

impl PlanOptions {
    /// The defaults for a number of lanes.
    pub fn lanes(lanes: usize) -> PlanOptions {
        PlanOptions {
            lanes,
            fusion: Fusion::On,
            row_block: if lanes >= 4 { 256 } else { 512 },
            lane_block: LANE_BLOCK,
            level: SimdLevel::of_process(),
        }
    }

    /// The same options with blocks no longer than any array.
    ///
    /// # Panics
    /// Without lanes, or without rows in a block.
    fn checked(self) -> PlanOptions {
        assert!(self.lanes > 0, "a plan needs at least one lane");
        assert!(self.row_block > 0, "a block of rows needs at least one row");
        PlanOptions {
            row_block: self.row_block.min(MAX_SIZE),
            ..self
        }
    }
}

/// The default number of lanes that share a block: enough for wide products, few enough for the
/// cache.
const LANE_BLOCK: usize = 8;
/// Row loops have at most this many strips, whatever the number of threads.
const MAX_STRIPS: usize = 8;

/// A number that no other plan of the process has.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The address of an output's values.
#[derive(Clone, Copy)]
pub(crate) struct OutputAddress {
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

/// A compiled program, which runs any number of times with any number of workspaces.
///
/// ```
/// use lehr_graph::{Graph, Plan};
///
/// let graph = Graph::new();
/// let x = graph.laned_input("x", [2]);
/// let plan = Plan::new(&[x.square().sum(), x.exp().sum_lanes()], 3);
/// let mut workspace = plan.workspace();
/// workspace.set(plan.input(x).unwrap(), &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0]);
/// plan.run(&mut workspace);
/// assert_eq!(workspace.output(0), [0.0, 2.0, 8.0]);
/// assert_eq!(workspace.output(1).len(), 2);
/// ```
pub struct Plan {
    /// Identifies the plan within the process; its workspaces carry the same number.
    id: u64,
    pub(crate) phases: Vec<PlanPhase>,
    pub(crate) sizes: Sizes,
    pub(crate) lanes: usize,
    pub(crate) lane_block: usize,
    pub(crate) strips: usize,
    pub(crate) inputs: Vec<InputPlace>,
    /// Names and lengths of the index inputs.
    pub(crate) index_inputs: Vec<(String, usize)>,
    slots: HashMap<NodeId, Slot>,
    pub(crate) outputs: Vec<OutputAddress>,
    /// Constants and where they go in the shared space.
    pub(crate) constants: Vec<(usize, Vec<f64>)>,
    pub(crate) lent: usize,
    arch: pulp::Arch,
}

impl Plan {
    /// A plan for the values of `outputs`, with this many lanes.
    ///
    /// # Panics
    /// Without lanes or outputs, and if all arrays together hold more than [`crate::MAX_SIZE`] numbers.
    pub fn new(outputs: &[Expr<'_>], lanes: usize) -> Plan {
        Plan::with_options(outputs, &PlanOptions::lanes(lanes))
    }

    /// A plan made with `options`.
    ///
    /// # Panics
    /// As [`Plan::new`], without rows in a block, if a length is symbolic, or on a level that this
    /// machine lacks.
    pub fn with_options(outputs: &[Expr<'_>], options: &PlanOptions) -> Plan {
        let options = &options.checked();
        let graph = outputs.first().expect("a plan needs an output").graph();
        let nodes = graph.nodes();
        let places: Vec<usize> = outputs.iter().map(|e| e.id.index()).collect();
        let reachable = graph.mark_reachable(outputs);
        if let Some(place) =
            (0..reachable.len()).find(|&p| reachable[p] && nodes[p].shape.is_symbolic())
        {
            let shape = nodes[place].shape;
            panic!("a plan needs a real number of rows, found shape {shape}");
        }
        let program = PlanNodes::new(&nodes, &reachable, options);
        capacity::assert_countable(&program, &places, options);
        let schedule = ExecutionSchedule::new(&program, &places, options);
        let phases = schedule.phase_units();
        let blocks = options.lanes.div_ceil(options.lane_block.max(1));
        let lane_block = options.lanes.div_ceil(blocks);
        let memory = MemoryPlan::new(&schedule, &phases, lane_block);
        let plan = Plan {
            id: next_id(),
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
            arch: options.level.arch().expect("a level of this machine"),
        };
        let mut builder = Builder::new(graph, &schedule, &memory, plan);
        builder.place_inputs();
        builder.build_phases(&phases);
        builder.place_outputs(&places);
        capacity::assert_fits(&builder.plan);
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

    /// How many outputs there are.
    pub fn n_outputs(&self) -> usize {
        self.outputs.len()
    }

    /// How many lanes a run has.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// How many numbers a workspace holds.
    fn size(&self) -> usize {
        let blocks = self.lanes.div_ceil(self.lane_block);
        let per_block = self.sizes.lane + self.sizes.scratch * self.strips;
        self.sizes.shared + self.sizes.pinned + blocks * per_block
    }

    /// Memory to run in.
    ///
    /// # Panics
    /// If there is not as much memory.
    pub fn workspace(&self) -> Workspace {
        Workspace::new(self)
    }

    /// Computes all outputs from the inputs in `workspace`. Allocates nothing. Uses the threads of
    /// the current rayon pool if that is faster; the bits do not depend on their number.
    ///
    /// # Panics
    /// If the workspace belongs to another plan, or an input was never set.
    pub fn run(&self, workspace: &mut Workspace) {
        let frame = workspace.new_frame(self);
        let machine = Machine {
            frame,
            lanes: self.lanes,
            lane_block: self.lane_block,
            scratch: (self.sizes.scratch, self.strips),
        };
        machine.run_phases(self.arch, &self.phases);
    }

    /// Whether parts of a run would use several threads.
    pub fn has_parts(&self) -> bool {
        has_parts(
            &self.phases,
            self.lanes,
            self.lanes.div_ceil(self.lane_block),
        )
    }

    /// A readable summary of the plan.
    pub fn report(&self) -> PlanReport {
        PlanReport::new(self)
    }
}
