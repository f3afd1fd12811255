//! Group terms in the model: their sites, and their contributions to each row.

use lehr_graph::{Expr, Shape};
use lehr_learn::{GroupingFactor, Link};
use lehr_model::distribution::{Distribution, LkjCholesky, Normal};
use lehr_model::{Row, Tracer};
use serde::{Deserialize, Serialize};

use crate::column_name::{group_column, slope_column};
use crate::law::{Domain, Kind, Law, sample};
use crate::law_site::sample_runs;
use crate::prior::Parameter;
use crate::prior_book::PriorBook;

/// A group term of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupPlan {
    /// The label, made unique.
    pub(crate) site: String,
    /// The parameter in whose formula it is; `None` for the formula of the response.
    pub(crate) of: Option<String>,
    pub(crate) count: usize,
    /// Groups of rows to predict that were not fitted.
    pub(crate) unseen: usize,
    pub(crate) form: EffectForm,
    pub(crate) spreads: Vec<Law>,
    pub(crate) correlation: Option<Law>,
    pub(crate) has_slopes: bool,
}

/// The content of a group term's site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EffectForm {
    /// Standard normals that the rows multiply by the standard deviation (non-centred): nearly
    /// independent of the standard deviation if each group has few rows.
    Standard,
    /// The effects themselves (centred): nearly independent of their standard deviation if the rows
    /// determine them.
    Effect,
}

impl EffectForm {
    /// Rows per group above which a group's own rows have more information on its effect than the
    /// other groups, for effects of half the standard deviation of a row's noise.
    const ENOUGH: usize = 8;

    /// Correlated effects use standard normals, because the density of the effects needs the
    /// inverse of the factor.
    fn of(grouping: &GroupingFactor, rows: usize) -> EffectForm {
        let many = rows >= EffectForm::ENOUGH * grouping.count();
        if many && !grouping.correlated {
            EffectForm::Effect
        } else {
            EffectForm::Standard
        }
    }
}

/// The sites of one group term in one run of the model.
#[derive(Clone, Copy)]
pub(crate) struct GroupSites<'g> {
    /// `[groups]`, or `[groups, effects]` if there are several.
    own: Expr<'g>,
    /// One number, or `[effects]`: the multiplier of the rows, if there is one.
    spread: Option<Expr<'g>>,
    /// The transformation of a group's numbers, `[effects, numbers]`.
    correlation: Option<Expr<'g>>,
}

impl<'g> GroupSites<'g> {
    /// The effects of a tied term: standard normals `[groups, all]`, which the rows `[effects,
    /// all]` of the factor of all correlations transform to this term's effects.
    pub(crate) fn tied(own: Expr<'g>, spread: Expr<'g>, rows: Expr<'g>) -> GroupSites<'g> {
        GroupSites {
            own,
            spread: Some(spread),
            correlation: Some(rows),
        }
    }
}

/// The standard deviations and correlations of effects, which can have priors.
pub(crate) fn group_parameters(groupings: &[GroupingFactor]) -> Vec<Parameter> {
    let mut found = Vec::new();
    for grouping in groupings {
        for effect in &grouping.effects {
            let names = spread_names(grouping, effect);
            let domain = Domain::Positive;
            found.push(Parameter { names, domain });
        }
        if grouping.correlated {
            let name = format!("cor({})", grouping.label);
            found.push(Parameter::named(&name, Domain::Correlation));
        }
    }
    found
}

/// The group terms with the user's priors or the default ones.
pub(crate) fn group_plans(book: &mut PriorBook<'_>) -> Vec<GroupPlan> {
    let groupings = &book.facts.groupings;
    let mut plans = Vec::with_capacity(groupings.len());
    for grouping in groupings {
        let before = groupings[..plans.len()].iter();
        let site = match before.filter(|other| other.label == grouping.label).count() {
            0 => grouping.label.clone(),
            times => format!("{}#{}", grouping.label, times + 1),
        };
        let spreads = spread_laws(grouping, book);
        let default = Law::new(Kind::Lkj, &[2.0]);
        plans.push(GroupPlan {
            site,
            of: grouping.of.clone(),
            count: grouping.count(),
            unseen: 0,
            form: EffectForm::of(grouping, book.facts.n_rows),
            spreads,
            correlation: (grouping.correlated)
                .then(|| book.choose(&[format!("cor({})", grouping.label)], &default, 1.0)),
            has_slopes: !grouping.is_plain(),
        });
    }
    plans
}

fn spread_laws(grouping: &GroupingFactor, book: &mut PriorBook<'_>) -> Vec<Law> {
    // On a link's scale effects of 2 are large; on the response's own scale its standard deviation
    // is. For parameters the default coefficients are of size 1.
    let (own, usual) = match (&grouping.of, book.family.link()) {
        (Some(_), _) => (1.0, 1.0),
        (None, Link::Identity) => (book.unit(), 1.0),
        (None, Link::Log | Link::Logit | Link::Probit | Link::TanHalf) => (book.unit(), 2.0),
    };
    let law = |(effect, scale): (&String, &f64)| {
        let unit = own / scale;
        let default = Law::new(Kind::HalfNormal, &[usual * unit]);
        let shown = spread_name(grouping, effect);
        book.choose_shown(&shown, &spread_names(grouping, effect), &default, unit)
    };
    let effects = grouping.effects.iter().zip(&grouping.scales);
    effects.map(law).collect()
}

/// The reported name of a standard deviation.
pub(crate) fn spread_name(grouping: &GroupingFactor, effect: &str) -> String {
    if grouping.is_plain() {
        format!("sd({})", grouping.label)
    } else {
        format!("sd({}, {effect})", grouping.label)
    }
}

fn spread_names(grouping: &GroupingFactor, effect: &str) -> Vec<String> {
    let label = &grouping.label;
    vec![format!("sd({label}, {effect})"), format!("sd({label})")]
}

impl GroupPlan {
    /// The site with a number for each group and effect.
    pub(crate) fn own_site(&self, head: &str) -> String {
        match self.form {
            EffectForm::Standard => format!("standard({}){head}", self.site),
            EffectForm::Effect => format!("effect({}){head}", self.site),
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

    /// Creates the standard deviations: one number, or `[effects]`.
    pub(crate) fn spread<'g>(&self, m: &Tracer<'g>, head: &str) -> Expr<'g> {
        let name = self.spread_site(head);
        match self.spreads.len() {
            1 => sample(m, &name, &self.spreads, &[]),
            _ => sample_runs(m, &name, &self.spreads, None),
        }
    }

    /// Creates the sites.
    pub(crate) fn sites<'g>(&self, m: &Tracer<'g>, head: &str) -> GroupSites<'g> {
        let effects = self.spreads.len();
        let spread = self.spread(m, head);
        let correlation = self.correlation.as_ref().map(|law| {
            let factor = LkjCholesky::new(effects, law.concentration());
            m.sample(&self.correlation_site(head), factor)
        });
        let own = match self.form {
            EffectForm::Standard => Normal::new(0.0, 1.0),
            EffectForm::Effect => Normal::new(0.0, spread),
        };
        let mut own = m.sample(&self.own_site(head), own.expand(self.shape(self.count)));
        if self.unseen > 0 {
            let standard = Normal::new(0.0, 1.0).expand(self.shape(self.unseen));
            let unseen = m.sample(&self.unseen_site(head), standard);
            let unseen = match self.form {
                EffectForm::Standard => unseen,
                EffectForm::Effect => unseen * spread,
            };
            own = m.graph().concat(&[own, unseen], 0);
        }
        GroupSites {
            own,
            spread: (self.form == EffectForm::Standard).then_some(spread),
            correlation,
        }
    }

    fn shape(&self, groups: usize) -> Shape {
        match self.spreads.len() {
            1 => Shape::new(&[groups]),
            effects => Shape::new(&[groups, effects]),
        }
    }

    /// The effect in each row. Groups are looked up first, so that the arithmetic of a batch of
    /// rows grows with its own size and not with the number of groups.
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
                own = own.reshape(row.batch_shape(&[]));
            }
        }
        let scaled = sites.spread.map_or(own, |spread| own * spread);
        if !self.has_slopes {
            return scaled;
        }
        let slopes = row.matrix(&slope_column(place));
        match self.spreads.len() {
            1 => scaled * slopes.reshape(row.batch_shape(&[])),
            _ => (scaled * slopes).sum_axis(1),
        }
    }
}
