//! Draws of the model's sites, and draws of named coefficients.

use std::collections::HashMap;

use lehr_density::SiteValue;
use lehr_report::{AxisKind, Name};
use serde::{Deserialize, Serialize};

use crate::law::Law;
use crate::law_site::site_runs;

/// The draws of one coefficient on the original scale of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedDraws {
    /// `Intercept`, `x1:x2`, `color[red]`, `sd(site)`, `sigma`, …
    pub name: Name,
    /// One per draw.
    pub values: Vec<f64>,
}

impl NamedDraws {
    /// The draws of the coefficient with this name.
    pub fn new(name: impl Into<Name>, values: Vec<f64>) -> NamedDraws {
        NamedDraws {
            name: name.into(),
            values,
        }
    }
}

/// The draws of all sites.
pub(crate) struct SiteDraws<'a> {
    sites: HashMap<&'a str, &'a SiteValue>,
    pub(crate) count: usize,
}

/// The number of a copy of the laws, and the number of copies.
#[derive(Clone, Copy)]
pub(crate) struct Replica {
    pub(crate) place: usize,
    pub(crate) count: usize,
}

impl Replica {
    pub(crate) const ONLY: Replica = Replica { place: 0, count: 1 };
}

impl<'a> SiteDraws<'a> {
    pub(crate) fn new(sites: &'a [SiteValue]) -> SiteDraws<'a> {
        let first = sites.first();
        let count = first.map_or(0, |site| site.values.len() / size(site));
        let named = sites.iter().map(|site| (site.name.as_str(), site));
        let sites = named.collect();
        SiteDraws { sites, count }
    }

    /// Whether there are draws of a site.
    pub(crate) fn has(&self, site: &str) -> bool {
        self.sites.contains_key(site)
    }

    /// All draws of one number of a site.
    pub(crate) fn entry(&self, site: &str, place: usize) -> Vec<f64> {
        let found = self.sites.get(site);
        let site = found.unwrap_or_else(|| panic!("draws of the site {site:?} are expected"));
        let size = size(site);
        (site.values.iter().skip(place).step_by(size).copied()).collect()
    }

    /// One entry for each law of a name, which may be distributed over several sites.
    pub(crate) fn laws(&self, name: &str, laws: &[Law], copy: Replica) -> Vec<Vec<f64>> {
        let Replica { place, count } = copy;
        let runs = site_runs(name, laws).into_iter();
        runs.flat_map(|(site, range)| {
            (0..range.len()).map(move |law| self.entry(&site, law * count + place))
        })
        .collect()
    }
}

/// The draws of a site; none if it is not among them.
pub(crate) fn site_values<'s>(sites: &'s [SiteValue], name: &str) -> &'s [f64] {
    let found = sites.iter().find(|site| site.name == name);
    found.map_or(&[], |site| &site.values)
}

fn size(site: &SiteValue) -> usize {
    site.dims.iter().product::<usize>().max(1)
}

/// One linear predictor of the model; families of several classes have one for each class but the
/// first.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) place: usize,
    /// The ending of its sites' names.
    pub(crate) suffix: &'a str,
    pub(crate) class: Option<&'a str>,
}

impl Head<'_> {
    /// The name of a variable of this predictor.
    pub(crate) fn name(self, variable: &str) -> Name {
        self.of_class(Name::new(format!("{variable}{}", self.suffix), variable))
    }

    pub(crate) fn of_class(self, name: Name) -> Name {
        match self.class {
            Some(class) => name.at_label(AxisKind::Class, class),
            None => name,
        }
    }
}
