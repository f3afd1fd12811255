//! The current block of lanes and rows: the start of its memory and how far it reaches.

use crate::instruction::CompactAddress;
use crate::instruction::{ArrayAddress, Extent, IndexAddress, Space};

/// How many numbers each space holds from its base on, for the checks of debug builds.
#[cfg(debug_assertions)]
pub(crate) struct SpaceLimits {
    /// The plan's own spaces as one block of lanes and one strip of rows see them, in the order of
    /// [`Space::index`].
    pub(crate) owned: [usize; 4],
    pub(crate) lent: Vec<usize>,
    pub(crate) indices: Vec<usize>,
}

#[cfg(debug_assertions)]
impl SpaceLimits {
    pub(super) fn of_space(&self, space: Space) -> usize {
        match space {
            Space::Lent(k) => self.lent[k as usize],
            owned => self.owned[owned.index()],
        }
    }
}

/// Resolves addresses and extents for one block.
#[derive(Clone, Copy)]
pub(crate) struct BlockFrame {
    /// Bases of the owned spaces, in the order of [`Space::index`].
    pub(crate) bases: [*mut f64; 4],
    pub(crate) lent: *const *const f64,
    pub(crate) indices: *const *const u32,
    pub(crate) lanes: usize,
    /// The first lane of the block as each space counts them, in the order of [`Space::index`].
    pub(crate) first_lanes: [usize; 4],
    pub(crate) rows: usize,
    pub(crate) block: usize,
    /// Distance between the memories of neighbouring lane blocks, and how many there are.
    pub(crate) lane_blocks: (usize, usize),
    /// How far each space reaches from its base, for the checks of debug builds.
    #[cfg(debug_assertions)]
    pub(crate) limits: *const SpaceLimits,
}

// SAFETY: blocks that run side by side write to disjoint memory (see the module's head).
unsafe impl Send for BlockFrame {}
// SAFETY: as above.
unsafe impl Sync for BlockFrame {}

impl BlockFrame {
    #[inline(always)]
    pub(super) fn extent_count(&self, extent: Extent) -> usize {
        let lanes = if extent.lanes { self.lanes } else { 1 };
        let rows = if extent.rows { self.rows } else { 1 };
        extent.per * lanes * rows
    }

    /// The part of this block from lane `first` on, of at most `count` lanes.
    pub(super) fn of_lanes(&self, first: usize, count: usize) -> BlockFrame {
        let mut frame = *self;
        frame.lanes = count.min(self.lanes - first);
        frame.first_lanes[Space::Lane.index()] += first;
        frame.first_lanes[Space::Pinned.index()] += first;
        frame
    }

    /// The start of an array, for writing.
    ///
    /// # Safety
    /// The address must belong to the plan this frame was made for.
    #[inline(always)]
    pub(super) unsafe fn pointer_at(&self, address: ArrayAddress) -> *mut f64 {
        let base = match address.space {
            // SAFETY: the table has an entry for every lent input, and lent inputs are never
            // written to.
            Space::Lent(k) => unsafe { (*self.lent.add(k as usize)).cast_mut() },
            owned => self.bases[owned.index()],
        };
        // SAFETY: the plan placed the array within its space.
        unsafe { base.add(self.address_offset(address)) }
    }

    /// How far from the base of its space an array starts.
    #[inline(always)]
    pub(super) fn address_offset(&self, address: ArrayAddress) -> usize {
        let lane = match address.space {
            Space::Lent(_) => 0,
            owned => self.first_lanes[owned.index()],
        };
        address.offset + self.block * address.per_block + lane * address.per_lane
    }

    /// The start of an array outside of row loops.
    ///
    /// # Safety
    /// As for [`BlockFrame::at`].
    #[inline(always)]
    pub(super) unsafe fn at_place(&self, place: CompactAddress) -> *mut f64 {
        let space = place.space();
        // SAFETY: the plan placed the array within its space.
        unsafe { self.bases[space].add(place.offset(self.first_lanes[space])) }
    }

    /// The start of a column of row numbers.
    ///
    /// # Safety
    /// As for [`BlockFrame::at`].
    #[inline(always)]
    pub(super) unsafe fn index_pointer(&self, address: IndexAddress) -> *const u32 {
        // SAFETY: the table has an entry for every index input.
        unsafe { (*self.indices.add(address.slot)).add(self.block * address.per_block) }
    }
}
