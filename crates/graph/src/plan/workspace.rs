//! The memory a plan runs in, with its inputs and outputs.

use std::ops::Range;
use std::sync::Arc;

use super::Plan;
use crate::instruction::Space;
#[cfg(debug_assertions)]
use crate::kernel::frame::SpaceLimits;
use crate::kernel::run::BlockFrame;
use crate::kernel::storage::{Starts, Storage};

/// An input of a plan: numbers or row numbers, by place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Slot {
    /// An array of numbers.
    Numbers(usize),
    /// A column of row numbers.
    Indices(usize),
}

/// A large input: part of a shared array, or a copy in the workspace.
enum LentNumbers {
    Nothing,
    Shared(Arc<[f64]>, Range<usize>),
    Own(Storage),
}

/// The row numbers of an input: its own, or part of a shared array from a place on. Its own memory stays, so that
/// writing to it never allocates.
struct LentIndices {
    own: Vec<u32>,
    lent: Option<(Arc<[u32]>, usize)>,
}

/// Smaller arrays are copied to the start of a cache line rather than lent.
const SMALL: usize = 1 << 15;

/// Memory for one run at a time of one plan; inputs keep their values from run to run.
///
/// ```
/// use lehr_graph::{Graph, Plan};
///
/// let graph = Graph::new();
/// let (a, b) = (graph.input("a", [2]), graph.input("b", ()));
/// let plan = Plan::new(&[a * b], 1);
/// let mut workspace = plan.workspace();
/// workspace.set(plan.input(a).unwrap(), &[1.0, 2.0]);
/// for (b_value, expected) in [(3.0, [3.0, 6.0]), (-1.0, [-1.0, -2.0])] {
///     workspace.set(plan.input(b).unwrap(), &[b_value]);
///     plan.run(&mut workspace);
///     assert_eq!(workspace.output(0), expected);
/// }
/// ```
pub struct Workspace {
    /// The number of the plan whose offsets fit this memory.
    plan: u64,
    shared: Storage,
    lane: Storage,
    pinned: Storage,
    scratch: Storage,
    lent: Vec<LentNumbers>,
    lent_starts: Starts<f64>,
    indices: Vec<LentIndices>,
    index_starts: Starts<u32>,
    inputs: Vec<super::InputPlace>,
    outputs: Vec<super::OutputAddress>,
    lane_size: usize,
    lane_blocks: usize,
    #[cfg(debug_assertions)]
    limits: SpaceLimits,
}

impl Workspace {
    pub(super) fn new(plan: &Plan) -> Workspace {
        let blocks = plan.lanes.div_ceil(plan.lane_block);
        let mut workspace = Workspace {
            plan: plan.id,
            shared: Storage::new(plan.sizes.shared),
            lane: Storage::new(plan.sizes.lane * blocks),
            pinned: Storage::new(plan.sizes.pinned),
            scratch: Storage::new(plan.sizes.scratch * plan.strips * blocks),
            lent: (0..plan.lent).map(|_| LentNumbers::Nothing).collect(),
            lent_starts: Starts::new(plan.lent),
            indices: plan
                .index_inputs
                .iter()
                .map(|(_, n)| LentIndices::zeros(*n))
                .collect(),
            index_starts: Starts::new(plan.index_inputs.len()),
            inputs: plan.inputs.clone(),
            outputs: plan.outputs.clone(),
            lane_size: plan.sizes.lane,
            lane_blocks: blocks,
            #[cfg(debug_assertions)]
            limits: plan_limits(plan),
        };
        for (place, indices) in workspace.indices.iter().enumerate() {
            workspace.index_starts.set_start(place, &indices.own);
        }
        for (offset, values) in &plan.constants {
            workspace
                .shared
                .slice_mut(*offset, values.len())
                .copy_from_slice(values);
        }
        workspace
    }

    /// Copies values into an input; one event after another if it has lanes.
    ///
    /// # Panics
    /// If the slot is not one of numbers or the length is wrong.
    pub fn set(&mut self, slot: Slot, values: &[f64]) {
        self.numbers_mut(slot).copy_from_slice(values);
    }

    /// The numbers of an input, to write to.
    ///
    /// # Panics
    /// If the slot is not one of numbers.
    pub fn numbers_mut(&mut self, slot: Slot) -> &mut [f64] {
        let input = &self.inputs[slot_numbers(slot)];
        let (offset, size) = (input.offset, input.size);
        match input.space {
            Space::Lent(k) => self.own(k as usize, size),
            Space::Pinned => self.pinned.slice_mut(offset, size),
            _ => self.shared.slice_mut(offset, size),
        }
    }

    /// A large input's own copy, made when it is first written to.
    fn own(&mut self, k: usize, size: usize) -> &mut [f64] {
        if !matches!(self.lent[k], LentNumbers::Own(_)) {
            let mut own = Storage::new(size);
            if let LentNumbers::Shared(values, part) = &self.lent[k] {
                own.slice_mut(0, size)
                    .copy_from_slice(&values[part.clone()]);
            }
            self.lent[k] = LentNumbers::Own(own);
        }
        let LentNumbers::Own(own) = &mut self.lent[k] else {
            unreachable!("made above");
        };
        let values = own.slice_mut(0, size);
        self.lent_starts.set_start(k, values);
        values
    }

    /// Copies numbers into an input, if the plan reads it.
    ///
    /// # Panics
    /// If the slot is not one of numbers or the length is wrong.
    pub fn set_input(&mut self, slot: Option<Slot>, values: &[f64]) {
        if let Some(slot) = slot {
            self.set(slot, values);
        }
    }

    /// Lends a large input without a copy; a small one is copied.
    ///
    /// # Panics
    /// If the slot is not one of numbers or the length is wrong.
    pub fn lend(&mut self, slot: Slot, values: &Arc<[f64]>) {
        if values.len() < SMALL {
            self.set(slot, values);
        } else {
            assert_eq!(values.len(), self.size(slot), "the size of the input");
            self.lend_part(slot, values, 0);
        }
    }

    /// Lends the numbers from `from` on, as many as the input has, without a copy. If the input is
    /// small they are copied.
    ///
    /// # Panics
    /// If the slot is not one of numbers or there are too few.
    pub fn lend_part(&mut self, slot: Slot, values: &Arc<[f64]>, from: usize) {
        let part = from..from + self.size(slot);
        match self.space(slot) {
            Space::Lent(k) => {
                self.lent_starts
                    .set_start(k as usize, &values[part.clone()]);
                self.lent[k as usize] = LentNumbers::Shared(Arc::clone(values), part);
            }
            _ => self.set(slot, &values[part]),
        }
    }

    /// How many numbers an input has, its lanes included.
    ///
    /// # Panics
    /// If the slot is not one of numbers.
    pub fn size(&self, slot: Slot) -> usize {
        self.inputs[slot_numbers(slot)].size
    }

    fn space(&self, slot: Slot) -> Space {
        self.inputs[slot_numbers(slot)].space
    }

    /// Copies row numbers into an index input.
    ///
    /// # Panics
    /// If the slot is not one of row numbers or the length is wrong.
    pub fn set_indices(&mut self, slot: Slot, values: &[u32]) {
        self.indices_mut(slot).copy_from_slice(values);
    }

    /// The row numbers of an index input, to write to.
    ///
    /// # Panics
    /// If the slot is not one of row numbers.
    pub fn indices_mut(&mut self, slot: Slot) -> &mut [u32] {
        let place = row_numbers(slot);
        let input = &mut self.indices[place];
        if let Some((values, from)) = input.lent.take() {
            let length = input.own.len();
            input.own.copy_from_slice(&values[from..from + length]);
            self.index_starts.set_start(place, &input.own);
        }
        &mut input.own
    }

    /// Lends the row numbers from `from` on, as many as the input has, without a copy.
    ///
    /// # Panics
    /// If the slot is not one of row numbers or there are too few.
    pub fn lend_indices(&mut self, slot: Slot, values: &Arc<[u32]>, from: usize) {
        let place = row_numbers(slot);
        let input = &mut self.indices[place];
        let part = &values[from..from + input.own.len()];
        self.index_starts.set_start(place, part);
        input.lent = Some((Arc::clone(values), from));
    }

    /// The values of output `place` of the last run; one event after another if it has lanes.
    pub fn output(&self, place: usize) -> &[f64] {
        let shown = self.outputs[place];
        match shown.space {
            Space::Pinned => self.pinned.slice(shown.offset, shown.size),
            _ => self.shared.slice(shown.offset, shown.size),
        }
    }

    /// Bytes held, lent inputs not counted.
    pub fn bytes(&self) -> usize {
        let own = |lent: &LentNumbers| {
            if let LentNumbers::Own(own) = lent {
                own.size()
            } else {
                0
            }
        };
        let lent: usize = self.lent.iter().map(own).sum();
        let stores = [&self.shared, &self.lane, &self.pinned, &self.scratch];
        8 * (stores.iter().map(|s| s.size()).sum::<usize>() + lent)
    }

    pub(super) fn new_frame(&mut self, plan: &Plan) -> BlockFrame {
        assert_eq!(self.plan, plan.id, "this workspace belongs to another plan");
        if let Some(k) = self.lent_starts.first_missing() {
            let space = Space::Lent(k as u32);
            let input = plan.inputs.iter().find(|i| i.space == space);
            panic!("input {:?} was never set", input.map_or("", |i| &i.name));
        }
        BlockFrame {
            bases: [
                self.shared.pointer(),
                self.lane.pointer(),
                self.pinned.pointer(),
                self.scratch.pointer(),
            ],
            lent: self.lent_starts.pointer(),
            indices: self.index_starts.pointer(),
            lanes: 1,
            first_lanes: [0; 4],
            rows: 0,
            block: 0,
            lane_blocks: (self.lane_size, self.lane_blocks),
            #[cfg(debug_assertions)]
            limits: &raw const self.limits,
        }
    }
}

/// The place of an input of numbers.
fn slot_numbers(slot: Slot) -> usize {
    match slot {
        Slot::Numbers(place) => place,
        Slot::Indices(_) => panic!("an index input takes row numbers, not numbers"),
    }
}

/// The place of an input of row numbers.
fn row_numbers(slot: Slot) -> usize {
    match slot {
        Slot::Indices(place) => place,
        Slot::Numbers(_) => panic!("an input of numbers takes numbers, not row numbers"),
    }
}

impl LentIndices {
    fn zeros(count: usize) -> LentIndices {
        LentIndices {
            own: vec![0; count],
            lent: None,
        }
    }
}

/// How far each space reaches, for the checks of debug builds.
#[cfg(debug_assertions)]
fn plan_limits(plan: &Plan) -> SpaceLimits {
    let sizes = &plan.sizes;
    let mut lent = vec![0; plan.lent];
    for input in &plan.inputs {
        if let Space::Lent(k) = input.space {
            lent[k as usize] = input.size;
        }
    }
    SpaceLimits {
        owned: [sizes.shared, sizes.lane, sizes.pinned, sizes.scratch],
        lent,
        indices: plan.index_inputs.iter().map(|(_, n)| *n).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{Graph, Plan};

    #[test]
    fn lent_row_numbers_are_read_where_they_are_and_written_to_a_copy() {
        let graph = Graph::new();
        let (x, rows) = (graph.input("x", [4]), graph.index_input("rows", 2));
        let plan = Plan::new(&[x.at(rows)], 1);
        let mut workspace = plan.workspace();
        workspace.set(plan.input(x).unwrap(), &[10.0, 11.0, 12.0, 13.0]);
        let slot = plan.input(rows.expr()).unwrap();
        let shared: Arc<[u32]> = [3, 1, 0, 2].into();
        for (first, expected) in [(0, [13.0, 11.0]), (2, [10.0, 12.0]), (1, [11.0, 10.0])] {
            workspace.lend_indices(slot, &shared, first);
            plan.run(&mut workspace);
            assert_eq!(workspace.output(0), expected);
        }
        workspace.indices_mut(slot)[1] = 3;
        plan.run(&mut workspace);
        assert_eq!(workspace.output(0), [11.0, 13.0]);
        assert_eq!(*shared, [3, 1, 0, 2]);
        workspace.set_indices(slot, &[2, 2]);
        plan.run(&mut workspace);
        assert_eq!(workspace.output(0), [12.0, 12.0]);
    }
}
