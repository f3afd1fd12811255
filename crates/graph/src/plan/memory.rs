//! The address of each array: views share memory, and lifetimes decide what is reused.

use super::arena::Arena;
use super::schedule::{ExecutionSchedule, LoopRole};
use super::unit::{NodeTask, PhaseUnits, WorkUnit};
use crate::instruction::{ArrayAddress, Extent, Space};
use crate::primitive::Op;

/// A buffer of its own: the memory of one node and all its views.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    pub(crate) space: Space,
    pub(crate) offset: usize,
    pub(crate) size: usize,
    /// Step from one lane to the next, as instructions see it.
    pub(crate) lane: Extent,
    pub(crate) per_lane: usize,
    /// Rows from one row block to the next, those of all lanes where they lie together.
    pub(crate) block_rows: usize,
}

impl Buffer {
    /// A buffer that all lanes share, outside of row loops.
    fn shared(space: Space, offset: usize, size: usize) -> Buffer {
        Buffer {
            space,
            offset,
            size,
            lane: Extent::ZERO,
            per_lane: 0,
            block_rows: 0,
        }
    }
}

/// A node's view of a buffer.
#[derive(Clone, Copy, Debug)]
struct BufferView {
    root: usize,
    offset: usize,
    /// Numbers per row of the node itself, which a reshape changes.
    inner: usize,
}

/// How large each memory space is, in numbers.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Sizes {
    pub(crate) shared: usize,
    pub(crate) lane: usize,
    pub(crate) pinned: usize,
    pub(crate) scratch: usize,
}

/// The memory of a whole plan.
pub(crate) struct MemoryPlan {
    views: Vec<BufferView>,
    buffers: Vec<Option<Buffer>>,
    /// The lane blocks' parts of sums over lanes.
    parts: Vec<Option<Buffer>>,
    /// The strips' accumulators of row loops.
    strips: Vec<Option<Buffer>>,
    pub(crate) sizes: Sizes,
    /// Inputs that are lent, in the order of their numbers.
    pub(crate) lent: Vec<usize>,
}

/// Inputs of at least this many numbers can be lent rather than copied.
const LEND: usize = 1 << 11;

impl MemoryPlan {
    pub(crate) fn new(
        schedule: &ExecutionSchedule<'_>,
        phases: &[PhaseUnits],
        lane_block: usize,
    ) -> MemoryPlan {
        let mut memory = MemoryPlan {
            views: collect_views(schedule),
            buffers: vec![None; schedule.nodes.len()],
            parts: vec![None; schedule.nodes.len()],
            strips: vec![None; schedule.nodes.len()],
            sizes: Sizes::default(),
            lent: Vec::new(),
        };
        let mut layout = Layouter {
            lives: Lives::new(schedule, phases, &memory.views),
            schedule,
            memory: &mut memory,
            shared: Arena::default(),
            lane: Arena::default(),
            lane_block,
        };
        layout.pin_inputs();
        layout.place_phases(phases);
        let (shared, lane) = (layout.shared.size(), layout.lane.size());
        memory.sizes.shared = shared;
        memory.sizes.lane = lane;
        memory
    }

    /// The address of a node; `streamed` where it is read block by block.
    pub(crate) fn node_address(&self, place: usize, streamed: bool) -> ArrayAddress {
        let (view, buffer) = (self.views[place], self.node_buffer(place));
        let per_block = if streamed {
            buffer.block_rows * view.inner
        } else {
            0
        };
        ArrayAddress {
            per_block,
            ..buffer_address(&buffer, view.offset)
        }
    }

    pub(crate) fn node_buffer(&self, place: usize) -> Buffer {
        self.buffers[self.views[place].root].expect("every root has a buffer")
    }

    /// Where a lane block's part of a sum over lanes goes.
    pub(crate) fn part_address(&self, place: usize) -> ArrayAddress {
        buffer_address(&self.parts[place].expect("a sum over lanes has parts"), 0)
    }

    /// The accumulator of a row loop's tail, per strip.
    pub(crate) fn strip_address(&self, place: usize) -> ArrayAddress {
        buffer_address(&self.strips[place].expect("a tail has an accumulator"), 0)
    }

    /// True if the node is computed directly into memory that an output may expose.
    pub(crate) fn shows(&self, schedule: &ExecutionSchedule<'_>, place: usize) -> bool {
        let computed = matches!(
            schedule.nodes[place].op,
            Op::Input(_) | Op::Constant(_) | Op::Scalar(_)
        );
        self.views[place].root == place && !computed
    }
}

fn buffer_address(buffer: &Buffer, offset: usize) -> ArrayAddress {
    ArrayAddress {
        space: buffer.space,
        offset: buffer.offset + offset,
        per_block: 0,
        per_lane: buffer.per_lane,
    }
}

/// Each node's buffer owner and its place within that buffer.
fn collect_views(schedule: &ExecutionSchedule<'_>) -> Vec<BufferView> {
    let own = |root: usize| {
        let shape = schedule.nodes[root].shape;
        BufferView {
            root,
            offset: 0,
            inner: shape.inner_size(1.min(shape.rank())),
        }
    };
    let mut views: Vec<BufferView> = (0..schedule.nodes.len()).map(own).collect();
    for &place in &schedule.order {
        if schedule.is_view(place) {
            let inner = views[place].inner;
            let mut view = BufferView {
                inner,
                ..views[schedule.node_input(place, 0)]
            };
            if let Op::Slice { axis: 0, start } = schedule.nodes[place].op {
                view.offset += start * schedule.nodes[place].shape.inner_size(1);
            }
            views[place] = view;
        }
    }
    views
}

/// First and last use of each buffer, by unit.
struct Lives {
    last: Vec<usize>,
    /// Whether the buffer is used outside the row loop that computes it.
    crosses: Vec<bool>,
}

impl Lives {
    fn new(schedule: &ExecutionSchedule<'_>, phases: &[PhaseUnits], views: &[BufferView]) -> Lives {
        let mut lives = Lives {
            last: vec![0; schedule.nodes.len()],
            crosses: schedule.is_output.clone(),
        };
        // An output that is a view keeps its buffer to the end.
        for &place in &schedule.order {
            if schedule.is_output[place] {
                let root = views[place].root;
                lives.crosses[root] = true;
                lives.last[root] = usize::MAX;
            }
        }
        let units = phases.iter().flat_map(|phase| &phase.units);
        for (now, unit) in units.enumerate() {
            for &user in unit.members() {
                for read in schedule.unit_reads(user) {
                    let root = views[read].root;
                    lives.last[root] = lives.last[root].max(now);
                    lives.crosses[root] |= !schedule.belong_together(user, root);
                }
            }
        }
        lives
    }
}

struct Layouter<'a, 'm> {
    schedule: &'a ExecutionSchedule<'a>,
    memory: &'m mut MemoryPlan,
    lives: Lives,
    shared: Arena,
    lane: Arena,
    lane_block: usize,
}

impl Layouter<'_, '_> {
    /// Gives inputs, constants and outputs their permanent places.
    fn pin_inputs(&mut self) {
        for at in 0..self.schedule.order.len() {
            let place = self.schedule.order[at];
            let node = &self.schedule.nodes[place];
            let given = matches!(node.op, Op::Scalar(_) | Op::Constant(_) | Op::Input(_));
            let shown = self.schedule.is_output[place] && self.memory.views[place].root == place;
            if !given && !shown {
                continue;
            }
            let buffer = self.pinned_buffer(place);
            self.memory.buffers[place] = Some(buffer);
            self.lives.last[place] = usize::MAX;
        }
    }

    fn pinned_buffer(&mut self, place: usize) -> Buffer {
        let node = &self.schedule.nodes[place];
        let size = node.shape.size();
        let mut buffer = Buffer::shared(Space::Shared, 0, size);
        buffer.block_rows = self.schedule.block;
        if self.schedule.laned[place] {
            buffer.space = Space::Pinned;
            buffer.lane = Extent::fixed(size);
            buffer.per_lane = size;
            buffer.offset = self.memory.sizes.pinned;
            self.memory.sizes.pinned += (size * self.schedule.lanes).next_multiple_of(8);
        } else if matches!(node.op, Op::Input(_)) && size >= LEND {
            buffer.space = Space::Lent(self.memory.lent.len() as u32);
            self.memory.lent.push(place);
        } else {
            buffer.offset = self.shared.take_space(size);
        }
        buffer
    }

    fn place_phases(&mut self, phases: &[PhaseUnits]) {
        let units: Vec<&WorkUnit> = phases.iter().flat_map(|phase| &phase.units).collect();
        let mut dying: Vec<Vec<usize>> = vec![Vec::new(); units.len()];
        for &place in &self.schedule.order {
            if let Some(list) = dying.get_mut(self.lives.last[place]) {
                list.push(place);
            }
        }
        let joined = self.joined(phases);
        let mut waiting = Vec::new();
        for (now, unit) in units.iter().enumerate() {
            match unit {
                WorkUnit::Task(NodeTask::Compute(place)) => self.define_single(*place, now),
                WorkUnit::Task(NodeTask::Combine(place)) => {
                    self.define_buffer(*place);
                    let part = self.memory.parts[*place].expect("computed before");
                    self.lane.give_back(part.offset, part.size);
                }
                WorkUnit::Loop(members) => self.define_loop(members),
            }
            // A later array may have taken the memory over.
            let lives = &self.lives.last;
            waiting.extend(dying[now].iter().filter(|&&p| lives[p] == now));
            if !joined[now] {
                waiting
                    .drain(..)
                    .for_each(|place| self.release_buffer(place));
            }
        }
    }

    /// The units that run together with the next one, a group of lanes at a time. Until the last of
    /// them is done, the first may still read for later lanes.
    fn joined(&self, phases: &[PhaseUnits]) -> Vec<bool> {
        let group = |unit: &WorkUnit| self.schedule.unit_group(unit, self.lane_block);
        let of_phase = |phase: &PhaseUnits| -> Vec<bool> {
            let groups: Vec<Option<usize>> = phase.units.iter().map(group).collect();
            let same = |k: usize| groups[k].is_some() && groups.get(k + 1) == Some(&groups[k]);
            (0..groups.len()).map(same).collect()
        };
        phases.iter().flat_map(of_phase).collect()
    }

    fn release_buffer(&mut self, place: usize) {
        if self.memory.views[place].root != place || self.schedule.slots[place].absorbed {
            return;
        }
        let Some(buffer) = self.memory.buffers[place] else {
            return;
        };
        match buffer.space {
            Space::Shared => self.shared.give_back(buffer.offset, buffer.size),
            Space::Lane => self.lane.give_back(buffer.offset, buffer.size),
            _ => {}
        }
    }

    /// Gives the node a buffer of its own, outside row loops.
    fn define_buffer(&mut self, place: usize) {
        if self.memory.buffers[place].is_some() {
            return;
        }
        let buffer = self.whole_buffer(place);
        self.memory.buffers[place] = Some(buffer);
    }

    fn whole_buffer(&mut self, place: usize) -> Buffer {
        let shape = self.schedule.nodes[place].shape;
        let (size, inner) = (shape.size(), shape.inner_size(1.min(shape.rank())));
        let streamed = self.schedule.slots[place].role == LoopRole::Map;
        let block = self.schedule.block;
        if !self.schedule.laned[place] {
            let offset = self.shared.take_space(size);
            return Buffer {
                block_rows: block,
                ..Buffer::shared(Space::Shared, offset, size)
            };
        }
        // A streamed laned array keeps each row block together: only row loops read it.
        let rows = if streamed {
            size.div_ceil((inner * block).max(1)) * block * inner
        } else {
            size
        };
        let size = rows * self.lane_block;
        let (lane, per_lane, block_rows) = if streamed {
            let lane = Extent::fixed(inner).times(Extent::ROWS);
            (lane, 0, block * self.lane_block)
        } else {
            (Extent::fixed(rows), rows, block)
        };
        Buffer {
            space: Space::Lane,
            offset: self.lane.take_space(size),
            size,
            lane,
            per_lane,
            block_rows,
        }
    }

    fn define_single(&mut self, place: usize, now: usize) {
        if self.schedule.crosses_lanes(place) {
            let size = self.schedule.nodes[place].shape.size();
            let offset = self.lane.take_space(size);
            self.memory.parts[place] = Some(Buffer::shared(Space::Lane, offset, size));
            return;
        }
        match self.find_heir(place, now) {
            Some(from) => {
                self.memory.buffers[place] = self.memory.buffers[from];
                self.lives.last[from] = usize::MAX - 1;
            }
            None => self.define_buffer(place),
        }
    }

    /// An operand that dies here and whose memory the elementwise result can take over.
    fn find_heir(&self, place: usize, now: usize) -> Option<usize> {
        let node = &self.schedule.nodes[place];
        let elementwise = matches!(node.op, Op::Unary(_) | Op::Binary(_) | Op::Select);
        if !elementwise || self.memory.buffers[place].is_some() {
            return None;
        }
        let fits = |&read: &usize| {
            let root = self.memory.views[read].root;
            let same = self.schedule.nodes[root].shape.size() == node.shape.size()
                && self.schedule.nodes[read].shape == node.shape
                && self.schedule.laned[root] == self.schedule.laned[place];
            let plain = self.schedule.slots[root].role == LoopRole::Plain;
            same && plain && self.lives.last[root] == now
        };
        let reads = self.schedule.unit_reads(place);
        let root = |read: usize| self.memory.views[read].root;
        let from = root(*reads.iter().find(|read| fits(read))?);
        // Every other reader of that memory must walk it in the same order.
        let in_step =
            |&read: &usize| root(read) != from || self.schedule.nodes[read].shape == node.shape;
        reads.iter().all(in_step).then_some(from)
    }

    fn define_loop(&mut self, members: &[usize]) {
        let mut scratch = Arena::default();
        let mut last = vec![0; members.len()];
        for (now, &user) in members.iter().enumerate() {
            for read in self.schedule.unit_reads(user) {
                let root = self.memory.views[read].root;
                if let Some(at) = members.iter().position(|&m| m == root) {
                    last[at] = now;
                }
            }
        }
        // Accumulators first: they live through all blocks.
        for &place in members {
            if self.schedule.slots[place].role == LoopRole::Tail {
                self.define_tail(place, &mut scratch);
            }
        }
        for now in 0..members.len() {
            self.define_member(members[now], &mut scratch);
            for at in (0..=now).filter(|&at| last[at] == now || (at == now && last[at] < now)) {
                let buffer = self.memory.buffers[members[at]].expect("defined above");
                if buffer.space == Space::Scratch {
                    scratch.give_back(buffer.offset, buffer.size);
                }
            }
        }
        self.memory.sizes.scratch = self.memory.sizes.scratch.max(scratch.size());
    }

    fn define_tail(&mut self, place: usize, scratch: &mut Arena) {
        let event = self.schedule.nodes[place].shape.size();
        let buffer = self.scratch_buffer(place, event, Extent::fixed(event), scratch);
        self.memory.strips[place] = Some(buffer);
        self.define_buffer(place);
    }

    /// A buffer of this many numbers per lane in the memory of a row block; `step` leads from one lane to the
    /// next.
    fn scratch_buffer(
        &self,
        place: usize,
        size: usize,
        step: Extent,
        scratch: &mut Arena,
    ) -> Buffer {
        let (lanes, lane) = if self.schedule.laned[place] {
            (self.lane_block, step)
        } else {
            (1, Extent::ZERO)
        };
        let size = size * lanes;
        Buffer {
            lane,
            ..Buffer::shared(Space::Scratch, scratch.take_space(size), size)
        }
    }

    fn define_member(&mut self, place: usize, scratch: &mut Arena) {
        if self.schedule.slots[place].role == LoopRole::Tail || self.lives.crosses[place] {
            return self.define_buffer(place);
        }
        let inner = self.schedule.nodes[place].shape.inner_size(1);
        let (size, step) = (
            self.schedule.block * inner,
            Extent::fixed(inner).times(Extent::ROWS),
        );
        let buffer = self.scratch_buffer(place, size, step, scratch);
        self.memory.buffers[place] = Some(buffer);
    }
}
