//! A view of one response of several: the joint draws as those of its own model.

use lehr_density::{Layout, SiteValue};

use super::MultivariateRegression;
use crate::error::RegressionError;

impl MultivariateRegression {
    /// The draws of all sites in the form of the model of one response. Absent sites are left out.
    pub(crate) fn sites_of(&self, response: usize, sites: &[SiteValue]) -> Vec<SiteValue> {
        let prefix = format!("{}.", self.names[response]);
        let own = sites.iter().filter_map(|site| {
            let name = site.name.strip_prefix(&prefix)?;
            Some(SiteValue {
                name: name.to_owned(),
                ..site.clone()
            })
        });
        own.chain(self.tied_sites(response, sites)).collect()
    }

    /// The sites of tied terms in the model of one response.
    fn tied_sites(&self, response: usize, sites: &[SiteValue]) -> Vec<SiteValue> {
        let mut found = Vec::new();
        for tie in &self.ties {
            let own = tie.members().iter();
            for member in own.filter(|member| member.response == response) {
                let plan = &self.responses[response].model_plan.groups[member.place];
                let names = [plan.own_site(""), plan.correlation_site("")];
                found.extend(tie.of_response(member, sites, names));
            }
        }
        found
    }

    /// The latents of one response's own model and flat draws of them, from flat joint draws.
    /// Results from them are conditional on all responses.
    pub fn draws_of(
        &self,
        response: usize,
        (whole, all): (&Layout, &[f64]),
    ) -> Result<(Layout, Vec<f64>), RegressionError> {
        let latents = self.responses[response].program()?.latents().clone();
        let sites = whole.constrain_values(all);
        let tied = self.tied_sites(response, &sites);
        let prefix = format!("{}.", self.names[response]);
        let own = ResponseView {
            whole,
            all,
            prefix: &prefix,
            tied: &tied,
        };
        let draws = own.draws(&latents);
        Ok((latents, draws))
    }
}

/// The source of the numbers of one response's sites.
struct ResponseView<'a> {
    whole: &'a Layout,
    /// Flat joint draws.
    all: &'a [f64],
    prefix: &'a str,
    tied: &'a [SiteValue],
}

impl ResponseView<'_> {
    /// Flat draws of these sites, draw after draw.
    fn draws(&self, latents: &Layout) -> Vec<f64> {
        let (count, size) = (self.all.len() / self.whole.size().max(1), latents.size());
        let mut draws = vec![0.0; count * size];
        for (position, site) in latents.sites().iter().enumerate() {
            let into = latents.range(position);
            let values = self.values(&site.name, latents, position);
            let rows = values.chunks_exact(into.len().max(1));
            for (draw, row) in draws.chunks_exact_mut(size).zip(rows) {
                draw[into.clone()].copy_from_slice(row);
            }
        }
        draws
    }

    /// The unconstrained numbers of a site, draw after draw.
    fn values(&self, name: &str, latents: &Layout, position: usize) -> Vec<f64> {
        if let Some(site) = self.tied.iter().find(|site| site.name == name) {
            let support = &latents.sites()[position].support;
            let free = support.unconstrain_values(&site.values);
            return free.expect("values inside the support of their site");
        }
        let whole = self.whole;
        let place = whole.position(&format!("{}{name}", self.prefix));
        let range = whole.range(place.expect("a site of the whole model"));
        let draws = self.all.chunks_exact(whole.size());
        let own = draws.flat_map(|draw| &draw[range.clone()]);
        own.copied().collect()
    }
}
