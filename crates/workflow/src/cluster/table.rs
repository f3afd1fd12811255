//! A divided table from which a regression learns.

use lehr_formula::{Factor, Terms};
use lehr_learn::{Accumulator, AccumulatorMessage, Blocks, EachBlock, LearnError};
use lehr_table::{Field, Kind};

use super::task::{Learnt, Task, decoded, encoded};
use super::{Tasks, Workers};

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
        let field = self.fields.iter().find(|field| field.name == name);
        field.is_some_and(|field| field.kind == Some(Kind::Category))
    }

    fn each(&self, _: &[&str], _: &mut EachBlock<'_>) -> Result<(), LearnError> {
        unreachable!("rows stay with the workers, and all that is learnt of them is a lesson")
    }

    fn teach(
        &self,
        mut lesson: Box<dyn Accumulator>,
    ) -> Result<(usize, Box<dyn Accumulator>), LearnError> {
        let task = encoded(&Task::Learn(AccumulatorMessage::of(&*lesson)));
        let answers = self.workers.answer(Tasks::Same(&task));
        let mut rows = 0;
        for bytes in answers.map_err(LearnError::Read)? {
            let learnt: Learnt = decoded(&bytes)?;
            rows += learnt.rows as usize;
            lesson.merge(learnt.lesson.accumulator());
        }
        Ok((rows, lesson))
    }
}

/// Refuses terms that depend on the order of all rows, which no worker has alone.
pub(crate) fn check(terms: &Terms) -> Result<(), LearnError> {
    let factors = |terms: &Terms| -> Vec<Factor> {
        let slopes = terms.groups.iter().flat_map(|group| &group.slopes);
        let all = terms.fixed.iter().chain(slopes);
        all.flat_map(|term| term.factors.clone()).collect()
    };
    let own = terms.parameters.iter().flat_map(factors);
    let spline = factors(terms)
        .into_iter()
        .chain(own)
        .find(|factor| matches!(factor, Factor::Spline(_)));
    let found = (terms.smooths.first().map(ToString::to_string))
        .or_else(|| terms.all_splines().next().map(|(_, term)| term.to_string()))
        .or_else(|| terms.monotonics.first().map(ToString::to_string))
        .or_else(|| terms.covariate.as_ref().map(ToString::to_string))
        .or_else(|| spline.map(|factor| factor.to_string()));
    match found {
        None => Ok(()),
        Some(found) => Err(LearnError::Column {
            at: "formula".into(),
            expected:
                "terms that a cluster can learn: columns, levels, poly(), scale(), (1 | group)"
                    .into(),
            found,
            hint: "fit it on one machine, from files".into(),
        }),
    }
}
