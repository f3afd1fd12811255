//! Refits without a part of the rows: K folds, whole groups, single rows.

use std::collections::HashMap;

use lehr_infer::fit::{Fit, FitError};
use lehr_infer::leave_one_out::{LeftOut, Seen, WeightedDraws, each_seen};
use lehr_infer::posterior::Posterior;
use lehr_learn::LearnError;
use lehr_numeric::order::permutation;
use lehr_table::{Column, Table};

use super::measure::{Loo, LooRow};
use crate::error::{Error, LooError};
use crate::saved_fit::{SavedFit, used_weights};

/// The setting of refits without some of the rows.
///
/// Scales, levels and priors remain those of the fitted table, so the model is the same. A group
/// with no remaining rows is predicted from the distribution of groups.
pub struct Folds<'a> {
    /// The fit, whose method is used again.
    pub saved: &'a SavedFit,
    /// The fitted table.
    pub table: &'a Table,
    /// The seed.
    pub seed: u64,
}

impl Folds<'_> {
    /// The fold of each row, assigned evenly at random.
    pub fn evenly(&self, count: usize) -> Result<Vec<usize>, Error> {
        let rows = self.table.n_rows();
        check(count, rows)?;
        let mut folds = vec![0; rows];
        for (place, row) in permutation(rows, self.seed).into_iter().enumerate() {
            folds[row] = place % count;
        }
        Ok(folds)
    }

    /// The fold of each row; rows that share a value of a column are in the same fold.
    pub fn by(&self, column: &str, count: usize) -> Result<Vec<usize>, Error> {
        let labels = self.table.column(column)?.to_category();
        let Some(Column::Category { codes, .. }) = labels else {
            return Err(LearnError::column(
                format!("--folds-by {column}"),
                "one value per row",
                "several",
                "choose another column",
            )
            .into());
        };
        let mut groups: HashMap<u32, usize> = HashMap::new();
        for code in &codes {
            let next = groups.len();
            groups.entry(*code).or_insert(next);
        }
        check(count, groups.len())?;
        let order = permutation(groups.len(), self.seed);
        let fold = |code: &u32| order[groups[code]] % count;
        Ok(codes.iter().map(fold).collect())
    }

    /// Fits without each fold in turn and scores its rows. `note` is called with the number of each
    /// fold before it is fitted.
    pub fn run(&self, folds: &[usize], note: &mut dyn FnMut(usize)) -> Result<Loo, Error> {
        self.saved.fitted("--folds")?;
        let count = folds.iter().max().map_or(0, |last| last + 1);
        let mut loo = Loo::new(self.saved);
        for fold in 0..count {
            note(fold);
            let rows = 0..folds.len();
            let (out, kept): (Vec<usize>, Vec<usize>) = rows.partition(|row| folds[*row] == fold);
            let scored = self.without(&kept, &out)?;
            loo.push(scored);
        }
        loo.rows.sort_by_key(|row| row.row);
        Ok(loo)
    }

    /// Replaces the values of rows whose k̂ is too high by those of refits without them, the worst
    /// first and at most `most`; returns how many were replaced.
    pub fn refit(
        &self,
        loo: &mut Loo,
        most: usize,
        note: &mut dyn FnMut(usize),
    ) -> Result<usize, Error> {
        let limit = lehr_numeric::pareto::shape_threshold(loo.n_draws);
        let mut high: Vec<usize> = (0..loo.rows.len()).collect();
        high.retain(|place| loo.rows[*place].left.shape > limit);
        high.sort_by(|a, b| loo.rows[*b].left.shape.total_cmp(&loo.rows[*a].left.shape));
        high.truncate(most);
        for (number, place) in high.iter().enumerate() {
            note(number);
            let row = loo.rows[*place].row as usize;
            let others = (0..self.table.n_rows()).filter(|other| *other != row);
            let kept: Vec<usize> = others.collect();
            let scored = self.without(&kept, &[row])?;
            let before = loo.rows[*place].left;
            loo.rows[*place].left = LeftOut {
                lpd: before.lpd,
                variance: before.variance,
                ..scored[0].left
            };
        }
        Ok(high.len())
    }

    /// The rows `out` under a fit of the rows `kept`.
    fn without(&self, kept: &[usize], out: &[usize]) -> Result<Vec<LooRow>, Error> {
        let posterior = self.fitted(&self.table.select_rows(kept))?;
        let subject = &self.saved.subject;
        let bound = subject.bind(&subject.design(&self.table.select_rows(out))?)?;
        let draws = WeightedDraws {
            latents: &posterior.draws,
            params: &posterior.param_values,
            weights: &used_weights(&posterior),
        };
        // The fit has not used the rows, so nothing has to be corrected.
        let row = |(seen, row): (Seen, &usize)| LooRow {
            row: *row as u64,
            cheap: seen.lpd,
            left: LeftOut {
                elpd: seen.lpd,
                lpd: seen.lpd,
                shape: 0.0,
                variance: seen.variance,
            },
        };
        let marginal = posterior.marginal(&bound);
        let seen = each_seen(marginal.density(), draws).into_iter();
        Ok(seen.zip(out).map(row).collect())
    }

    fn fitted(&self, table: &Table) -> Result<Posterior, Error> {
        let subject = &self.saved.subject;
        let bound = subject.bind(&subject.design(table)?)?;
        let fit = Fit::named(self.saved.posterior.method()).map_err(FitError::from)?;
        Ok(fit.seed(self.seed).run(&bound)?)
    }
}

fn check(count: usize, most: usize) -> Result<(), LooError> {
    if (2..=most).contains(&count) {
        return Ok(());
    }
    Err(LooError::Folds { most, found: count })
}
