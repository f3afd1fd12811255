//! Rows to predict, with effects for groups that were not fitted.

use std::collections::HashSet;
use std::ops::Range;

use lehr_density::{Density, Layout};
use lehr_model::Bound;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};

use crate::design::Design;
use crate::model_plan::ModelPlan;

/// The model on rows to predict.
#[derive(Clone, Debug)]
pub struct NewRows {
    bound: Bound,
    sampled: Vec<NewEffects>,
    /// The parts of a fitted draw that this model uses, if not all.
    kept: Option<Vec<Range<usize>>>,
    /// The groups of a site of which this model has only some, in this model's order.
    pub(crate) groups: Option<Vec<u32>>,
    unseen: Vec<String>,
    has_response: bool,
    outside: Vec<Extrapolation>,
}

/// Rows outside the fitted range of a smooth function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extrapolation {
    /// The function, `gp(day)`.
    pub function: String,
    /// How many rows.
    pub rows: usize,
}

/// The unseen groups of one site of standard normals.
#[derive(Clone, Debug)]
struct NewEffects {
    /// Their range in a flat draw of this model.
    place: Range<usize>,
    /// The names of their effects, group by group.
    names: Vec<String>,
}

/// A site of standard normals of groups that were not fitted.
pub(crate) struct SampledSite {
    pub(crate) site: String,
    /// The reported name of the group term.
    pub(crate) label: String,
    pub(crate) groups: Vec<String>,
}

impl NewRows {
    /// A model that has these sites for unseen groups, on its rows.
    pub(crate) fn of_sites(bound: Bound, sites: Vec<SampledSite>, has_response: bool) -> NewRows {
        let shown = |one: &SampledSite| -> Vec<String> {
            let names = one.groups.iter();
            names.map(|name| format!("{}[{name}]", one.label)).collect()
        };
        let unseen = sites.iter().flat_map(shown).collect();
        let effects = |one: SampledSite| NewEffects {
            place: site_range(bound.latents(), &one.site),
            names: (one.groups.iter())
                .map(|name| format!("{}[{name}]", one.site))
                .collect(),
        };
        let mut sampled: Vec<NewEffects> = sites.into_iter().map(effects).collect();
        sampled.sort_by_key(|sampled| sampled.place.start);
        NewRows {
            sampled,
            unseen,
            ..NewRows::of_program(bound, has_response)
        }
    }

    /// The model of `plan`, which has sites for unseen groups, on the rows of `design`.
    pub(crate) fn new(bound: Bound, model_plan: &ModelPlan, design: &Design) -> NewRows {
        let mut sites = Vec::new();
        for head in &model_plan.heads {
            for (plan, groups) in model_plan.groups.iter().zip(&design.unseen) {
                if !groups.is_empty() {
                    sites.push(SampledSite {
                        site: plan.unseen_site(head),
                        label: plan.site.clone(),
                        groups: groups.clone(),
                    });
                }
            }
        }
        let rows = NewRows::of_sites(bound, sites, design.has_response);
        NewRows {
            // Every class of the response has effects of the same groups.
            unseen: {
                let mut known = HashSet::new();
                let names = rows.unseen.into_iter();
                names.filter(|name| known.insert(name.clone())).collect()
            },
            outside: (model_plan.function_labels().zip(&design.outside))
                .filter(|(_, rows)| **rows > 0)
                .map(|(label, rows)| Extrapolation {
                    function: label.to_owned(),
                    rows: *rows,
                })
                .collect(),
            ..rows
        }
    }

    /// The groups of a site of which this model has only some.
    pub fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }

    /// The same for draws with these sites.
    pub fn reading(self, fitted: &Layout) -> NewRows {
        let sites = self.bound.latents().sites().iter();
        let kept = sites.map(|site| site_range(fitted, &site.name)).collect();
        NewRows {
            kept: Some(kept),
            ..self
        }
    }

    /// The model without random effects, whose sites are a subset of the fitted ones.
    pub(crate) fn of_population(bound: Bound, fitted: &Layout, has_response: bool) -> NewRows {
        NewRows::of_program(bound, has_response).reading(fitted)
    }

    /// A recorded model on its rows, with the levels of the fit.
    pub fn of_program(bound: Bound, has_response: bool) -> NewRows {
        NewRows {
            bound,
            sampled: Vec::new(),
            kept: None,
            groups: None,
            unseen: Vec::new(),
            has_response,
            outside: Vec::new(),
        }
    }

    /// The density of these rows. Its latents are [`NewRows::latents`] of the fitted ones.
    pub fn bound(&self) -> &Bound {
        &self.bound
    }

    /// A flat draw of the fitted model as one of this model. The effects of unseen groups are
    /// drawn, the same for the same group and `seed` in any table. Use a different seed for each
    /// draw.
    ///
    /// # Panics
    /// If `fitted` is not a draw of the fitted model.
    pub fn latents(&self, fitted: &[f64], seed: u64) -> Vec<f64> {
        if let Some(kept) = &self.kept {
            let parts: Vec<&[f64]> = kept.iter().map(|part| &fitted[part.clone()]).collect();
            return parts.concat();
        }
        let size = self.bound.latents().size();
        let mut all = Vec::with_capacity(size);
        let mut rest = fitted;
        for sampled in &self.sampled {
            let (known, after) = rest.split_at(sampled.place.start - all.len());
            all.extend_from_slice(known);
            rest = after;
            let effects = sampled.place.len() / sampled.names.len();
            for name in &sampled.names {
                let mut random = ChaCha8Rng::seed_from_u64(seed ^ digest(name));
                all.extend((0..effects).map(|_| -> f64 { StandardNormal.sample(&mut random) }));
            }
        }
        all.extend_from_slice(rest);
        assert_eq!(all.len(), size, "a flat draw of the fitted model");
        all
    }

    /// The unseen groups, as `site[north]`.
    pub fn unseen(&self) -> &[String] {
        &self.unseen
    }

    /// The smooth functions that are extrapolated, and for how many rows.
    pub fn outside(&self) -> &[Extrapolation] {
        &self.outside
    }

    /// Whether the table had the response, so that the density is that of observed rows.
    pub fn has_response(&self) -> bool {
        self.has_response
    }
}

fn site_range(latents: &Layout, site: &str) -> Range<usize> {
    let position = latents.position(site).expect("a site of the model_plan");
    latents.range(position)
}

/// FNV-1a: the same number for the same name on every machine.
fn digest(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
