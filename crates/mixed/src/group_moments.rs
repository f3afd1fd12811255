//! A site with too many numbers for its draws to be kept. The moments of its groups are kept, and the
//! sums over the rows of each group, from which draws of any group can be repeated.
//!
//! Given the hyperparameters and all other effects, the effects v of one group are normal:
//!
//! ```text
//! Λ = h Σ w z zᵀ + P,   Λ m = h (Σ w z y − Σ w z rᵀ u_R) + l,   v ~ N(m, Λ⁻¹)
//! ```
//!
//! A draw of a group together with the kept numbers of a draw is a draw of the joint posterior.

use std::ops::Range;

use lehr_density::{Layout, Site, SiteValue};
use lehr_graph::Expr;
use lehr_numeric::dense::small;
use lehr_numeric::stream::Stream;
use serde::{Deserialize, Serialize};

/// A site for which a posterior keeps moments instead of draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupMoments {
    /// All sites of the model.
    pub(crate) latents: Layout,
    /// The position of this one among them.
    pub(crate) position: usize,
    /// Effects of each group.
    pub(crate) width: usize,
    /// The posterior mean of each group's effects.
    pub(crate) means: Vec<f64>,
    /// Their covariances, group after group, row-major.
    pub(crate) covariances: Vec<f64>,
    pub(crate) sums: EffectSums,
    /// The kept numbers through which the rows of a group read other effects.
    pub(crate) others: Vec<OtherEffects>,
    /// The prior at each point of the hyperparameters.
    pub(crate) priors: Vec<PointPrior>,
    /// The point of each draw.
    pub(crate) points: Vec<u32>,
    pub(crate) seed: u64,
}

/// Sums over the rows of each group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct EffectSums {
    /// Σ w z zᵀ
    pub(crate) own: Vec<f64>,
    /// Σ w z y
    pub(crate) pulled: Vec<f64>,
    /// The first columns of the groups, and the end.
    pub(crate) met: Vec<usize>,
    pub(crate) columns: Vec<u32>,
    /// Σ w z r for each column that shares rows with a group, effect after effect.
    pub(crate) mixed: Vec<f64>,
}

/// The places of other effects in a kept draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OtherEffects {
    pub(crate) places: Vec<usize>,
    pub(crate) width: usize,
}

/// The conditional prior at one point of the hyperparameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PointPrior {
    /// h, the precision of a row of weight one.
    pub(crate) scale: f64,
    /// P
    pub(crate) precision: Vec<f64>,
    /// l
    pub(crate) linear: Vec<f64>,
    /// T⁻¹, which maps v to the site.
    pub(crate) inverse: Vec<f64>,
    /// T of the other effects in turn: empty for the identity, else the diagonal or the full
    /// matrix.
    pub(crate) maps: Vec<Vec<f64>>,
}

impl GroupMoments {
    /// All sites of the model, in order.
    pub fn latents(&self) -> &Layout {
        &self.latents
    }

    /// The site.
    pub fn site(&self) -> &Site {
        &self.latents.sites()[self.position]
    }

    /// Its range in z.
    pub fn place(&self) -> Range<usize> {
        self.latents.range(self.position)
    }

    /// Its groups.
    pub fn groups(&self) -> usize {
        self.means.len() / self.width.max(1)
    }

    /// How many numbers each group has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The mean of a group's numbers and their covariance, row-major, in the units that the site
    /// has if all hyperparameters are at their start ([`Layout::start`]).
    pub fn moments(&self, group: usize) -> (&[f64], &[f64]) {
        let square = self.width * self.width;
        let mean = &self.means[group * self.width..][..self.width];
        (mean, &self.covariances[group * square..][..square])
    }

    /// The largest number of values in all draws; beyond it the draws of the largest site are not
    /// kept.
    pub const LIMIT: usize = 1 << 25;

    /// All other sites at their start, where [`GroupMoments::moments`] are in the units of the site.
    pub fn at_start(&self) -> Vec<SiteValue> {
        let kept = without_site(&self.latents, self.position);
        kept.constrain_values(kept.start())
    }

    /// The number of draws that could have been kept with the site.
    pub fn most_draws(&self) -> usize {
        GroupMoments::LIMIT / self.latents.size().max(1)
    }

    /// A draw of some groups of the site, given the kept numbers of a draw. The result for a group
    /// and draw does not depend on the other groups.
    ///
    /// # Panics
    /// If there is no such draw or group.
    pub fn effects(&self, draw: usize, kept: &[f64], groups: &[u32]) -> Vec<f64> {
        let prior = &self.priors[self.points[draw] as usize];
        let others = self.others_of(kept, prior);
        let mut found = Vec::with_capacity(groups.len() * self.width);
        for &group in groups {
            let step = draw as u64 * self.groups() as u64 + u64::from(group);
            let mut random = Stream::new(self.seed, "effects of a group", step);
            let own = self.group(group as usize, prior, &others, &mut random);
            found.extend(small::apply(&prior.inverse, &own));
        }
        found
    }

    /// u_R of a kept draw.
    fn others_of(&self, kept: &[f64], prior: &PointPrior) -> Vec<f64> {
        let mut found = Vec::with_capacity(self.others.iter().map(|one| one.places.len()).sum());
        for (others, map) in self.others.iter().zip(&prior.maps) {
            let own: Vec<f64> = others.places.iter().map(|place| kept[*place]).collect();
            if map.is_empty() {
                found.extend(own);
            } else if map.len() == others.width {
                let factors = map.iter().cycle();
                found.extend(own.iter().zip(factors).map(|(own, factor)| own * factor));
            } else {
                let groups = own.chunks_exact(others.width);
                found.extend(groups.flat_map(|group| small::apply(map, group)));
            }
        }
        found
    }

    /// v of one group.
    fn group(
        &self,
        group: usize,
        prior: &PointPrior,
        others: &[f64],
        random: &mut Stream,
    ) -> Vec<f64> {
        let (width, sums) = (self.width, &self.sums);
        let square = width * width;
        let own = sums.own[group * square..][..square].iter();
        let mut factor: Vec<f64> = own
            .zip(&prior.precision)
            .map(|(sum, p)| prior.scale * sum + p)
            .collect();
        small::cholesky(&mut factor, width).expect("the sums of rows and a proper prior");
        let met = sums.met[group]..sums.met[group + 1];
        let (columns, count) = (&sums.columns[met.clone()], met.len());
        let entry = |effect: usize| {
            let line = &sums.mixed[met.start * width + effect * count..][..count];
            let fitted = columns.iter().zip(line);
            let fitted: f64 = fitted.map(|(column, z)| z * others[*column as usize]).sum();
            let pulled = sums.pulled[group * width + effect];
            prior.scale * (pulled - fitted) + prior.linear[effect]
        };
        let mut found: Vec<f64> = (0..width).map(entry).collect();
        small::solve_lower(&factor, &mut found);
        for entry in &mut found {
            *entry += random.normal();
        }
        small::solve_lower_transposed(&factor, &mut found);
        found
    }

    /// z in the model's layout, with the site at 0: results must not depend on the site.
    pub fn widened<'g>(&self, kept: Expr<'g>) -> Expr<'g> {
        let (place, size) = (self.place(), kept.shape().size());
        let parts = [
            kept.slice(0, 0..place.start),
            kept.graph().full([place.len()], 0.0),
            kept.slice(0, place.start..size),
        ];
        kept.graph().concat(&parts, 0)
    }

    /// The numbers of a kept draw with those of the site inserted.
    pub fn joined(&self, kept: &[f64], own: &[f64]) -> Vec<f64> {
        let (before, after) = kept.split_at(self.latents.range(self.position).start);
        [before, own, after].concat()
    }
}

/// A layout without one of its sites.
pub(crate) fn without_site(latents: &Layout, position: usize) -> Layout {
    let mut sites = latents.sites().to_vec();
    sites.remove(position);
    Layout::new(sites).expect("some sites of a layout are one")
}
