//! Memory that starts on a cache line, and tables of pointers to lent memory.

/// One cache line of numbers, reached through pointers only.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct CacheLine {
    _numbers: [f64; 8],
}

/// A block of numbers, zero at first, aligned to cache lines.
pub(crate) struct Storage {
    lines: Vec<CacheLine>,
}

impl Storage {
    /// Room for at least `size` numbers.
    ///
    /// # Panics
    /// If there is not as much memory.
    pub(crate) fn new(size: usize) -> Storage {
        let mut lines = Vec::new();
        let count = size.div_ceil(8);
        let is_there = lines.try_reserve_exact(count).is_ok();
        assert!(
            is_there,
            "there is no memory for an array of {size} numbers"
        );
        lines.resize(count, CacheLine { _numbers: [0.0; 8] });
        Storage { lines }
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

/// The starts of arrays that the workspace does not own, in the form that a frame reads.
pub(crate) struct Starts<T> {
    list: Vec<*const T>,
}

// SAFETY: the pointers are followed only during a run, which borrows the workspace that keeps
// the arrays alive; arrays are read only.
unsafe impl<T: Sync> Send for Starts<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Starts<T> {}

impl<T> Starts<T> {
    /// Places for `count` arrays, none set yet.
    pub(crate) fn new(count: usize) -> Starts<T> {
        Starts {
            list: vec![std::ptr::null(); count],
        }
    }

    /// Array `place` starts where `values` does.
    pub(crate) fn set_start(&mut self, place: usize, values: &[T]) {
        self.list[place] = values.as_ptr();
    }

    /// The first array that has no start yet.
    pub(crate) fn first_missing(&self) -> Option<usize> {
        self.list.iter().position(|start| start.is_null())
    }

    pub(crate) fn pointer(&self) -> *const *const T {
        self.list.as_ptr()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_start_is_found() {
        let mut starts = Starts::new(2);
        assert_eq!(starts.first_missing(), Some(0));
        starts.set_start(0, &[1.0]);
        assert_eq!(starts.first_missing(), Some(1));
    }

    #[test]
    fn storage_is_aligned_and_zero() {
        let mut storage = Storage::new(9);
        assert_eq!(storage.pointer().addr() % 64, 0);
        assert_eq!(storage.slice(0, 16), [0.0; 16]);
    }
}
