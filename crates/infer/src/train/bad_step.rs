//! Steps whose bound or gradient is not finite.

use super::fault::find_fault;
use super::{Loop, TrainState};
use crate::error::TrainError;

impl Loop<'_, '_> {
    /// Counts a step that was not finite, by the block in which it appears.
    pub(super) fn skip(&mut self, state: &mut TrainState) -> Result<(), TrainError> {
        state.bad_steps += 1;
        let bad = self.gradient.iter().position(|g| !g.is_finite());
        let mut blocks = 0..state.learned.blocks().len();
        let owner = bad.and_then(|at| blocks.find(|&b| state.learned.range(b).contains(&at)));
        state.bad_places[owner.unwrap_or(state.learned.blocks().len())] += 1;
        let tried = state.step + 1;
        if tried >= 100 {
            self.judge_bad_steps(state, tried)?;
        }
        Ok(())
    }

    /// Stops a run in which too many steps were not finite.
    pub(super) fn judge_bad_steps(&self, state: &TrainState, tried: u64) -> Result<(), TrainError> {
        if state.bad_steps as f64 <= self.settings.max_bad_share * tried as f64 {
            return Ok(());
        }
        let most = (0..state.bad_places.len()).max_by_key(|&place| state.bad_places[place]);
        let block = most.and_then(|place| state.learned.blocks().get(place));
        let met = find_fault(self.task, &state.learned);
        Err(TrainError::NotFinite {
            bad: state.bad_steps,
            steps: tried,
            block: block.map_or("bound", |block| &block.name).to_owned(),
            met: met.map_or_else(String::new, |words| format!(", {words}")),
        })
    }
}
