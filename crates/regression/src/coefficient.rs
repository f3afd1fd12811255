//! Draws of the model's sites as coefficients on the original scale.

use std::collections::HashMap;

use lehr_density::SiteValue;

use crate::blueprint::{Blueprint, Form, GroupPlan, spread_name};
use crate::family::Family;
use crate::grouping::Grouping;
use crate::population::Population;
use crate::program::DF_EXCESS;
use crate::regression::{Groups, NamedDraws};

/// What names and scales coefficients.
pub(crate) struct Reporter<'a> {
    pub(crate) blueprint: &'a Blueprint,
    pub(crate) population: &'a Population,
    pub(crate) groupings: &'a [Grouping],
}

/// The draws of all sites.
struct Draws<'a> {
    sites: HashMap<&'a str, &'a SiteValue>,
    count: usize,
}

impl<'a> Draws<'a> {
    fn new(sites: &'a [SiteValue]) -> Draws<'a> {
        let first = sites.first();
        let count = first.map_or(0, |site| site.values.len() / size(site));
        let sites = sites
            .iter()
            .map(|site| (site.name.as_str(), site))
            .collect();
        Draws { sites, count }
    }

    /// All draws of one number of a site.
    fn entry(&self, site: &str, place: usize) -> Vec<f64> {
        let found = self.sites.get(site);
        let site = found.unwrap_or_else(|| panic!("draws of the site {site:?} are expected"));
        let size = size(site);
        (site.values.iter().skip(place).step_by(size).copied()).collect()
    }

    /// One entry for each law of a name, which may be spread over several sites. `copy` says
    /// which of how many copies of each law.
    fn laws(&self, name: &str, laws: &[crate::law::Law], copy: (usize, usize)) -> Vec<Vec<f64>> {
        let (place, copies) = copy;
        let runs = Blueprint::runs(name, laws).into_iter();
        runs.flat_map(|(site, range)| {
            (0..range.len()).map(move |law| self.entry(&site, law * copies + place))
        })
        .collect()
    }
}

fn size(site: &SiteValue) -> usize {
    site.dims.iter().product::<usize>().max(1)
}

impl Reporter<'_> {
    /// The coefficients in the order in which they are shown.
    pub(crate) fn coefficients(&self, sites: &[SiteValue], groups: Groups) -> Vec<NamedDraws> {
        let draws = Draws::new(sites);
        let mut found = Vec::new();
        for head in 0..self.blueprint.heads.len() {
            self.common(&draws, head, &mut found);
        }
        for head in &self.blueprint.heads {
            for (plan, grouping) in self.blueprint.groups.iter().zip(self.groupings) {
                spreads(&draws, (plan, grouping), self.unit(), head, &mut found);
            }
        }
        self.shape(&draws, &mut found);
        if groups == Groups::Include {
            for head in &self.blueprint.heads {
                for (plan, grouping) in self.blueprint.groups.iter().zip(self.groupings) {
                    effects(&draws, (plan, grouping), self.unit(), head, &mut found);
                }
            }
        }
        found
    }

    fn unit(&self) -> f64 {
        self.blueprint.unit
    }

    /// The intercept and the common coefficients of one linear predictor:
    ///
    /// ```text
    /// centre + unit (a + Σ bⱼ (xⱼ − mⱼ)/sⱼ) = [centre + unit (a − Σ bⱼ mⱼ/sⱼ)] + Σ (unit bⱼ/sⱼ) xⱼ
    /// ```
    fn common(&self, draws: &Draws<'_>, head: usize, found: &mut Vec<NamedDraws>) {
        let blueprint = self.blueprint;
        let suffix = &blueprint.heads[head];
        let weights = draws.laws("weight", &blueprint.weights, (head, blueprint.heads.len()));
        if blueprint.intercept.is_some() {
            let shift = self.shift(draws, &weights);
            let raw = draws.entry("intercept", head);
            let value =
                |(raw, shift): (&f64, &f64)| blueprint.centre[head] + self.unit() * (raw - shift);
            found.push(NamedDraws {
                name: format!("Intercept{suffix}"),
                values: raw.iter().zip(&shift).map(value).collect(),
            });
        }
        for (column, values) in self.population.columns.iter().zip(weights) {
            let factor = self.unit() / column.scale;
            found.push(NamedDraws {
                name: format!("{}{suffix}", column.name),
                values: values.iter().map(|value| value * factor).collect(),
            });
        }
    }

    /// Σ bⱼ mⱼ/sⱼ of each draw.
    fn shift(&self, draws: &Draws<'_>, weights: &[Vec<f64>]) -> Vec<f64> {
        let mut shift = vec![0.0; draws.count];
        for (weight, mean) in weights.iter().zip(&self.blueprint.shifts) {
            for (sum, value) in shift.iter_mut().zip(weight) {
                *sum += value * mean;
            }
        }
        shift
    }

    fn shape(&self, draws: &Draws<'_>, found: &mut Vec<NamedDraws>) {
        for (name, _) in &self.blueprint.shape {
            let values: Vec<f64> = match name.as_str() {
                "cutpoint" => {
                    self.cutpoints(draws, found);
                    continue;
                }
                "sigma" => (draws.entry(name, 0).iter())
                    .map(|value| value * self.unit())
                    .collect(),
                "df" => (draws.entry(DF_EXCESS, 0).iter())
                    .map(|value| value + 1.0)
                    .collect(),
                _ => draws.entry(name, 0),
            };
            let name = name.clone();
            found.push(NamedDraws { name, values });
        }
    }

    /// Cutpoints for columns as they are: P(y ≤ k) = logistic(cutpoint k − Σ bⱼ xⱼ).
    fn cutpoints(&self, draws: &Draws<'_>, found: &mut Vec<NamedDraws>) {
        debug_assert_eq!(
            self.blueprint.family,
            Family::Ordinal,
            "cutpoints are of ordered classes"
        );
        let weights = draws.laws("weight", &self.blueprint.weights, (0, 1));
        let shift = self.shift(draws, &weights);
        let classes: Vec<Vec<f64>> = (0..self.blueprint.classes)
            .map(|class| draws.entry("proportion", class))
            .collect();
        for cut in 1..classes.len() {
            let total =
                |part: &[Vec<f64>], draw: usize| part.iter().map(|class| class[draw]).sum::<f64>();
            let value = |draw: usize| {
                let (below, above) = classes.split_at(cut);
                (total(below, draw) / total(above, draw)).ln() + shift[draw]
            };
            found.push(NamedDraws {
                name: format!("cutpoint[{cut}]"),
                values: (0..draws.count).map(value).collect(),
            });
        }
    }
}

type Term<'a> = (&'a GroupPlan, &'a Grouping);

fn spread_draws(
    draws: &Draws<'_>,
    (plan, grouping): Term<'_>,
    unit: f64,
    head: &str,
) -> Vec<Vec<f64>> {
    let mut spreads = draws.laws(&plan.spread_site(head), &plan.spreads, (0, 1));
    for (values, scale) in spreads.iter_mut().zip(&grouping.scales) {
        for value in values {
            *value *= unit / scale;
        }
    }
    spreads
}

/// `sd(patient, dose)` and `cor(patient, Intercept, dose)`.
fn spreads(draws: &Draws<'_>, term: Term<'_>, unit: f64, head: &str, found: &mut Vec<NamedDraws>) {
    let (plan, grouping) = term;
    let values = spread_draws(draws, term, unit, head);
    for (effect, values) in grouping.effects.iter().zip(values) {
        let name = format!("{}{head}", spread_name(grouping, effect));
        found.push(NamedDraws { name, values });
    }
    if plan.correlation.is_none() {
        return;
    }
    let rows = factor_rows(draws, plan, head);
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
            let name = format!(
                "cor({label}, {}, {}){head}",
                effects[first], effects[second]
            );
            found.push(NamedDraws { name, values });
        }
    }
}

/// The draws of the Cholesky factor of the correlations, row by row.
fn factor_rows(draws: &Draws<'_>, plan: &GroupPlan, head: &str) -> Vec<Vec<Vec<f64>>> {
    let (effects, site) = (plan.spreads.len(), plan.correlation_site(head));
    let entry = |row: usize, column: usize| draws.entry(&site, row * effects + column);
    let row = |row: usize| (0..effects).map(|column| entry(row, column)).collect();
    (0..effects).map(row).collect()
}

/// `site[3]`, or `patient[3, dose]` where several effects vary.
fn effects(draws: &Draws<'_>, term: Term<'_>, unit: f64, head: &str, found: &mut Vec<NamedDraws>) {
    let (plan, grouping) = term;
    let spreads = match plan.form {
        Form::Standard => spread_draws(draws, term, unit, head),
        Form::Effect => (grouping.scales.iter())
            .map(|scale| vec![unit / scale; draws.count])
            .collect(),
    };
    let count = plan.spreads.len();
    let rows = plan
        .correlation
        .as_ref()
        .map(|_| factor_rows(draws, plan, head));
    let site = plan.own_site(head);
    for group in 0..plan.count {
        let own: Vec<Vec<f64>> = (0..count)
            .map(|effect| draws.entry(&site, group * count + effect))
            .collect();
        for (place, effect) in grouping.effects.iter().enumerate() {
            let value = |draw: usize| {
                let value = match &rows {
                    None => own[place][draw],
                    Some(rows) => (0..=place)
                        .map(|k| rows[place][k][draw] * own[k][draw])
                        .sum(),
                };
                value * spreads[place][draw]
            };
            let (label, level) = (&grouping.label, grouping.group_name(group));
            let name = if grouping.is_plain() {
                format!("{label}[{level}]{head}")
            } else {
                format!("{label}[{level}, {effect}]{head}")
            };
            let values = (0..draws.count).map(value).collect();
            found.push(NamedDraws { name, values });
        }
    }
}
