//! Fits with so many groups that the draws of their effects were not kept: their moments as
//! coefficients, and models of rows with only the effects of their own groups.

use lehr_density::{Density, RowSet};
use lehr_infer::posterior::GroupMoments;
use lehr_learn::NewLevels;
use lehr_model::Bound;
use lehr_regression::{EffectMoments, NewRows};
use lehr_report::{AllLevels, Coefficient, GroupEffects, Summary};
use lehr_table::Table;

use super::SavedFit;
use crate::error::Error;

/// Levels of each end in a report.
const EXTREMES: usize = 12;

impl SavedFit {
    /// A note on draws that are not kept, and how to get them, if there are any.
    pub fn not_kept(&self) -> Option<String> {
        let spared = self.posterior.spared.as_ref()?;
        let (numbers, draws) = (spared.groups() * spared.width(), self.posterior.n_draws());
        let (site, most) = (&spared.site().name, spared.most_draws());
        let hint = (most >= 25).then(|| format!("; lehr fit --draws {most} keeps them"));
        let hint = hint.unwrap_or_default();
        Some(format!(
            "the draws of {site} are not kept, {numbers} numbers in each of {draws} draws: their means and standard \
             deviations are, and predictions draw the groups that they need{hint}"
        ))
    }

    /// A draw in the form of the model of some rows.
    pub(crate) fn draw_for(&self, place: usize, rows: &NewRows) -> Vec<f64> {
        match rows.groups() {
            Some(groups) => self.posterior.draw_with(place, groups),
            None => self.posterior.draw(place).to_vec(),
        }
    }

    /// At most `most` draws of z for some rows of the fitted table. If the draws of groups are not
    /// kept, they contain those of the rows' groups.
    pub(crate) fn draws_on(
        &self,
        density: &Bound,
        set: &RowSet<'_>,
        most: usize,
    ) -> impl Iterator<Item = Vec<f64>> {
        let spared = self.posterior.spared.as_ref();
        let spared = spared.zip(self.subject.regression());
        let groups = spared.map(|(spared, regression)| {
            let column = regression.group_column_of(&spared.site().name);
            let place = density.columns().iter().position(|one| one.name == column);
            let mut codes = vec![0; set.len()];
            let place = place.expect("a group term has its column");
            density.source().copy_indices(place, set, &mut codes);
            codes.sort_unstable();
            codes.dedup();
            codes
        });
        let groups = groups.unwrap_or_default();
        let places = self.places(most.min(self.posterior.n_draws()));
        let filled = move |place| self.posterior.draw_filled(place, &groups);
        places.into_iter().map(filled)
    }

    /// The model on rows to predict.
    pub(crate) fn rows_to_predict(
        &self,
        table: &Table,
        levels: NewLevels,
    ) -> Result<NewRows, Error> {
        match (self.subject.regression(), &self.posterior.spared) {
            (Some(regression), Some(spared)) => {
                let site = &spared.site().name;
                Ok(regression.bind_some(table, levels, Some(site))?)
            }
            _ => self.subject.new_rows(table, levels),
        }
    }

    /// The model on rows that were fitted.
    pub(crate) fn rows_of_fit(&self, table: &Table) -> Result<NewRows, Error> {
        if self.posterior.spared.is_some() {
            return self.rows_to_predict(table, NewLevels::Refuse);
        }
        let bound = self.subject.bind(&self.subject.design(table)?)?;
        Ok(NewRows::of_program(bound, true))
    }

    /// The model on rows without random effects.
    pub(crate) fn population_rows(
        &self,
        table: &Table,
        levels: NewLevels,
    ) -> Result<NewRows, Error> {
        let rows = self.subject.population_rows(table, levels)?;
        Ok(match &self.posterior.spared {
            Some(_) => rows.reading(&self.posterior.latents),
            None => rows,
        })
    }

    /// Summaries of all groups whose draws are not kept.
    pub(crate) fn spared_coefficients(&self) -> Vec<Coefficient> {
        let all = |moments: &EffectMoments<'_>, spared: &GroupMoments| {
            let of_group = |group| moments.coefficients(group, spared.moments(group));
            (0..spared.groups()).flat_map(of_group).collect()
        };
        self.with_moments(all).unwrap_or_default()
    }

    /// A function of the moments of the effects, if there are any.
    fn with_moments<T>(&self, make: impl Fn(&EffectMoments<'_>, &GroupMoments) -> T) -> Option<T> {
        let spared = self.posterior.spared.as_deref()?;
        let regression = self.subject.regression()?;
        let moments = regression.moments(&spared.site().name, &spared.at_start())?;
        Some(make(&moments, spared))
    }

    /// The same for a report: the most extreme levels, and the means of all.
    pub(crate) fn spared_groups(&self) -> Vec<GroupEffects> {
        let all = |moments: &EffectMoments<'_>, spared: &GroupMoments| {
            let of_term = |term| furthest(moments, spared, term);
            (0..spared.width()).filter_map(of_term).collect()
        };
        self.with_moments(all).unwrap_or_default()
    }
}

fn furthest(
    moments: &EffectMoments<'_>,
    spared: &GroupMoments,
    term: usize,
) -> Option<GroupEffects> {
    let of_group = |group| moments.of(spared.moments(group))[term];
    let all: Vec<(f64, f64)> = (0..spared.groups()).map(of_group).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| all[*b].0.total_cmp(&all[*a].0));
    let count = order.len();
    if count > 2 * EXTREMES {
        order.drain(EXTREMES..count - EXTREMES);
    }
    let is_clear = |(mean, sd): &&(f64, f64)| Summary::normal_summary(*mean, *sd).excludes_zero();
    let coefficient = |group| {
        let mut all = moments.coefficients(group, spared.moments(group));
        all.swap_remove(term)
    };
    let effects: Vec<Coefficient> = order.into_iter().map(coefficient).collect();
    let effect = effects.first()?.effect.clone()?;
    Some(GroupEffects {
        group: effect.group,
        term: effect.term,
        class: effect.class,
        all: Some(AllLevels {
            clear: all.iter().filter(is_clear).count(),
            means: all.iter().map(|one| one.0).collect(),
        }),
        effects,
    })
}
