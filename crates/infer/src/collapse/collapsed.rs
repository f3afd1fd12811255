//! The density of the hyperparameters alone: everything else is integrated out.

use lehr_density::Density;

use super::cross::Effects;
use super::design::Design;
use super::factor::{Factor, Precision, Solution};
use super::given::{Adjoint, Conditional, Given, Scratch};
use super::normal::{self, NormalRows};
use super::parts::{MOST_HYPER, Parts, reference};
use super::small;

/// log p(D, θ) of a density whose effects are collapsed.
pub(super) struct Collapsed<'d> {
    pub(super) parts: Parts<'d>,
    pub(super) design: Design,
    conditional: Conditional,
    rows: NormalRows,
}

/// What one thread evaluates with.
pub(super) struct Bench {
    scratch: Scratch,
    pub(super) factor: Factor,
    /// Factorisations and inverses so far.
    pub(super) factors: usize,
    pub(super) inverses: usize,
}

/// The effects at one θ; the bench holds their factor.
pub(super) struct Evaluated {
    pub(super) value: f64,
    pub(super) given: Given,
    pub(super) solution: Solution,
}

impl<'d> Collapsed<'d> {
    /// Collapses a density.
    ///
    /// # Errors
    /// If that is not possible: why, as a clause.
    pub(super) fn new(density: &'d dyn Density) -> Result<Collapsed<'d>, String> {
        let parts = Parts::of(density)?;
        let conditional = Conditional::new(&parts);
        let mut scratch = conditional.scratch(&parts);
        let start = reference(density);
        let theta: Vec<f64> = parts.hyper.iter().map(|place| start[*place]).collect();
        let given = conditional
            .at(&parts, &theta, &mut scratch)
            .ok_or("the log prior is not finite at its start")?;
        let noise = given
            .noise
            .ok_or("the response is not normal with one spread for all rows")?;
        if normal::is_moved(&parts) {
            return Err("latents that are not Gaussian given the others move the predictor".into());
        }
        let design = Design::new(&parts);
        let rows = NormalRows::new(&parts, &design, noise);
        Ok(Collapsed {
            parts,
            design,
            conditional,
            rows,
        })
    }

    /// d
    pub(super) fn size(&self) -> usize {
        debug_assert!(self.parts.hyper.len() <= MOST_HYPER);
        self.parts.hyper.len()
    }

    pub(super) fn bench(&self) -> Bench {
        Bench {
            scratch: self.conditional.scratch(&self.parts),
            factor: Factor::default(),
            factors: 0,
            inverses: 0,
        }
    }

    /// The prior of the effects at θ.
    pub(super) fn given(&self, theta: &[f64], bench: &mut Bench) -> Option<Given> {
        let sound = theta.iter().all(|entry| entry.abs() < 700.0);
        let found = || self.conditional.at(&self.parts, theta, &mut bench.scratch);
        sound.then(found).flatten()
    }

    /// log p(D, θ) and the effects given θ; `None` where it is not finite.
    pub(super) fn at(&self, theta: &[f64], bench: &mut Bench) -> Option<Evaluated> {
        let given = self.given(theta, bench)?;
        let common = &self.parts.common;
        let precision = Precision {
            cross: &self.rows.cross,
            scale: normal::precision(&given),
            given: &given,
            common,
        };
        bench.factors += 1;
        bench.factor.refill(&self.design, &precision)?;
        let prior = (&given, &common.linear[..]);
        let solution = normal::mean(&self.rows, &self.design, &bench.factor, prior);
        let value = self.rows.value(&given, &solution, bench.factor.log_det);
        value.is_finite().then_some(Evaluated {
            value,
            given,
            solution,
        })
    }

    /// log p(D, θ) and its slope.
    pub(super) fn slope(&self, theta: &[f64], bench: &mut Bench) -> Option<(f64, Vec<f64>)> {
        let at = self.at(theta, bench)?;
        let slope = self.slope_at(theta, &at, bench)?;
        Some((at.value, slope))
    }

    /// The slope at a θ that was just evaluated:
    /// ∂/∂P_f = −½ Σ_g E u_g u_gᵀ and ∂/∂l_f = Σ_g E u_g.
    pub(super) fn slope_at(
        &self,
        theta: &[f64],
        at: &Evaluated,
        bench: &mut Bench,
    ) -> Option<Vec<f64>> {
        bench.inverses += 1;
        bench.factor.invert(&self.design);
        let mean = &at.solution.effects;
        let moments = bench.factor.moments(&self.design, mean);
        let sums = self.sums(mean);
        let common = &self.parts.common;
        let blocks = moments.blocks.iter().zip(&sums);
        let blocks = blocks.map(|(moment, sum)| {
            let half: Vec<f64> = moment.iter().map(|entry| -0.5 * entry).collect();
            (half, sum.clone())
        });
        let linear = at.given.blocks.iter().zip(&sums);
        let linear: f64 = linear
            .map(|(prior, sum)| small::dot(&prior.linear, sum))
            .sum();
        let linear = linear + small::dot(&common.linear, &mean.others[self.design.common..]);
        let spread = normal::spread(&at.given, &common.precision, &moments);
        let adjoint = Adjoint {
            blocks: blocks.collect(),
            noise: self
                .rows
                .noise_slope(&at.given, &at.solution, (linear, spread)),
        };
        self.conditional
            .pull(&self.parts, theta, &adjoint, &mut bench.scratch)
    }

    /// What `each` makes of every group, by the place of its block; 0 of what is common.
    pub(super) fn by_block(
        &self,
        effects: &Effects,
        each: impl Fn(usize, &[f64]) -> Vec<f64>,
    ) -> Effects {
        let mut found = Effects::zero(&self.design);
        let fill = |f: usize, width: usize, from: &[f64], into: &mut [f64]| {
            let groups = from.chunks_exact(width).zip(into.chunks_exact_mut(width));
            groups.for_each(|(group, into)| into.copy_from_slice(&each(f, group)));
        };
        fill(0, self.design.width, &effects.own, &mut found.own);
        for (f, place) in self.design.blocks.iter().enumerate() {
            let range = place.start..place.end();
            let from = &effects.others[range.clone()];
            fill(f + 1, place.width, from, &mut found.others[range]);
        }
        found
    }

    /// Σ w
    pub(super) fn weight(&self) -> f64 {
        self.rows.weight
    }

    /// Σ_g u_g of each block.
    fn sums(&self, effects: &Effects) -> Vec<Vec<f64>> {
        let sum = |values: &[f64], width: usize| {
            let mut sum = vec![0.0; width];
            for group in values.chunks_exact(width) {
                sum.iter_mut().zip(group).for_each(|(s, v)| *s += v);
            }
            sum
        };
        let mut sums = vec![sum(&effects.own, self.design.width)];
        for place in &self.design.blocks {
            let own = &effects.others[place.start..place.end()];
            sums.push(sum(own, place.width));
        }
        sums
    }

    /// z of effects and θ, each effect where and as the model has it.
    pub(super) fn latents(&self, theta: &[f64], given: &Given, effects: &Effects) -> Vec<f64> {
        let mut z = vec![0.0; self.parts.density.latents().size()];
        self.parts.place(theta, &mut z);
        let places = self.design.blocks.iter();
        let others = places.map(|place| &effects.others[place.start..place.end()]);
        let values = std::iter::once(&effects.own[..]).chain(others);
        for ((block, prior), values) in self.parts.blocks.iter().zip(&given.blocks).zip(values) {
            let into = z[block.places.clone()].chunks_exact_mut(block.width);
            for (into, group) in into.zip(values.chunks_exact(block.width)) {
                match block.pivots {
                    Some(_) => into.copy_from_slice(&small::apply(&prior.inverse, group)),
                    None => into.copy_from_slice(group),
                }
            }
        }
        let common = &effects.others[self.design.common..];
        for (place, value) in self.parts.common.places.iter().zip(common) {
            z[*place] = *value;
        }
        z
    }
}
