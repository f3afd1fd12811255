//! The learned quantities: named blocks of one flat, unconstrained vector.

use std::ops::Range;

use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

/// The names of the blocks that all Gaussians share.
pub(crate) const MEAN: &str = "base_mean";
pub(crate) const LOG_SCALE: &str = "base_log_scale";

/// One learned quantity with its unconstrained starting values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// A name that is unique within a fit, by which a block can be set.
    pub name: String,
    /// The dimensions.
    pub dims: Vec<usize>,
    /// The starting values, in row-major order.
    pub start: Vec<f64>,
}

impl Block {
    /// A block; `start` fills its dimensions.
    ///
    /// # Panics
    /// If the number of values does not fit the dimensions.
    pub fn new(name: &str, dims: &[usize], start: Vec<f64>) -> Block {
        assert_eq!(
            start.len(),
            dims.iter().product::<usize>(),
            "the start of {name:?} fills its dimensions {dims:?}"
        );
        Block {
            name: name.to_owned(),
            dims: dims.to_vec(),
            start,
        }
    }

    /// A block that starts at draws of N(0, scale²).
    pub(crate) fn random(name: &str, dims: &[usize], mut stream: Stream, scale: f64) -> Block {
        let mut start = vec![0.0; dims.iter().product()];
        stream.fill_normal(&mut start);
        for weight in &mut start {
            *weight *= scale;
        }
        Block::new(name, dims, start)
    }

    /// A block with the same starting value throughout.
    pub fn filled(name: &str, dims: &[usize], start: f64) -> Block {
        Block::new(name, dims, vec![start; dims.iter().product()])
    }
}

/// All learned quantities of a fit, and their values one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearnedBlocks {
    blocks: Vec<Block>,
    /// The values of all blocks, in order.
    pub values: Vec<f64>,
}

impl LearnedBlocks {
    /// The blocks at their starts.
    ///
    /// # Panics
    /// If two blocks share a name.
    pub fn new(blocks: Vec<Block>) -> LearnedBlocks {
        for (k, block) in blocks.iter().enumerate() {
            let known = blocks[..k].iter().any(|b| b.name == block.name);
            assert!(!known, "two learned blocks are called {:?}", block.name);
        }
        let values = blocks
            .iter()
            .flat_map(|b| b.start.iter().copied())
            .collect();
        LearnedBlocks { blocks, values }
    }

    /// The same with one additional block, at its start.
    ///
    /// # Panics
    /// If another block has its name.
    #[must_use]
    pub fn with(mut self, block: Block) -> LearnedBlocks {
        let name = &block.name;
        assert!(self.range_of(name).is_none(), "two blocks {name:?}");
        self.values.extend_from_slice(&block.start);
        self.blocks.push(block);
        self
    }

    /// The blocks in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The range of a block, by its place among the blocks.
    pub fn range(&self, place: usize) -> Range<usize> {
        let start = self.blocks[..place].iter().map(|b| b.start.len()).sum();
        start..start + self.blocks[place].start.len()
    }

    /// The range of the block of that name.
    pub fn range_of(&self, name: &str) -> Option<Range<usize>> {
        let place = self.blocks.iter().position(|b| b.name == name)?;
        Some(self.range(place))
    }

    /// The values of the block of that name.
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        self.range_of(name).map(|range| &self.values[range])
    }

    /// Copies the values of every block that the other fit has under the same name and size.
    /// Returns these names.
    pub fn take_from(&mut self, other: &LearnedBlocks) -> Vec<String> {
        let mut taken = Vec::new();
        for place in 0..self.blocks.len() {
            let name = self.blocks[place].name.clone();
            let range = self.range(place);
            if let Some(values) = other.get(&name)
                && values.len() == range.len()
            {
                self.values[range].copy_from_slice(values);
                taken.push(name);
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_the_same_name_and_size_are_taken_over() {
        let mut to = LearnedBlocks::new(vec![
            Block::filled("a", &[2], 0.0),
            Block::filled("b", &[3], 0.0),
        ]);
        let from = LearnedBlocks::new(vec![
            Block::filled("b", &[3], 5.0),
            Block::filled("a", &[1], 7.0),
        ]);
        assert_eq!(to.take_from(&from), ["b"]);
        assert_eq!(to.values, [0.0, 0.0, 5.0, 5.0, 5.0]);
    }
}
