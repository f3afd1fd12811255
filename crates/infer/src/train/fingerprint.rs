//! Checks that a checkpoint belongs to this fit.

use super::{Task, TrainSettings};
use crate::guide::LearnedBlocks;
use crate::program::Program;

impl Task<'_> {
    /// A number that differs between fits that must not share a checkpoint. The objective and
    /// gradient of the first step represent the guide, the whitening, the rows and their scores.
    pub(super) fn fingerprint(
        &self,
        program: &mut Program,
        learned: &LearnedBlocks,
        settings: &TrainSettings,
    ) -> u64 {
        let mut hasher = crc32fast::Hasher::new();
        if let Some(predictive) = self.density.predictive() {
            hasher.update(predictive.describe().as_bytes());
        }
        for block in learned.blocks() {
            hasher.update(block.name.as_bytes());
            hasher.update(&(block.start.len() as u64).to_le_bytes());
        }
        program.set_learned(&learned.values);
        program.fill(self.density.source(), 0);
        program.run();
        let outputs = (0..=learned.blocks().len()).flat_map(|place| program.output(place));
        for value in learned.values.iter().chain(outputs) {
            hasher.update(&value.to_bits().to_le_bytes());
        }
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(settings.words().as_bytes());
        u64::from(hasher.finalize())
    }
}

impl TrainSettings {
    /// All settings that determine the steps, in words, with those that are not settings any
    /// more: the objective, its gradient and blocks held fixed.
    fn words(&self) -> String {
        let TrainSettings {
            iterations,
            lanes,
            schedule,
            clip,
            max_bad_share,
        } = self;
        format!("{iterations:?} {lanes} {schedule:?} {clip:?} Elbo Total [] {max_bad_share}")
    }
}
