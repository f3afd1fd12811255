//! Random effects that are correlated across responses: `(1 |p| g)`.

use std::ops::Range;

use lehr_density::SiteValue;
use lehr_graph::Shape;
use lehr_learn::LearnError;
use lehr_model::Tracer;
use lehr_model::distribution::{Distribution, LkjCholesky, Normal};
use lehr_numeric::vector::dot;
use serde::{Deserialize, Serialize};

use crate::law::{Kind, Law};
use crate::learned_regression::Regression;
use crate::named_draws::NamedDraws;
use crate::response_name::prefixed;
use crate::term::group::{EffectForm, GroupSites};

/// The group terms of several responses whose effects are tied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SharedGrouping {
    /// The grouping factor, `g`.
    pub(crate) label: String,
    /// The label, made unique.
    site: String,
    members: Vec<Member>,
    /// Every effect by its reported name, `y1.Intercept`.
    effects: Vec<String>,
    pub(crate) correlation: Law,
    count: usize,
    /// Groups of rows to predict that were not fitted.
    pub(crate) unseen: usize,
}

/// One of the tied terms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub(crate) response: usize,
    /// The number of the response's group term.
    pub(crate) place: usize,
    /// The range of its own effects among all.
    own: Range<usize>,
}

impl SharedGrouping {
    /// The ties of the responses' group terms, in the order in which they first appear.
    pub(crate) fn all(
        names: &[String],
        responses: &[Regression],
    ) -> Result<Vec<SharedGrouping>, LearnError> {
        let mut found: Vec<(String, SharedGrouping)> = Vec::new();
        for (response, regression) in responses.iter().enumerate() {
            for (place, grouping) in regression.groupings.iter().enumerate() {
                let Some(tie) = &grouping.tie else { continue };
                let effects = grouping.effects.iter();
                let effects = effects.map(|effect| prefixed(&names[response], effect));
                let at = found.iter().position(|(name, _)| name == tie);
                let at = at.unwrap_or_else(|| {
                    found.push((
                        tie.clone(),
                        SharedGrouping::new(&grouping.label, grouping.count()),
                    ));
                    found.len() - 1
                });
                let known = &mut found[at].1;
                if known.label != grouping.label || known.count != grouping.count() {
                    return Err(other_groups(tie, &known.label, &grouping.label));
                }
                let start = known.effects.len();
                known.effects.extend(effects);
                known.members.push(Member {
                    response,
                    place,
                    own: start..known.effects.len(),
                });
            }
        }
        let ties = found.into_iter().map(|(_, tie)| tie);
        let ties = ties.filter(|tie| tie.members.len() > 1);
        Ok(with_sites(ties.collect()))
    }

    fn new(label: &str, count: usize) -> SharedGrouping {
        SharedGrouping {
            label: label.to_owned(),
            site: String::new(),
            members: Vec::new(),
            effects: Vec::new(),
            correlation: Law::new(Kind::Lkj, &[2.0]),
            count,
            unseen: 0,
        }
    }

    /// The name under which the correlations can have a prior.
    pub(crate) fn prior_name(&self) -> String {
        format!("cor({})", self.label)
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Whether a term of a response is one of the tied terms.
    pub(crate) fn has(&self, response: usize, place: usize) -> bool {
        let is_it = |member: &Member| member.response == response && member.place == place;
        self.members.iter().any(is_it)
    }

    pub(crate) fn own_site(&self) -> String {
        format!("standard({})", self.site)
    }

    pub(crate) fn unseen_site(&self) -> String {
        format!("unseen({})", self.site)
    }

    fn correlation_site(&self) -> String {
        format!("cor({})", self.site)
    }

    /// Creates the sites: standard normals for all responses, which the rows of each response
    /// transform to its own effects.
    pub(crate) fn sites<'g>(
        &self,
        m: &Tracer<'g>,
        (names, responses): (&[String], &[Regression]),
    ) -> Vec<(usize, usize, GroupSites<'g>)> {
        let total = self.effects.len();
        let spread = |member: &Member| {
            let plan = &responses[member.response].model_plan.groups[member.place];
            m.within(&format!("{}.", names[member.response]), || {
                plan.spread(m, "")
            })
        };
        let spreads: Vec<_> = self.members.iter().map(spread).collect();
        let factor = LkjCholesky::new(total, self.correlation.concentration());
        let factor = m.sample(&self.correlation_site(), factor);
        let standard = |count: usize| Normal::new(0.0, 1.0).expand(Shape::new(&[count, total]));
        let mut own = m.sample(&self.own_site(), standard(self.count));
        if self.unseen > 0 {
            let unseen = m.sample(&self.unseen_site(), standard(self.unseen));
            own = m.graph().concat(&[own, unseen], 0);
        }
        let member = |(member, spread): (&Member, _)| {
            let rows = factor.slice(0, member.own.clone());
            let sites = GroupSites::tied(own, spread, rows);
            (member.response, member.place, sites)
        };
        self.members.iter().zip(spreads).map(member).collect()
    }

    /// The correlations, `cor(g, y1.Intercept, y2.Intercept)`.
    pub(crate) fn coefficients(&self, sites: &[SiteValue], found: &mut Vec<NamedDraws>) {
        let factor = site(sites, &self.correlation_site());
        let label = |a: &str, b: &str| format!("cor({}, {a}, {b})", self.label);
        correlations(factor, &self.effects, label, found);
    }

    /// The sites of the tied term of one response in the form of its own model: standard normals
    /// and the factor of the correlations among the response's own effects.
    pub(crate) fn of_response(
        &self,
        member: &Member,
        sites: &[SiteValue],
        names: [String; 2],
    ) -> Vec<SiteValue> {
        let (total, own) = (self.effects.len(), member.own.len());
        let factors = &site(sites, &self.correlation_site()).values;
        let mut standard = Vec::new();
        let mut turned = Vec::new();
        let own_site = site(sites, &self.own_site());
        let all = own_site.values.chunks_exact(self.count * total);
        for (factor, normals) in factors.chunks_exact(total * total).zip(all) {
            let rows = member
                .own
                .clone()
                .map(|row| &factor[row * total..][..total]);
            let rows: Vec<&[f64]> = rows.collect();
            let inner = factor_of(&rows);
            for group in normals.chunks_exact(total) {
                let effects: Vec<f64> = rows.iter().map(|row| dot(row, group)).collect();
                standard.extend(solved(&inner, &effects));
            }
            turned.extend(inner);
        }
        let [own_site, correlation_site] = names;
        let mut found = vec![SiteValue {
            name: own_site,
            dims: match own {
                1 => vec![self.count],
                _ => vec![self.count, own],
            },
            values: standard,
        }];
        if own > 1 {
            found.push(SiteValue {
                name: correlation_site,
                dims: vec![own, own],
                values: turned,
            });
        }
        found
    }
}

/// Tied terms hold standard normals in the models of single responses, too.
pub(crate) fn standardise(ties: &[SharedGrouping], responses: &mut [Regression]) {
    for member in ties.iter().flat_map(SharedGrouping::members) {
        responses[member.response].model_plan.groups[member.place].form = EffectForm::Standard;
    }
}

/// `cor(a, b)` of every pair, from the factor of the correlations.
pub(crate) fn correlations(
    factor: &SiteValue,
    effects: &[String],
    label: impl Fn(&str, &str) -> String,
    found: &mut Vec<NamedDraws>,
) {
    let size = effects.len();
    for second in 1..size {
        for first in 0..second {
            let draws = factor.values.chunks_exact(size * size);
            let [a, b] = [first, second].map(|place| place * size..(place + 1) * size);
            let value = |draw: &[f64]| dot(&draw[a.clone()], &draw[b.clone()]);
            let name = label(&effects[first], &effects[second]);
            found.push(NamedDraws::new(name, draws.map(value).collect()));
        }
    }
}

/// The draws of a site.
///
/// # Panics
/// If it is not among them.
pub(crate) fn site<'s>(sites: &'s [SiteValue], name: &str) -> &'s SiteValue {
    let found = sites.iter().find(|site| site.name == name);
    found.unwrap_or_else(|| panic!("draws of the site {name:?} are expected"))
}

fn with_sites(mut ties: Vec<SharedGrouping>) -> Vec<SharedGrouping> {
    for place in 0..ties.len() {
        let label = ties[place].label.clone();
        let before = ties[..place].iter().filter(|tie| tie.label == label);
        ties[place].site = match before.count() {
            0 => label,
            times => format!("{label}#{}", times + 1),
        };
    }
    ties
}

fn other_groups(tie: &str, one: &str, other: &str) -> LearnError {
    LearnError::column(
        format!("group terms (... |{tie}| ...)"),
        "the same grouping in every response",
        format!("{one} and {other}"),
        "give the terms of each grouping a name of its own, as in (1 |p| a) and (1 |q| b)",
    )
}

/// The lower factor of R Rᵀ, row-major.
fn factor_of(rows: &[&[f64]]) -> Vec<f64> {
    let size = rows.len();
    let mut factor = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let before = dot(
                &factor[row * size..][..column],
                &factor[column * size..][..column],
            );
            let rest = dot(rows[row], rows[column]) - before;
            factor[row * size + column] = if row == column {
                rest.max(f64::MIN_POSITIVE).sqrt()
            } else {
                rest / factor[column * size + column]
            };
        }
    }
    factor
}

/// The solution x of L x = b.
fn solved(factor: &[f64], b: &[f64]) -> Vec<f64> {
    let size = b.len();
    let mut x = vec![0.0; size];
    for row in 0..size {
        let known = dot(&factor[row * size..][..row], &x[..row]);
        x[row] = (b[row] - known) / factor[row * size + row];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_of_some_rows_gives_their_products_back() {
        let rows: [&[f64]; 2] = [&[0.6, 0.8, 0.0], &[0.3, -0.2, 0.933]];
        let factor = factor_of(&rows);
        let product = factor[2] * factor[0];
        assert!((product - dot(rows[0], rows[1])).abs() < 1e-12);
        let length = factor[2] * factor[2] + factor[3] * factor[3];
        assert!((length - dot(rows[1], rows[1])).abs() < 1e-12);
        let x = solved(&factor, &[0.5, -1.0]);
        assert!((factor[0] * x[0] - 0.5).abs() < 1e-12);
        assert!((factor[2] * x[0] + factor[3] * x[1] + 1.0).abs() < 1e-12);
    }
}
