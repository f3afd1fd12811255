//! A divided table from which a regression learns.

use lehr_learn::{Accumulator, AccumulatorMessage, Blocks, EachBlock, LearnError};
use lehr_table::Field;

use super::task::{AccumulatorAnswer, PartitionTask, decoded, encoded};
use super::{Tasks, Workers};
use crate::file_table::is_text;

/// The table of the workers. Its rows are not local, so accumulators are sent to them.
pub(super) struct WorkerTable<'a> {
    pub(super) workers: &'a dyn Workers,
    pub(super) names: Vec<String>,
    pub(super) fields: Vec<Field>,
}

impl Blocks for WorkerTable<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn is_text(&self, name: &str) -> bool {
        is_text(&self.fields, name)
    }

    fn each(&self, _: &[&str], _: &mut EachBlock<'_>) -> Result<(), LearnError> {
        unreachable!("rows stay with the workers, and all that is learnt of them is a accumulator")
    }

    fn accumulate(
        &self,
        mut accumulator: Box<dyn Accumulator>,
    ) -> Result<(usize, Box<dyn Accumulator>), LearnError> {
        let task = encoded(&PartitionTask::Learn(AccumulatorMessage::of(&*accumulator)));
        let answers = self.workers.answer(Tasks::Same(&task));
        let mut rows = 0;
        for bytes in answers.map_err(LearnError::Read)? {
            let learnt: AccumulatorAnswer = decoded(&bytes)?;
            rows += learnt.rows as usize;
            accumulator.merge(learnt.accumulator.accumulator());
        }
        Ok((rows, accumulator))
    }
}
