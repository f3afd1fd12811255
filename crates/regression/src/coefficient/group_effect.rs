//! Draws of the standard deviations, correlations and values of random effects on the original
//! scale.

use lehr_learn::GroupingFactor;
use lehr_numeric::vector::{dot, quadratic_form};
use lehr_report::{AxisKind, Coefficient, Name, Summary};

use crate::named_draws::{Head, NamedDraws, Replica, SiteDraws};
use crate::term::group::{EffectForm, GroupPlan, spread_name};

/// The random effects of one group term in one linear predictor.
pub(crate) struct GroupEffects<'a> {
    pub(crate) plan: &'a GroupPlan,
    pub(crate) grouping: &'a GroupingFactor,
    pub(crate) unit: f64,
    pub(crate) head: Head<'a>,
}

/// The map from the moments of a site to those of the effects of its groups.
pub struct EffectMoments<'a> {
    term: GroupEffects<'a>,
    /// The matrix from the numbers of the site to the effects, row-major.
    turn: Vec<f64>,
}

impl EffectMoments<'_> {
    /// The mean and the standard deviation of each effect of a group, whose numbers have this mean
    /// and covariance.
    pub fn of(&self, (mean, covariance): (&[f64], &[f64])) -> Vec<(f64, f64)> {
        let rows = self.turn.chunks_exact(mean.len());
        rows.map(|row| {
            (
                dot(row, mean),
                quadratic_form(covariance, row).max(0.0).sqrt(),
            )
        })
        .collect()
    }

    /// Summaries of the effects of a group, whose numbers have this mean and covariance.
    pub fn coefficients(&self, group: usize, moments: (&[f64], &[f64])) -> Vec<Coefficient> {
        let level = self.term.grouping.group_name(group);
        let effects = self.of(moments).into_iter();
        let named = effects.zip(&self.term.grouping.effects);
        named
            .map(|((mean, sd), effect)| {
                let name = self.term.effect_name(&level, effect);
                Coefficient {
                    summary: Summary::normal_summary(mean, sd),
                    corrected: None,
                    effect: name.effect(),
                    name: name.to_string(),
                }
            })
            .collect()
    }
}

impl<'a> GroupEffects<'a> {
    /// Whether it is part of the formula of the response.
    pub(crate) fn is_of_response(&self) -> bool {
        self.plan.of.is_none()
    }

    fn spread_draws(&self, draws: &SiteDraws<'_>) -> Vec<Vec<f64>> {
        let site = self.plan.spread_site(self.head.suffix);
        let mut spreads = draws.laws(&site, &self.plan.spreads, Replica::ONLY);
        for (values, scale) in spreads.iter_mut().zip(&self.grouping.scales) {
            for value in values {
                *value *= self.unit / scale;
            }
        }
        spreads
    }

    /// `sd(patient, dose)` and `cor(patient, Intercept, dose)`.
    pub(crate) fn spreads(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        let grouping = self.grouping;
        let values = self.spread_draws(draws);
        for (effect, values) in grouping.effects.iter().zip(values) {
            let name = self.head.name(&spread_name(grouping, effect));
            found.push(NamedDraws::new(name, values));
        }
        if self.plan.correlation.is_none() {
            return;
        }
        let rows = self.factor_rows(draws);
        for second in 1..rows.len() {
            for first in 0..second {
                let pairs = rows[first].iter().zip(&rows[second]);
                let mut values = vec![0.0; draws.count];
                for (a, b) in pairs {
                    for (sum, (a, b)) in values.iter_mut().zip(a.iter().zip(b)) {
                        *sum += a * b;
                    }
                }
                let (label, effects) = (&grouping.label, &grouping.effects);
                let name = format!("cor({label}, {}, {})", effects[first], effects[second]);
                let name = self.head.name(&name);
                found.push(NamedDraws { name, values });
            }
        }
    }

    /// The draws of the Cholesky factor of the correlations, row by row.
    fn factor_rows(&self, draws: &SiteDraws<'_>) -> Vec<Vec<Vec<f64>>> {
        let effects = self.plan.spreads.len();
        let site = self.plan.correlation_site(self.head.suffix);
        let entry = |row: usize, column: usize| draws.entry(&site, row * effects + column);
        let row = |row: usize| (0..effects).map(|column| entry(row, column)).collect();
        (0..effects).map(row).collect()
    }

    /// The matrix from the numbers of the site to the effects, for each draw of the other sites,
    /// row-major.
    fn turns(&self, draws: &SiteDraws<'_>) -> Vec<Vec<f64>> {
        let (plan, grouping) = (self.plan, self.grouping);
        let spreads = match plan.form {
            EffectForm::Standard => self.spread_draws(draws),
            EffectForm::Effect => (grouping.scales.iter())
                .map(|scale| vec![self.unit / scale; draws.count])
                .collect(),
        };
        let count = plan.spreads.len();
        let rows = plan.correlation.as_ref().map(|_| self.factor_rows(draws));
        let entry = |draw: usize, place: usize, k: usize| {
            let own = match &rows {
                None => f64::from(u8::from(place == k)),
                Some(rows) => rows[place][k][draw],
            };
            own * spreads[place][draw]
        };
        let turn = |draw: usize| {
            let entries = 0..count * count;
            entries.map(|k| entry(draw, k / count, k % count)).collect()
        };
        (0..draws.count).map(turn).collect()
    }

    /// `site[3]`, or `patient[3, dose]` for several effects; empty if their draws were not kept.
    pub(crate) fn effects(&self, draws: &SiteDraws<'_>, found: &mut Vec<NamedDraws>) {
        let (plan, grouping) = (self.plan, self.grouping);
        let site = plan.own_site(self.head.suffix);
        if !draws.has(&site) {
            return;
        }
        let turns = self.turns(draws);
        let count = plan.spreads.len();
        for group in 0..plan.count {
            let entry = |effect: usize| draws.entry(&site, group * count + effect);
            let own: Vec<Vec<f64>> = (0..count).map(entry).collect();
            for (place, effect) in grouping.effects.iter().enumerate() {
                let value = |draw: usize| {
                    let turn = &turns[draw][place * count..][..count];
                    turn.iter().zip(&own).map(|(t, own)| t * own[draw]).sum()
                };
                let name = self.effect_name(&grouping.group_name(group), effect);
                let values = (0..draws.count).map(value).collect();
                found.push(NamedDraws::new(name, values));
            }
        }
    }

    /// The mean and the standard deviation of each effect of a group from the moments of its site,
    /// in the units of the first of these draws.
    pub(crate) fn moments(self, draws: &SiteDraws<'_>) -> EffectMoments<'a> {
        EffectMoments {
            turn: self.turns(draws).swap_remove(0),
            term: self,
        }
    }

    fn effect_name(&self, level: &str, effect: &str) -> Name {
        let (label, suffix) = (&self.grouping.label, self.head.suffix);
        let name = if self.grouping.is_plain() {
            let text = format!("{label}[{level}]{suffix}");
            Name::new(text, label).at_label(AxisKind::Group, level)
        } else {
            let text = format!("{label}[{level}, {effect}]{suffix}");
            let name = Name::new(text, label).at_label(AxisKind::Group, level);
            name.at_label(AxisKind::Term, effect)
        };
        self.head.of_class(name)
    }
}
