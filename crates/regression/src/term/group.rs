//! Group terms in the model: their sites, and what they add in each row.

use lehr_graph::{Expr, Shape};
use lehr_model::distribution::{Distribution, LkjCholesky, Normal};
use lehr_model::{Row, Tracer};

use crate::column_name::{group_column, slope_column};
use crate::law::sample;
use crate::law_site::sample_runs;
use crate::model_plan::{Form, GroupPlan};

/// The sites of one group term in one run of the model.
#[derive(Clone, Copy)]
pub(crate) struct GroupSites<'g> {
    /// `[groups]`, or `[groups, effects]` where there are several.
    own: Expr<'g>,
    /// One number, or `[effects]`: what the rows multiply by, if they have to.
    spread: Option<Expr<'g>>,
    /// What turns the numbers of a group, `[effects, numbers]`.
    correlation: Option<Expr<'g>>,
}

impl<'g> GroupSites<'g> {
    /// Effects of a term that are some of more: standard normals `[groups, all]`, which the rows
    /// `[effects, all]` of the factor of all correlations turn into this term's.
    pub(crate) fn tied(own: Expr<'g>, spread: Expr<'g>, rows: Expr<'g>) -> GroupSites<'g> {
        GroupSites {
            own,
            spread: Some(spread),
            correlation: Some(rows),
        }
    }
}

impl GroupPlan {
    /// The site with a number for each group and effect.
    pub(crate) fn own_site(&self, head: &str) -> String {
        match self.form {
            Form::Standard => format!("standard({}){head}", self.site),
            Form::Effect => format!("effect({}){head}", self.site),
        }
    }

    /// The site of the standard normals of groups that were not fitted.
    pub(crate) fn unseen_site(&self, head: &str) -> String {
        format!("unseen({}){head}", self.site)
    }

    pub(crate) fn spread_site(&self, head: &str) -> String {
        format!("sd({}){head}", self.site)
    }

    pub(crate) fn correlation_site(&self, head: &str) -> String {
        format!("cor({}){head}", self.site)
    }

    /// Draws the spreads: one number, or `[effects]`.
    pub(crate) fn spread<'g>(&self, m: &Tracer<'g>, head: &str) -> Expr<'g> {
        let name = self.spread_site(head);
        match self.spreads.len() {
            1 => sample(m, &name, &self.spreads, &[]),
            _ => sample_runs(m, &name, &self.spreads, None),
        }
    }

    /// Draws the sites.
    pub(crate) fn sites<'g>(&self, m: &Tracer<'g>, head: &str) -> GroupSites<'g> {
        let effects = self.spreads.len();
        let spread = self.spread(m, head);
        let correlation = self.correlation.as_ref().map(|law| {
            let factor = LkjCholesky::new(effects, law.concentration());
            m.sample(&self.correlation_site(head), factor)
        });
        let own = match self.form {
            Form::Standard => Normal::new(0.0, 1.0),
            Form::Effect => Normal::new(0.0, spread),
        };
        let mut own = m.sample(&self.own_site(head), own.expand(self.shape(self.count)));
        if self.unseen > 0 {
            let standard = Normal::new(0.0, 1.0).expand(self.shape(self.unseen));
            let unseen = m.sample(&self.unseen_site(head), standard);
            let unseen = match self.form {
                Form::Standard => unseen,
                Form::Effect => unseen * spread,
            };
            own = m.graph().concat(&[own, unseen], 0);
        }
        GroupSites {
            own,
            spread: (self.form == Form::Standard).then_some(spread),
            correlation,
        }
    }

    fn shape(&self, groups: usize) -> Shape {
        match self.spreads.len() {
            1 => Shape::new(&[groups]),
            effects => Shape::new(&[groups, effects]),
        }
    }

    /// The effect on each row. Groups are looked up first, so that a batch of rows costs
    /// arithmetic of its own size and not of the number of groups.
    pub(crate) fn effect<'g>(
        &self,
        row: &Row<'_, 'g>,
        place: usize,
        sites: &GroupSites<'g>,
    ) -> Expr<'g> {
        let mut own = sites.own.at(row.index(&group_column(place)));
        if let Some(factor) = sites.correlation {
            own = own.dot(factor.transpose());
            if self.spreads.len() == 1 {
                own = own.reshape(row.shape(&[]));
            }
        }
        let scaled = sites.spread.map_or(own, |spread| own * spread);
        match (self.has_slopes, self.spreads.len()) {
            (false, _) => scaled,
            (true, 1) => scaled * row.matrix(&slope_column(place)).reshape(row.shape(&[])),
            (true, _) => (scaled * row.matrix(&slope_column(place))).sum_axis(1),
        }
    }
}
