//! Builds the elimination order and the cross products from group sums instead of rows.

use std::sync::Arc;

use lehr_density::job::all_rows;
use lehr_numeric::lanczos::Probes;
use lehr_rows::fold;

use crate::cross_products::{CrossProducts, Effects};
use crate::effect_reading::EffectReading;
use crate::effect_structure::{EffectStructure, RandomEffectBlock, moved, reference};
use crate::elimination_order::EliminationOrder;
use crate::gaussian_response::GaussianSums;
use crate::group_sums::{GroupSums, GroupSumsJob};
use crate::marginal::{MarginalDensity, MarginalError, ResponseRows};
use crate::prior::{EffectPrior, EffectPriorProgram};
use crate::prior_terms::BlockPrior;
use crate::sparse::Sparse;

impl<'d> MarginalDensity<'d> {
    /// The marginal density of a model with a normal response. Some rows, or those of the local sample, show
    /// how all rows read the random effects. One pass over all rows then computes the sums, and
    /// checks every row.
    pub(crate) fn from_group_sums(
        mut model: EffectStructure<'d>,
        probes: Option<fn(usize) -> Probes>,
    ) -> Result<MarginalDensity<'d>, MarginalError> {
        let density = model.density;
        let conditional = EffectPriorProgram::new(&model);
        let still = reference(density);
        let given = conditional.at_latents(&model, &still)?;
        let noise = given
            .noise
            .ok_or("the rows are elsewhere, and the response is not normal".to_owned())?;
        let away = conditional.at_latents(&model, &moved(&still, &model.hyper))?;
        let reading = EffectReading::of(&model, maps(&model, &away)?, noise);
        let job = GroupSumsJob::new(density, reading);
        let sums = fold(&*all_rows(density), &job)?;
        if sums.irregular_rows > 0.0 {
            return Err(MarginalError::Refusal(format!(
                "{} rows read their effects otherwise than the others do",
                sums.irregular_rows
            )));
        }
        let confounded = confounded(&model, &sums);
        let (order, rows) = assemble(&model, &sums, probes.is_some());
        model.forget_rows();
        MarginalDensity {
            confounded,
            probes: None,
            model,
            order: Arc::new(order),
            conditional,
            rows: ResponseRows::Normal(rows),
        }
        .with_probes(probes)
    }
}

/// T of every block.
fn maps(model: &EffectStructure<'_>, given: &EffectPrior) -> Result<Vec<Vec<f64>>, String> {
    let blocks = model.blocks.iter().zip(&given.blocks);
    let map = |(block, prior): (&RandomEffectBlock, &BlockPrior)| prior.inverse.invert(block.width);
    let found: Option<Vec<Vec<f64>>> = blocks.map(map).collect();
    found.ok_or_else(|| "coefficients vanish where hyperparameters are moved".into())
}

/// The elimination order, and the sums over rows in that order.
fn assemble(
    model: &EffectStructure<'_>,
    sums: &GroupSums,
    is_large: bool,
) -> (EliminationOrder, GaussianSums) {
    let mut order = EliminationOrder::without_rows(model);
    order.large |= is_large;
    let cross = eliminate(&mut order, sums);
    let mut pulled = Effects {
        own: sums.blocks[0].pulled.clone(),
        others: Vec::with_capacity(order.rest),
    };
    for block in &sums.blocks[1..] {
        pulled.others.extend_from_slice(&block.pulled);
    }
    pulled.others.extend_from_slice(&sums.pulled);
    let rows = GaussianSums {
        cross,
        pulled,
        square: sums.square,
        weight: sums.weight,
    };
    (order, rows)
}

/// Pairs of blocks that assign all rows to the same groups.
fn confounded(model: &EffectStructure<'_>, sums: &GroupSums) -> Vec<(usize, usize)> {
    let mut found = model.confounded();
    found.retain(|(one, other)| {
        let pairs = &sums.pairs[pair_of(*one, *other, model.blocks.len())];
        let (mut left, mut right): (Vec<usize>, Vec<usize>) =
            pairs.sorted().map(|(one, other, _)| (one, other)).unzip();
        let count = left.len();
        for codes in [&mut left, &mut right] {
            codes.sort_unstable();
            codes.dedup();
        }
        left.len() == count && right.len() == count
    });
    found
}

/// The place of a pair of blocks among all pairs.
fn pair_of(one: usize, other: usize, blocks: usize) -> usize {
    let (one, other) = (one.min(other), one.max(other));
    let before: usize = (0..one).map(|k| blocks - 1 - k).sum();
    before + other - one - 1
}

/// Sets the columns that each group of A shares rows with; returns the cross products in that
/// order.
fn eliminate(order: &mut EliminationOrder, sums: &GroupSums) -> CrossProducts {
    let width = order.width;
    let blocks = sums.blocks.len();
    let met = sums.pairs[..blocks - 1].iter();
    let mut met: Vec<_> = met.map(|pair| pair.sorted().peekable()).collect();
    let common = order.n_common();
    let mut mixed = Vec::new();
    let mut columns: Vec<u32> = Vec::new();
    let mut lines: Vec<Vec<f64>> = vec![Vec::new(); width];
    for group in 0..order.groups() {
        lines.iter_mut().for_each(Vec::clear);
        let before = columns.len();
        for (k, pairs) in met.iter_mut().enumerate() {
            let other = sums.blocks[k + 1].width;
            while let Some((_, code, values)) = pairs.next_if(|(own, ..)| *own == group) {
                let from = order.blocks[k].start + code * other;
                columns.extend((from..from + other).map(|column| column as u32));
                let each = lines.iter_mut().zip(values.chunks_exact(other));
                each.for_each(|(line, values)| line.extend_from_slice(values));
            }
        }
        if columns.len() > before || is_seen(sums, group, width) {
            columns.extend((order.common..order.rest).map(|column| column as u32));
            let own = &sums.blocks[0].mixed[group * width * common..][..width * common];
            let each = lines.iter_mut().zip(own.chunks_exact(common.max(1)));
            each.for_each(|(line, values)| line.extend_from_slice(values));
        }
        for line in &lines {
            mixed.extend_from_slice(line);
        }
        order.met.push(columns.len());
    }
    order.columns = columns;
    let mut others = vec![
        0.0;
        if order.large {
            0
        } else {
            order.rest * order.rest
        }
    ];
    let mut entries: Vec<(u32, u32, f64)> = Vec::new();
    each_rest_sum(order, sums, |column, row, value| {
        if order.large {
            entries.push((column as u32, row as u32, value));
        } else {
            others[column * order.rest + row] = value;
        }
    });
    entries.sort_unstable_by_key(|entry| (entry.0, entry.1));
    CrossProducts {
        own: sums.blocks[0].own.clone(),
        mixed,
        others,
        sparse: order.large.then(|| Sparse::of(order.rest, &entries)),
    }
}

/// Whether any row is in a group of A: a group without rows shares none.
fn is_seen(sums: &GroupSums, group: usize, width: usize) -> bool {
    let own = &sums.blocks[0].own[group * width * width..][..width * width];
    own.iter().any(|sum| *sum != 0.0)
}

/// Passes on the lower triangle of Σ w r rᵀ: column, row and value.
fn each_rest_sum(
    order: &EliminationOrder,
    sums: &GroupSums,
    mut see: impl FnMut(usize, usize, f64),
) {
    let common = order.n_common();
    for (block, place) in sums.blocks[1..].iter().zip(&order.blocks) {
        let (start, width) = (place.start, place.width);
        for (k, value) in block.own.iter().enumerate() {
            let (row, column) = (k / width, k % width);
            let group = start + row / width * width;
            if row % width >= column {
                see(group + column, group + row % width, *value);
            }
        }
        for (k, value) in block.mixed.iter().enumerate() {
            see(start + k / common, order.common + k % common, *value);
        }
    }
    let blocks = sums.blocks.len();
    let mut pairs = sums.pairs[blocks - 1..].iter();
    for one in 1..blocks {
        for other in one + 1..blocks {
            let width = sums.blocks[other].width;
            let wide = sums.blocks[one].width;
            for (left, right, values) in pairs.next().expect("a tally of every pair").sorted() {
                for (k, value) in values.iter().enumerate() {
                    let column = order.blocks[one - 1].start + left * wide + k / width;
                    let row = order.blocks[other - 1].start + right * width + k % width;
                    see(column, row, *value);
                }
            }
        }
    }
    for (k, value) in sums.common.iter().enumerate() {
        let (row, column) = (k / common, k % common);
        if row >= column {
            see(order.common + column, order.common + row, *value);
        }
    }
}
