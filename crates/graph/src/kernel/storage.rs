//! Memory that starts on a cache line.

/// One cache line of numbers, reached through pointers only.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line {
    _numbers: [f64; 8],
}

/// A block of numbers, zero at first, aligned to cache lines.
pub(crate) struct Storage {
    lines: Vec<Line>,
}

impl Storage {
    /// Room for at least `size` numbers.
    pub(crate) fn new(size: usize) -> Storage {
        Storage {
            lines: vec![Line { _numbers: [0.0; 8] }; size.div_ceil(8)],
        }
    }

    /// How many numbers there is room for.
    pub(crate) fn size(&self) -> usize {
        self.lines.len() * 8
    }

    pub(crate) fn pointer(&mut self) -> *mut f64 {
        self.lines.as_mut_ptr().cast()
    }

    /// A part of the block.
    pub(crate) fn slice(&self, offset: usize, size: usize) -> &[f64] {
        assert!(
            offset + size <= self.lines.len() * 8,
            "a slice within its storage"
        );
        // SAFETY: within the allocation, and every bit pattern is a number.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast::<f64>().add(offset), size) }
    }

    /// A part of the block, for writing.
    pub(crate) fn slice_mut(&mut self, offset: usize, size: usize) -> &mut [f64] {
        assert!(
            offset + size <= self.lines.len() * 8,
            "a slice within its storage"
        );
        // SAFETY: as above, and `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.pointer().add(offset), size) }
    }
}
