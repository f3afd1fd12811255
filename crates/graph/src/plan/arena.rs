//! An allocator for parts of one block of memory.

/// Parts start at multiples of this many numbers, one cache line.
pub(crate) const LINE: usize = 8;

/// A best-fit allocator over offsets; it owns no memory.
#[derive(Default)]
pub(crate) struct Arena {
    /// Free parts as (offset, size), by offset, never touching.
    free: Vec<(usize, usize)>,
    end: usize,
}

impl Arena {
    /// How many numbers the arena must hold.
    pub(crate) fn size(&self) -> usize {
        self.end
    }

    /// The offset of a new part.
    pub(crate) fn take_space(&mut self, size: usize) -> usize {
        let size = size.next_multiple_of(LINE);
        let fitting = (0..self.free.len()).filter(|&i| self.free[i].1 >= size);
        let Some(i) = fitting.min_by_key(|&i| self.free[i].1) else {
            self.end += size;
            return self.end - size;
        };
        let (offset, length) = self.free[i];
        if length == size {
            self.free.remove(i);
        } else {
            self.free[i] = (offset + size, length - size);
        }
        offset
    }

    /// Gives a part back.
    pub(crate) fn give_back(&mut self, offset: usize, size: usize) {
        let size = size.next_multiple_of(LINE);
        if size == 0 {
            return;
        }
        let at = self.free.partition_point(|&(o, _)| o < offset);
        self.free.insert(at, (offset, size));
        if at + 1 < self.free.len() && offset + size == self.free[at + 1].0 {
            self.free[at].1 += self.free[at + 1].1;
            self.free.remove(at + 1);
        }
        if at > 0 && self.free[at - 1].0 + self.free[at - 1].1 == offset {
            self.free[at - 1].1 += self.free[at].1;
            self.free.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_back_is_used_again() {
        let mut arena = Arena::default();
        let a = arena.take_space(10);
        let b = arena.take_space(3);
        let c = arena.take_space(20);
        assert_eq!([a, b, c], [0, 16, 24]);
        arena.give_back(a, 10);
        arena.give_back(b, 3);
        assert_eq!(arena.take_space(24), 0, "neighbours join");
        assert_eq!(arena.size(), 48);
    }
}
