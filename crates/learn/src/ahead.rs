//! Learns from a table: in one pass if the first rows already show every level, else in rounds.

use lehr_formula::{Round, Terms};
use lehr_table::Table;

use crate::accumulator::{Accumulator, Learner, LearningPass};
use crate::error::LearnError;
use crate::learning::{
    LearningRequest, LevelAccumulator, ScaleAccumulator, TableFacts, learn_in_rounds, round,
};
use crate::recognition::Recognition;
use crate::response::family_guess::{FamilyEvidence, FamilyGuess, FamilyOrigin};
use crate::response_rule::ResponseForm;
use crate::table_source::{Blocks, LearningResult, learned};

/// A formula, with a family that may still have to be guessed from the response.
pub struct Outline<'a, 'f> {
    /// The terms of the formula.
    pub terms: &'a Terms,
    /// Whether the family is given or is to be guessed.
    pub family: FamilyOrigin,
    /// Resolves the formula for the family that the user named, or for the default one of this form.
    pub request: &'a dyn Fn(Option<ResponseForm>) -> Result<LearningRequest<'f>, LearnError>,
}

/// A family and levels from the first rows, and scales to be learned with them.
struct Preview<'f> {
    /// The form by which the family was chosen, unless the user named it.
    form: Option<ResponseForm>,
    request: LearningRequest<'f>,
    scales: ScaleAccumulator,
}

impl<'f> Outline<'_, 'f> {
    /// Learns levels, constants and scales from all rows. Refuses what cannot be fitted.
    pub fn learn(
        &self,
        blocks: &dyn Blocks,
    ) -> Result<(LearningRequest<'f>, TableFacts), LearnError> {
        if let Some(found) = self.learn_at_once(blocks)? {
            return Ok(found);
        }
        let recognition = Recognition::new(self.terms, self.family, blocks);
        learned(self.terms, recognition, blocks)?.0.judge()?;
        // The same rows are left out for missing values as in the fit.
        let form = self.form(&|guess| Ok(learned(self.terms, guess, blocks)?.0))?;
        let request = (self.request)(form)?;
        let facts = learn_in_rounds(&request, blocks)?;
        Ok((request, facts))
    }

    /// The form of the response, which is guessed after `read` has shown rows to the guess; `None` if
    /// the user named the family.
    fn form(
        &self,
        read: &dyn Fn(FamilyGuess) -> Result<FamilyGuess, LearnError>,
    ) -> Result<Option<ResponseForm>, LearnError> {
        Ok(match FamilyEvidence::of(self.terms, self.family) {
            FamilyEvidence::Named => None,
            FamilyEvidence::Form(form) => Some(form),
            FamilyEvidence::Column(name) => Some(read(FamilyGuess::new(name))?.finish()?),
        })
    }

    /// Learns from all rows in one pass, or in two if the first rows do not have all levels. `None`
    /// if more are needed, or if a row contradicts the first ones: learning in order then reports
    /// the reason.
    fn learn_at_once(
        &self,
        blocks: &dyn Blocks,
    ) -> Result<Option<(LearningRequest<'f>, TableFacts)>, LearnError> {
        let Some(first) = blocks.peek_rows(&self.terms.column_names())? else {
            return Ok(None);
        };
        let Some(preview) = self.preview(&first, blocks) else {
            return Ok(None);
        };
        let accumulators = self.accumulators(&preview, blocks)?;
        let (rows, mut learned) = blocks.accumulate_all(accumulators)?;
        let Some(levels) = confirmed_levels(&preview, &mut learned)?.filter(|_| rows > 0) else {
            return Ok(None);
        };
        let Preview {
            request, scales, ..
        } = preview;
        let next = levels.finish(&request, blocks)?;
        let (scales, rows) = match learner(&mut learned, SCALES) {
            Some(seen) if next == scales => (seen, rows),
            _ => round(&request.terms, next, blocks)?,
        };
        let facts = scales.finish(&request.terms, rows)?;
        Ok(Some((request, facts)))
    }

    /// The prediction from the first rows; `None` if they do not help.
    fn preview(&self, first: &Table, blocks: &dyn Blocks) -> Option<Preview<'f>> {
        let first_rows = |mut guess: FamilyGuess| {
            guess.add_rows(self.terms, first, 0)?;
            Ok(guess)
        };
        let form = self.form(&first_rows).ok()?;
        let request = (self.request)(form).ok()?;
        let mut accumulator =
            LearningPass::new(&request.terms, LevelAccumulator::new(&request).ok()?);
        accumulator.add_rows(first, 0).ok()?;
        let mut levels = accumulator.learner;
        if levels.next_round().ok()? == Round::Another {
            return None;
        }
        let scales = levels.finish(&request, blocks).ok()?;
        Some(Preview {
            form,
            request,
            scales,
        })
    }

    /// All accumulators of one pass, in order.
    fn accumulators(
        &self,
        preview: &Preview<'_>,
        blocks: &dyn Blocks,
    ) -> Result<Vec<Box<dyn Accumulator>>, LearnError> {
        let (terms, request) = (self.terms, &preview.request);
        let recognition = Recognition::new(terms, self.family, blocks);
        let mut accumulators: Vec<Box<dyn Accumulator>> = vec![
            Box::new(LearningPass::new(terms, recognition)),
            Box::new(LearningPass::new(
                &request.terms,
                LevelAccumulator::new(request)?,
            )),
            Box::new(LearningPass::new(&request.terms, preview.scales.clone())),
        ];
        if let FamilyEvidence::Column(name) = FamilyEvidence::of(terms, self.family) {
            accumulators.push(Box::new(LearningPass::new(terms, FamilyGuess::new(name))));
        }
        Ok(accumulators)
    }
}

/// The indices of the accumulators.
const RECOGNITION: usize = 0;
const LEVELS: usize = 1;
const SCALES: usize = 2;
const GUESS: usize = 3;

/// The learner of an accumulator after the pass, unless some row was unexpected.
fn learner<P: Learner>(learned: &mut LearningResult, place: usize) -> Option<P> {
    let accumulator = learned.get_mut(place)?.take()?;
    Some(LearningPass::of(accumulator).learner)
}

/// The levels of all rows, if these have the family of the first ones and need no other round.
fn confirmed_levels(
    preview: &Preview<'_>,
    learned: &mut LearningResult,
) -> Result<Option<LevelAccumulator>, LearnError> {
    if let Some(recognition) = learner::<Recognition>(learned, RECOGNITION) {
        recognition.judge()?;
    }
    if let Some(guess) = learner::<FamilyGuess>(learned, GUESS)
        && Some(guess.finish()?) != preview.form
    {
        return Ok(None);
    }
    let Some(mut levels) = learner::<LevelAccumulator>(learned, LEVELS) else {
        return Ok(None);
    };
    let last = levels.next_round()? == Round::Last;
    Ok(last.then_some(levels))
}
