//! The prior of each block, as expressions of the hyperparameters and as numbers. It is the prior of
//! v = T u, the effects that rows read at the reference. The reverse derivatives are here too.

use lehr_density::{Point, Rows};
use lehr_graph::{Expr, Graph};
use lehr_numeric::dense::small;

use crate::effect_structure::{EffectCovariance, EffectStructure, RandomEffectBlock};
use crate::hyperparameter_map::{DiagonalMap, HyperparameterMap, MapMatrix};

/// The prior of one group of a block, in the effects v = T u that the rows read at the reference.
#[derive(Clone, Debug)]
pub(crate) struct BlockPrior {
    /// P, row-major.
    pub(crate) precision: Vec<f64>,
    /// P times the mean.
    pub(crate) linear: Vec<f64>,
    /// T⁻¹
    pub(crate) inverse: MapMatrix,
}

/// Expressions of one block.
pub(crate) struct PriorExpressions<'g> {
    /// `[width]`
    linear: Expr<'g>,
    /// The columns of the precision, or only its diagonal.
    precision: Vec<Expr<'g>>,
    /// The columns of the coefficients of pivots, or the combined coefficients of the effects.
    coefficients: Vec<Expr<'g>>,
}

impl<'g> PriorExpressions<'g> {
    pub(crate) fn all(&self) -> impl Iterator<Item = Expr<'g>> + '_ {
        let columns = self.precision.iter().chain(&self.coefficients);
        std::iter::once(self.linear).chain(columns.copied())
    }
}

/// The expressions from which those of a block are built.
struct PriorWriter<'g> {
    latents: Expr<'g>,
    /// The slope of the log prior.
    slope: Expr<'g>,
    predictor: Expr<'g>,
}

/// The expressions of every block, for its first group, since all are alike. The rows are those
/// from which T is read.
pub(crate) fn write_prior_terms<'g>(
    model: &EffectStructure<'_>,
    at: &Point<'g>,
    rows: &Rows<'g>,
    prior: Expr<'g>,
) -> Vec<PriorExpressions<'g>> {
    let source = PriorWriter {
        latents: at.latents,
        slope: at.graph().grad(prior, &[at.latents])[0],
        predictor: model.split.predictor(at, rows),
    };
    let mut first = 0;
    let mut found = Vec::with_capacity(model.blocks.len());
    for block in &model.blocks {
        let own = block.places.start..block.places.start + block.width;
        found.push(PriorExpressions {
            linear: source.slope.slice(0, own),
            precision: source.precision(block),
            coefficients: source.coefficients(block, first),
        });
        first += block.theta_map.rows().len();
    }
    found
}

impl<'g> PriorWriter<'g> {
    fn graph(&self) -> &'g Graph {
        self.latents.graph()
    }

    /// A constant that is 1 in some places of z and 0 elsewhere.
    fn along(&self, places: impl Iterator<Item = usize>) -> Expr<'g> {
        let size = self.latents.shape().size();
        let mut along = vec![0.0; size];
        places.for_each(|place| along[place] = 1.0);
        self.graph().constant([size], &along)
    }

    fn precision(&self, block: &RandomEffectBlock) -> Vec<Expr<'g>> {
        let own = block.places.start..block.places.start + block.width;
        let product = |along: Expr<'g>| {
            let graph = self.graph();
            let product = graph.jvp(&[self.slope], &[self.latents], &[along])[0];
            -product.slice(0, own.clone())
        };
        match block.covariance {
            // All other entries of a row are 0.
            EffectCovariance::Independent => vec![product(self.along(own.clone()))],
            EffectCovariance::Joint => (own.clone())
                .map(|place| product(self.along(std::iter::once(place))))
                .collect(),
        }
    }

    /// The coefficients from which T is read, in the rows from this one on.
    fn coefficients(&self, block: &RandomEffectBlock, first: usize) -> Vec<Expr<'g>> {
        match &block.theta_map {
            HyperparameterMap::Identity => Vec::new(),
            HyperparameterMap::Scaled(scales) => vec![self.combined(block, scales, first)],
            HyperparameterMap::Full(_) => (0..block.width)
                .map(|effect| self.column(block, effect, first))
                .collect(),
        }
    }

    /// The slope of a combination of predictors in the effects, summed over groups.
    fn combined(&self, block: &RandomEffectBlock, scales: &DiagonalMap, first: usize) -> Expr<'g> {
        let rows = first..first + scales.rows.len();
        let shares = self.graph().constant([rows.len()], &scales.shares);
        let sum = (self.predictor.slice(0, rows) * shares).sum();
        let slope = self.graph().grad(sum, &[self.latents])[0];
        let own = slope.slice(0, block.places.clone());
        own.reshape([block.groups, block.width]).sum_axis(0)
    }

    /// The change of the pivots' predictors per unit of one effect, in any group.
    fn column(&self, block: &RandomEffectBlock, effect: usize, first: usize) -> Expr<'g> {
        let own = block.places.clone().skip(effect).step_by(block.width);
        let along = self.along(own);
        let gained = self
            .graph()
            .jvp(&[self.predictor], &[self.latents], &[along])[0];
        gained.slice(0, first..first + block.width)
    }
}

/// The numbers of a block as the program computes them.
pub(crate) struct PriorTerms<'b> {
    block: &'b RandomEffectBlock,
    linear: Vec<f64>,
    precision: Vec<f64>,
    map: MapMatrix,
}

/// Slopes in a block's precision (symmetric) and in its linear term.
pub(crate) type BlockSlopes = (Vec<f64>, Vec<f64>);

impl<'b> PriorTerms<'b> {
    pub(crate) fn read<'w>(
        block: &'b RandomEffectBlock,
        outputs: &mut impl Iterator<Item = &'w [f64]>,
    ) -> PriorTerms<'b> {
        let width = block.width;
        let mut next = || outputs.next().expect("every piece is an output");
        let linear = next().to_vec();
        let mut columns = |count: usize| -> Vec<f64> {
            let columns = (0..count).map(|_| next().to_vec());
            columns.flatten().collect()
        };
        let precision = match block.covariance {
            EffectCovariance::Independent => small::diagonal(&columns(1)),
            EffectCovariance::Joint => small::transposed(&columns(width), width),
        };
        let map = match &block.theta_map {
            HyperparameterMap::Identity => MapMatrix::Identity,
            HyperparameterMap::Scaled(scales) => MapMatrix::Scaled(scales.factors(&columns(1))),
            HyperparameterMap::Full(pivots) => {
                let rows = small::transposed(&columns(width), width);
                MapMatrix::Full(small::product(&pivots.inverse, &rows, width))
            }
        };
        PriorTerms {
            block,
            linear,
            precision,
            map,
        }
    }

    /// The prior of v = T u, and ln |det T|.
    pub(crate) fn mapped_prior(self) -> Option<(BlockPrior, f64)> {
        let width = self.block.width;
        let (prior, log_det) = match &self.map {
            MapMatrix::Identity => {
                let prior = BlockPrior {
                    precision: self.precision,
                    linear: self.linear,
                    inverse: MapMatrix::Identity,
                };
                (prior, 0.0)
            }
            MapMatrix::Scaled(factors) => {
                let inverse: Vec<f64> = factors.iter().map(|factor| factor.recip()).collect();
                let prior = BlockPrior {
                    precision: scaled(&self.precision, &inverse),
                    linear: times(&self.linear, &inverse),
                    inverse: MapMatrix::Scaled(inverse),
                };
                let logs = factors.iter().map(|factor| factor.abs().ln());
                (prior, logs.sum())
            }
            MapMatrix::Full(map) => {
                let (inverse, log_det) = small::inverse(map, width)?;
                let flipped = small::transposed(&inverse, width);
                let inner = small::product(&self.precision, &inverse, width);
                let prior = BlockPrior {
                    precision: small::product(&flipped, &inner, width),
                    linear: small::apply(&flipped, &self.linear),
                    inverse: MapMatrix::Full(inverse),
                };
                (prior, log_det)
            }
        };
        log_det.is_finite().then_some((prior, log_det))
    }

    /// Slopes in the program's own numbers from those in the prior of v:
    ///
    /// ```text
    /// P_v = T⁻ᵀP T⁻¹, l_v = T⁻ᵀl:   P̄ = T⁻¹P̄_v T⁻ᵀ,   l̄ = T⁻¹l̄_v
    /// T̄ = −2 P_v P̄_v T⁻ᵀ − l_v l̄ᵀ − G T⁻ᵀ
    /// ```
    pub(crate) fn pull_back(self, slopes: &BlockSlopes) -> Option<Vec<Vec<f64>>> {
        let (precision, linear) = slopes;
        let (block, width) = (self.block, self.block.width);
        let factors = match &self.map {
            MapMatrix::Scaled(factors) => factors.clone(),
            _ => Vec::new(),
        };
        let (prior, _) = self.mapped_prior()?;
        let groups = block.groups as f64;
        let (own_linear, own_precision, own_map) = match (&prior.inverse, &block.theta_map) {
            (MapMatrix::Scaled(inverse), HyperparameterMap::Scaled(scales)) => {
                let entry = |i: usize| {
                    let row = i * width..(i + 1) * width;
                    let both = small::dot(&prior.precision[row.clone()], &precision[row]);
                    (-2.0 * both - prior.linear[i] * linear[i] - groups) * inverse[i]
                };
                let map: Vec<f64> = (0..width).map(entry).collect();
                let own_map = vec![scales.pull_back(&factors, &map)];
                (times(linear, inverse), scaled(precision, inverse), own_map)
            }
            (MapMatrix::Full(inverse), HyperparameterMap::Full(pivots)) => {
                let flipped = small::transposed(inverse, width);
                let own_linear = small::apply(inverse, linear);
                let inner = small::product(precision, &flipped, width);
                let mut map = small::product(&prior.precision, &inner, width);
                for (k, entry) in map.iter_mut().enumerate() {
                    let both = prior.linear[k / width] * own_linear[k % width];
                    *entry = -2.0 * *entry - both - groups * flipped[k];
                }
                let pivots = small::transposed(&pivots.inverse, width);
                let own_map = columns(&small::product(&pivots, &map, width), width);
                (own_linear, small::product(inverse, &inner, width), own_map)
            }
            _ => (linear.clone(), precision.clone(), Vec::new()),
        };
        let mut found = vec![own_linear];
        match block.covariance {
            EffectCovariance::Independent => found.push(small::diagonal_of(&own_precision, width)),
            EffectCovariance::Joint => found.extend(columns(&own_precision, width)),
        }
        found.extend(own_map);
        Some(found)
    }
}

/// The columns of a matrix.
fn columns(matrix: &[f64], width: usize) -> Vec<Vec<f64>> {
    let flipped = small::transposed(matrix, width);
    flipped.chunks_exact(width).map(<[f64]>::to_vec).collect()
}

/// D M D for a diagonal matrix D.
fn scaled(matrix: &[f64], diagonal: &[f64]) -> Vec<f64> {
    let rows = matrix.chunks_exact(diagonal.len()).zip(diagonal);
    let row = |(row, left): (&[f64], &f64)| -> Vec<f64> {
        let entries = row.iter().zip(diagonal);
        // The product of both factors alone might overflow.
        entries.map(|(entry, right)| entry * left * right).collect()
    };
    rows.flat_map(row).collect()
}

fn times(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a * b).collect()
}
