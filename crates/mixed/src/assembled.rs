//! Builds the elimination from group sums instead of rows: the pairs of groups that share rows, and
//! their cross products.

use lehr_density::job::all_rows;
use lehr_rows::fold;

use crate::collapsed::{MarginalDensity, ResponseRows};
use crate::cross::{CrossProducts, Effects};
use crate::design::Design;
use crate::given::{Conditional, Given};
use crate::normal::NormalRows;
use crate::parts::{Block, Parts, moved, reference};
use crate::pieces::BlockPrior;
use crate::scheme::Scheme;
use crate::sight::Sight;
use crate::sparse::Sparse;
use crate::tally::{GroupSumsJob, Tally};

impl<'d> MarginalDensity<'d> {
    /// Collapses a density with a normal response. Some rows, or those of the local sample, show
    /// how all rows read the random effects. One pass over all rows then computes the sums, and
    /// checks every row.
    pub(crate) fn tallied(
        mut parts: Parts<'d>,
        sight: Sight,
    ) -> Result<MarginalDensity<'d>, String> {
        let density = parts.density;
        let conditional = Conditional::new(&parts);
        let mut scratch = conditional.scratch(&parts);
        let still = reference(density);
        let given = parts.given_at(&conditional, &still, &mut scratch)?;
        let noise = given
            .noise
            .ok_or("the rows are elsewhere, and the response is not normal")?;
        let away = moved(&still, &parts.hyper);
        let away = parts.given_at(&conditional, &away, &mut scratch)?;
        let scheme = Scheme::of(&parts, turns(&parts, &away)?, noise);
        let job = GroupSumsJob::new(density, scheme);
        let tally = fold(&*all_rows(density), &job).unwrap_or_else(|error| error.unwind());
        if tally.unlike > 0.0 {
            return Err(format!(
                "{} rows read their effects otherwise than the others do",
                tally.unlike
            ));
        }
        let confounded = confounded(&parts, &tally);
        let (design, rows) = assembled(&parts, &tally, sight);
        parts.forget_rows();
        MarginalDensity {
            confounded,
            probes: None,
            parts,
            design,
            conditional,
            rows: ResponseRows::Normal(rows),
        }
        .ready(sight)
    }
}

/// T of every block.
fn turns(parts: &Parts<'_>, given: &Given) -> Result<Vec<Vec<f64>>, String> {
    let blocks = parts.blocks.iter().zip(&given.blocks);
    let turn = |(block, prior): (&Block, &BlockPrior)| prior.inverse.turn(block.width);
    let found: Option<Vec<Vec<f64>>> = blocks.map(turn).collect();
    found.ok_or_else(|| "coefficients vanish where hyperparameters are moved".into())
}

/// The design of rows that are stored elsewhere, and their sums.
fn assembled(parts: &Parts<'_>, tally: &Tally, sight: Sight) -> (Design, NormalRows) {
    let mut design = Design::without_rows(parts);
    design.large |= sight.is_loose();
    let starts: Vec<usize> = design.blocks.iter().map(|place| place.start).collect();
    let cross = eliminated(&mut design, &starts, tally);
    let mut pulled = Effects {
        own: tally.blocks[0].pulled.clone(),
        others: Vec::with_capacity(design.rest),
    };
    for block in &tally.blocks[1..] {
        pulled.others.extend_from_slice(&block.pulled);
    }
    pulled.others.extend_from_slice(&tally.pulled);
    let rows = NormalRows {
        cross,
        pulled,
        square: tally.square,
        weight: tally.weight,
    };
    (design, rows)
}

/// Pairs of blocks that assign all rows to the same groups.
fn confounded(parts: &Parts<'_>, tally: &Tally) -> Vec<(String, String)> {
    let mut found = parts.confounded();
    let place = |name: &String| parts.blocks.iter().position(|block| block.name == *name);
    found.retain(|(one, other)| {
        let places = place(one).zip(place(other));
        places.is_some_and(|(one, other)| {
            let pairs = &tally.pairs[pair_of(one, other, parts.blocks.len())];
            let (mut left, mut right): (Vec<usize>, Vec<usize>) =
                pairs.sorted().map(|(one, other, _)| (one, other)).unzip();
            let count = left.len();
            for codes in [&mut left, &mut right] {
                codes.sort_unstable();
                codes.dedup();
            }
            left.len() == count && right.len() == count
        })
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
fn eliminated(design: &mut Design, starts: &[usize], tally: &Tally) -> CrossProducts {
    let width = design.width;
    let blocks = tally.blocks.len();
    let mut met: Vec<_> = (0..blocks - 1)
        .map(|k| tally.pairs[k].sorted().peekable())
        .collect();
    let common = design.rest - design.common;
    let mut mixed = Vec::new();
    let mut columns: Vec<u32> = Vec::new();
    let mut lines: Vec<Vec<f64>> = vec![Vec::new(); width];
    for group in 0..design.groups() {
        lines.iter_mut().for_each(Vec::clear);
        let before = columns.len();
        for (k, pairs) in met.iter_mut().enumerate() {
            let other = tally.blocks[k + 1].width;
            while let Some((_, code, values)) = pairs.next_if(|(own, ..)| *own == group) {
                let from = starts[k] + code * other;
                columns.extend((from..from + other).map(|column| column as u32));
                let each = lines.iter_mut().zip(values.chunks_exact(other));
                each.for_each(|(line, values)| line.extend_from_slice(values));
            }
        }
        if columns.len() > before || is_seen(tally, group, width) {
            columns.extend((design.common..design.rest).map(|column| column as u32));
            let own = &tally.blocks[0].mixed[group * width * common..][..width * common];
            let each = lines.iter_mut().zip(own.chunks_exact(common.max(1)));
            each.for_each(|(line, values)| line.extend_from_slice(values));
        }
        for line in &lines {
            mixed.extend_from_slice(line);
        }
        design.met.push(columns.len());
    }
    design.columns = columns;
    let rest = Rest { starts, tally };
    CrossProducts {
        own: tally.blocks[0].own.clone(),
        mixed,
        others: if design.large {
            Vec::new()
        } else {
            rest.dense(design)
        },
        sparse: design.large.then(|| rest.sparse(design)),
    }
}

/// Whether any row is in a group of A: a group without rows shares none.
fn is_seen(tally: &Tally, group: usize, width: usize) -> bool {
    let own = &tally.blocks[0].own[group * width * width..][..width * width];
    own.iter().any(|sum| *sum != 0.0)
}

/// Σ w r rᵀ of the rest R.
struct Rest<'a> {
    starts: &'a [usize],
    tally: &'a Tally,
}

impl Rest<'_> {
    /// Passes on the lower triangle: column, row and value.
    fn each(&self, design: &Design, mut see: impl FnMut(usize, usize, f64)) {
        let common = design.rest - design.common;
        for (block, start) in self.tally.blocks[1..].iter().zip(self.starts) {
            let width = block.width;
            for (k, value) in block.own.iter().enumerate() {
                let (row, column) = (k / width, k % width);
                let group = start + row / width * width;
                if row % width >= column {
                    see(group + column, group + row % width, *value);
                }
            }
            for (k, value) in block.mixed.iter().enumerate() {
                see(start + k / common, design.common + k % common, *value);
            }
        }
        let blocks = self.tally.blocks.len();
        let mut pairs = self.tally.pairs[blocks - 1..].iter();
        for one in 1..blocks {
            for other in one + 1..blocks {
                let width = self.tally.blocks[other].width;
                let wide = self.tally.blocks[one].width;
                for (left, right, values) in pairs.next().expect("a tally of every pair").sorted() {
                    for (k, value) in values.iter().enumerate() {
                        let column = self.starts[one - 1] + left * wide + k / width;
                        let row = self.starts[other - 1] + right * width + k % width;
                        see(column, row, *value);
                    }
                }
            }
        }
        for (k, value) in self.tally.common.iter().enumerate() {
            let (row, column) = (k / common, k % common);
            if row >= column {
                see(design.common + column, design.common + row, *value);
            }
        }
    }

    fn dense(&self, design: &Design) -> Vec<f64> {
        let mut others = vec![0.0; design.rest * design.rest];
        self.each(design, |column, row, value| {
            others[column * design.rest + row] = value;
        });
        others
    }

    fn sparse(&self, design: &Design) -> Sparse {
        let mut entries: Vec<(u32, u32, f64)> = Vec::new();
        self.each(design, |column, row, value| {
            entries.push((column as u32, row as u32, value));
        });
        entries.sort_unstable_by_key(|entry| (entry.0, entry.1));
        Sparse::of(design.rest, &entries)
    }
}
