//! Addresses and sizes of arrays in the memory of a plan.

/// A count that may grow with the lanes or rows of the current block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub(crate) per: usize,
    pub(crate) lanes: bool,
    pub(crate) rows: bool,
}

impl Extent {
    pub(crate) const ONE: Extent = Extent::fixed(1);
    pub(crate) const ZERO: Extent = Extent::fixed(0);
    pub(crate) const LANES: Extent = Extent {
        per: 1,
        lanes: true,
        rows: false,
    };
    pub(crate) const ROWS: Extent = Extent {
        per: 1,
        lanes: false,
        rows: true,
    };

    pub(crate) const fn fixed(per: usize) -> Extent {
        Extent {
            per,
            lanes: false,
            rows: false,
        }
    }

    /// Itself on a condition, else zero.
    pub(crate) fn when(self, condition: bool) -> Extent {
        if condition { self } else { Extent::ZERO }
    }

    /// The product; a zero is a plain zero.
    pub(crate) fn times(self, other: Extent) -> Extent {
        debug_assert!(!(self.lanes && other.lanes || self.rows && other.rows));
        match self.per * other.per {
            0 => Extent::ZERO,
            per => Extent {
                per,
                lanes: self.lanes || other.lanes,
                rows: self.rows || other.rows,
            },
        }
    }
}

/// The memory an address points into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Space {
    /// Values without lanes.
    Shared,
    /// Values of the current lane block.
    Lane,
    /// Laned inputs and outputs: all lanes in order.
    Pinned,
    /// Values of the current row block.
    Scratch,
    /// A large input that is lent, not copied, identified by its number.
    Lent(u32),
}

impl Space {
    /// The place of the space's base in a frame.
    pub(crate) fn index(self) -> usize {
        match self {
            Space::Shared => 0,
            Space::Lane => 1,
            Space::Pinned => 2,
            Space::Scratch => 3,
            Space::Lent(k) => 4 + k as usize,
        }
    }
}

/// The start of an array, as seen from a block of lanes and rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ArrayAddress {
    pub(crate) space: Space,
    pub(crate) offset: usize,
    /// Step from one row block to the next.
    pub(crate) per_block: usize,
    /// Step from one lane to the next; zero where no block starts at a later lane.
    pub(crate) per_lane: usize,
}

/// The start of a column of row numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct IndexAddress {
    pub(crate) slot: usize,
    pub(crate) per_block: usize,
}
