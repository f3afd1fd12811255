//! What the first rows foretell: where all rows bear it out, one pass over them is enough to learn from.

use lehr_formula::Round;
use lehr_table::Table;

use crate::blocks::{Blocks, Taught};
use crate::cluster::encoded;
use crate::error::RegressionError;
use crate::learning::{Levels, Request, Scales, TableFacts};
use crate::lesson::{Lesson, Pupil};
use crate::part::{Clue, Guess, Part, guessed_from};
use crate::recognition;

/// A family and levels by the first rows, and scales that are yet to be learnt by them.
struct Outlook<'f> {
    request: Request<'f>,
    scales: Scales,
}

impl Part {
    /// Learns from all rows in one pass, or in two where the first rows do not have all levels; `None`
    /// where it takes more, or a row is not what the first ones promise: learning in order tells why.
    pub(crate) fn learn_at_once<'f>(
        &self,
        formula: &'f str,
        blocks: &dyn Blocks,
    ) -> Result<Option<(Request<'f>, TableFacts)>, RegressionError> {
        let Some(first) = blocks.glance(&self.columns())? else {
            return Ok(None);
        };
        let Some(Outlook { request, scales }) = self.outlook(formula, &first, blocks) else {
            return Ok(None);
        };
        let foretold = encoded(&scales);
        let lessons = self.lessons(&request, scales, blocks)?;
        let (rows, mut taught) = blocks.teach_all(lessons)?;
        let Some(levels) = borne_out(&request, &mut taught)?.filter(|_| rows > 0) else {
            return Ok(None);
        };
        let next = levels.finish(&request, blocks)?;
        let seen = taught.swap_remove(SCALES).map(|lesson| lesson.pupil);
        let (scales, rows) = match seen {
            Some(Pupil::Scales(seen)) if encoded(&next) == foretold => (*seen, rows),
            _ => next.round(&request.terms, blocks)?,
        };
        let facts = scales.finish(&request.terms, rows)?;
        Ok(Some((request, facts)))
    }

    /// What the first rows foretell; `None` where they are no help.
    fn outlook<'f>(
        &self,
        formula: &'f str,
        first: &Table,
        blocks: &dyn Blocks,
    ) -> Option<Outlook<'f>> {
        let family = match (self.family, guessed_from(&self.terms)) {
            (Some(family), _) | (None, Clue::Family(family)) => family,
            (None, Clue::Column(name)) => {
                let mut guess = Guess::new(name);
                guess.see(first);
                guess.finish().ok()?
            }
        };
        let request = self.request(formula, family, blocks).ok()?;
        let mut lesson = levels_lesson(&request).ok()?;
        lesson.see(first, 0).ok()?;
        let Pupil::Levels(mut levels) = lesson.pupil else {
            unreachable!("a lesson keeps its pupil");
        };
        if levels.turn().ok()? == Round::Another {
            return None;
        }
        let scales = levels.finish(&request, blocks).ok()?;
        Some(Outlook { request, scales })
    }

    /// All lessons of one pass, in their order.
    fn lessons(
        &self,
        request: &Request<'_>,
        scales: Scales,
        blocks: &dyn Blocks,
    ) -> Result<Vec<Lesson>, RegressionError> {
        let terms = &self.terms;
        let mut lessons = vec![
            recognition::lesson(terms, self.family, blocks),
            levels_lesson(request)?,
            Lesson::new(&request.terms, Pupil::Scales(Box::new(scales))),
        ];
        if let (None, Clue::Column(name)) = (self.family, guessed_from(terms)) {
            lessons.push(Lesson::new(terms, Pupil::Guess(Guess::new(name))));
        }
        Ok(lessons)
    }
}

/// The places of lessons.
const RECOGNITION: usize = 0;
const LEVELS: usize = 1;
const SCALES: usize = 2;
const GUESS: usize = 3;

fn levels_lesson(request: &Request<'_>) -> Result<Lesson, RegressionError> {
    let levels = Levels::new(&request.terms, request.family)?;
    Ok(Lesson::new(&request.terms, Pupil::Levels(Box::new(levels))))
}

/// The levels of all rows, if those have the family of the first ones and need no other round.
fn borne_out(
    request: &Request<'_>,
    taught: &mut Taught,
) -> Result<Option<Levels>, RegressionError> {
    if let Some(lesson) = &taught[RECOGNITION] {
        recognition::judge(lesson)?;
    }
    if let Some(Some(Lesson {
        pupil: Pupil::Guess(guess),
        ..
    })) = taught.get(GUESS)
        && guess.finish()? != request.family
    {
        return Ok(None);
    }
    let Some(Pupil::Levels(mut levels)) = taught[LEVELS].take().map(|lesson| lesson.pupil) else {
        return Ok(None);
    };
    let last = levels.turn()? == Round::Last;
    Ok(last.then_some(*levels))
}
