//! Learns from a table: in one pass if the first rows already show every level, else in rounds.

use lehr_formula::{Round, Terms};
use lehr_table::Table;

use crate::accumulator::{Accumulator, Lesson, Pupil};
use crate::error::LearnError;
use crate::learning::{Levels, Request, Scales, TableFacts, learn_in_rounds, round};
use crate::recognition;
use crate::recognition::Recognition;
use crate::response::guess::{Clue, FamilyOrigin, Guess};
use crate::response_rule::Form;
use crate::table_source::{Blocks, Taught, taught};

/// A formula, with a family that may still have to be guessed from the response.
pub struct Outline<'a, 'f> {
    /// The terms of the formula.
    pub terms: &'a Terms,
    /// Whether the family is given or is to be guessed.
    pub family: FamilyOrigin,
    /// Resolves the formula for the family that the user named, or for the default one of this form.
    pub request: &'a dyn Fn(Option<Form>) -> Result<Request<'f>, LearnError>,
}

/// A family and levels from the first rows, and scales to be learned with them.
struct Outlook<'f> {
    /// The form by which the family was chosen, unless the user named it.
    form: Option<Form>,
    request: Request<'f>,
    scales: Scales,
}

impl<'f> Outline<'_, 'f> {
    /// Learns levels, constants and scales from all rows. Refuses what cannot be fitted.
    pub fn learn(&self, blocks: &dyn Blocks) -> Result<(Request<'f>, TableFacts), LearnError> {
        if let Some(found) = self.learn_at_once(blocks)? {
            return Ok(found);
        }
        recognition::check(self.terms, self.family, blocks)?;
        let form = match Clue::of(self.terms, self.family) {
            Clue::Named => None,
            Clue::Form(form) => Some(form),
            // The same rows are left out for missing values as in the fit.
            Clue::Column(name) => Some(taught(self.terms, Guess::new(name), blocks)?.0.finish()?),
        };
        let request = (self.request)(form)?;
        let facts = learn_in_rounds(&request, blocks)?;
        Ok((request, facts))
    }

    /// Learns from all rows in one pass, or in two if the first rows do not have all levels. `None`
    /// if more are needed, or if a row contradicts the first ones: learning in order then reports
    /// the reason.
    fn learn_at_once(
        &self,
        blocks: &dyn Blocks,
    ) -> Result<Option<(Request<'f>, TableFacts)>, LearnError> {
        let Some(first) = blocks.glance(&self.terms.column_names())? else {
            return Ok(None);
        };
        let Some(outlook) = self.outlook(&first, blocks) else {
            return Ok(None);
        };
        let lessons = self.lessons(&outlook, blocks)?;
        let (rows, mut taught) = blocks.teach_all(lessons)?;
        let Some(levels) = borne_out(&outlook, &mut taught)?.filter(|_| rows > 0) else {
            return Ok(None);
        };
        let Outlook {
            request, scales, ..
        } = outlook;
        let next = levels.finish(&request, blocks)?;
        let (scales, rows) = match pupil(&mut taught, SCALES) {
            Some(seen) if next == scales => (seen, rows),
            _ => round(&request.terms, next, blocks)?,
        };
        let facts = scales.finish(&request.terms, rows)?;
        Ok(Some((request, facts)))
    }

    /// The prediction from the first rows; `None` if they do not help.
    fn outlook(&self, first: &Table, blocks: &dyn Blocks) -> Option<Outlook<'f>> {
        let form = match Clue::of(self.terms, self.family) {
            Clue::Named => None,
            Clue::Form(form) => Some(form),
            Clue::Column(name) => {
                let mut guess = Guess::new(name);
                guess.see(self.terms, first, 0).ok()?;
                Some(guess.finish().ok()?)
            }
        };
        let request = (self.request)(form).ok()?;
        let mut lesson = Lesson::new(&request.terms, Levels::new(&request).ok()?);
        lesson.add_rows(first, 0).ok()?;
        let mut levels = lesson.pupil;
        if levels.turn().ok()? == Round::Another {
            return None;
        }
        let scales = levels.finish(&request, blocks).ok()?;
        Some(Outlook {
            form,
            request,
            scales,
        })
    }

    /// All lessons of one pass, in order.
    fn lessons(
        &self,
        outlook: &Outlook<'_>,
        blocks: &dyn Blocks,
    ) -> Result<Vec<Box<dyn Accumulator>>, LearnError> {
        let (terms, request) = (self.terms, &outlook.request);
        let recognition = Recognition::new(terms, self.family, blocks);
        let mut lessons: Vec<Box<dyn Accumulator>> = vec![
            Box::new(Lesson::new(terms, recognition)),
            Box::new(Lesson::new(&request.terms, Levels::new(request)?)),
            Box::new(Lesson::new(&request.terms, outlook.scales.clone())),
        ];
        if let Clue::Column(name) = Clue::of(terms, self.family) {
            lessons.push(Box::new(Lesson::new(terms, Guess::new(name))));
        }
        Ok(lessons)
    }
}

/// The indices of the lessons.
const RECOGNITION: usize = 0;
const LEVELS: usize = 1;
const SCALES: usize = 2;
const GUESS: usize = 3;

/// The pupil of a lesson after the pass, unless some row was unexpected.
fn pupil<P: Pupil>(taught: &mut Taught, place: usize) -> Option<P> {
    let lesson = taught.get_mut(place)?.take()?;
    Some(Lesson::of(lesson).pupil)
}

/// The levels of all rows, if these have the family of the first ones and need no other round.
fn borne_out(outlook: &Outlook<'_>, taught: &mut Taught) -> Result<Option<Levels>, LearnError> {
    if let Some(recognition) = pupil::<Recognition>(taught, RECOGNITION) {
        recognition.judge()?;
    }
    if let Some(guess) = pupil::<Guess>(taught, GUESS)
        && Some(guess.finish()?) != outlook.form
    {
        return Ok(None);
    }
    let Some(mut levels) = pupil::<Levels>(taught, LEVELS) else {
        return Ok(None);
    };
    let last = levels.turn()? == Round::Last;
    Ok(last.then_some(levels))
}
