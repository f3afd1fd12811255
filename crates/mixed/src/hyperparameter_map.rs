//! The map T(θ) by which the coefficients of a block change with the hyperparameters. A row's
//! coefficients are zₙᵀT(θ), where zₙ are those at a reference. T is computed from a few rows.

use lehr_numeric::dense::small;

use crate::tolerance::ROUNDING;

/// The least factor of a coefficient, relative to the reference. Rows have no information on an
/// effect with such a small coefficient (10³⁰ of them would add 10⁻⁷⁰ to its precision), so that a
/// larger value in its place changes no result. The corresponding precision of 10¹⁰⁰ can still be
/// multiplied without overflow.
const LEAST: f64 = 1e-50;
/// Combinations of rows that are tried.
const TRIES: usize = 16;
/// The least size of a combined coefficient relative to its terms: with more cancellation it is
/// lost to rounding.
const CLEAR: f64 = 1e-6;

/// The source of T(θ).
pub(crate) enum HyperparameterMap {
    /// Nothing: T is the identity.
    Identity,
    /// Each coefficient has its own factor: T is diagonal.
    Scaled(DiagonalMap),
    Full(PivotRows),
}

/// A combination of rows in which no coefficient vanishes.
pub(crate) struct DiagonalMap {
    pub(crate) rows: Vec<usize>,
    /// The weight of each row.
    pub(crate) shares: Vec<f64>,
    /// The combined coefficient of each effect at the reference; 0 if no row reads it.
    sums: Vec<f64>,
}

/// Rows from whose coefficients T(θ) is read, chosen to be well conditioned at the reference.
pub(crate) struct PivotRows {
    pub(crate) rows: Vec<usize>,
    /// The inverse of their coefficients at the reference.
    pub(crate) inverse: Vec<f64>,
}

/// T or T⁻¹ at one θ.
#[derive(Clone, Debug)]
pub(crate) enum MapMatrix {
    Identity,
    /// The diagonal.
    Scaled(Vec<f64>),
    /// Row after row.
    Full(Vec<f64>),
}

impl HyperparameterMap {
    /// The rows from which T is read.
    pub(crate) fn rows(&self) -> &[usize] {
        match self {
            HyperparameterMap::Identity => &[],
            HyperparameterMap::Scaled(scales) => &scales.rows,
            HyperparameterMap::Full(pivots) => &pivots.rows,
        }
    }
}

impl MapMatrix {
    /// T⁻¹v
    pub(crate) fn apply(&self, v: &[f64]) -> Vec<f64> {
        match self {
            MapMatrix::Identity => v.to_vec(),
            MapMatrix::Scaled(factors) => v.iter().zip(factors).map(|(v, f)| v * f).collect(),
            MapMatrix::Full(matrix) => small::apply(matrix, v),
        }
    }

    /// All numbers of T⁻¹.
    pub(crate) fn matrix(&self, width: usize) -> Vec<f64> {
        match self {
            MapMatrix::Identity => small::identity(width),
            MapMatrix::Scaled(factors) => small::diagonal(factors),
            MapMatrix::Full(matrix) => matrix.clone(),
        }
    }

    /// T: empty for the identity, else the diagonal or the full matrix, row-major.
    pub(crate) fn invert(&self, width: usize) -> Option<Vec<f64>> {
        match self {
            MapMatrix::Identity => Some(Vec::new()),
            MapMatrix::Scaled(factors) => Some(factors.iter().map(|f| f.recip()).collect()),
            MapMatrix::Full(matrix) => small::inverse(matrix, width).map(|found| found.0),
        }
    }
}

impl DiagonalMap {
    /// A combination of the rows with the largest coefficient of each effect; `None` if in all
    /// combinations tried some coefficient vanishes.
    pub(crate) fn of(coefficients: &[f64], width: usize) -> Option<DiagonalMap> {
        let rows = largest(coefficients, width);
        let mut best = (CLEAR, None);
        for round in 0..TRIES {
            let pace = 1.9 + 0.37 * round as f64;
            let shares = (0..rows.len()).map(|k| (1.0 + pace * k as f64).sin());
            let shares: Vec<f64> = shares.collect();
            let picked = || rows.iter().map(|row| &coefficients[row * width..][..width]);
            let sums = combined(picked(), &shares, |term| term);
            let sizes = combined(picked(), &shares, f64::abs);
            let seen = sums.iter().zip(&sizes).filter(|(_, size)| **size > 0.0);
            let clear = seen.fold(1.0, |least: f64, (sum, size)| least.min(sum.abs() / size));
            if clear > best.0 {
                let rows = rows.clone();
                best = (clear, Some(DiagonalMap { rows, shares, sums }));
            }
        }
        best.1
    }

    /// The diagonal of T from the combined coefficients at another θ.
    pub(crate) fn factors(&self, sums: &[f64]) -> Vec<f64> {
        let factor = |(now, before): (&f64, &f64)| match *before {
            0.0 => 1.0,
            before if (now / before).abs() < LEAST => LEAST.copysign(now / before),
            before => now / before,
        };
        sums.iter().zip(&self.sums).map(factor).collect()
    }

    /// Slopes in the combined coefficients from slopes in the diagonal of T.
    pub(crate) fn pull_back(&self, factors: &[f64], slopes: &[f64]) -> Vec<f64> {
        let own = factors.iter().zip(&self.sums).zip(slopes);
        let pull = |((factor, before), slope): ((&f64, &f64), &f64)| {
            let is_fixed = *before == 0.0 || factor.abs() <= LEAST;
            if is_fixed { 0.0 } else { slope / before }
        };
        own.map(pull).collect()
    }

    /// Whether the coefficients at another θ are those at the reference times a factor for each
    /// effect.
    pub(crate) fn maps_all(&self, before: &[f64], after: &[f64]) -> bool {
        let width = self.sums.len();
        let picked = self.rows.iter().map(|row| &after[row * width..][..width]);
        let factors = self.factors(&combined(picked, &self.shares, |term| term));
        let mut sizes = vec![0.0_f64; width];
        for (row, other) in after.chunks_exact(width).zip(before.chunks_exact(width)) {
            for (effect, size) in sizes.iter_mut().enumerate() {
                let either = row[effect].abs() + (factors[effect] * other[effect]).abs();
                *size = size.max(either);
            }
        }
        let mut rows = after.chunks_exact(width).zip(before.chunks_exact(width));
        rows.all(|(row, other)| {
            (0..width).all(|effect| {
                let rest = row[effect] - factors[effect] * other[effect];
                rest.abs() <= ROUNDING * sizes[effect]
            })
        })
    }
}

/// The row with the largest coefficient of each effect, each row once.
fn largest(coefficients: &[f64], width: usize) -> Vec<usize> {
    let mut best = vec![(0, 0.0); width];
    for (row, own) in coefficients.chunks_exact(width).enumerate() {
        for (best, coefficient) in best.iter_mut().zip(own) {
            if coefficient.abs() > best.1 {
                *best = (row, coefficient.abs());
            }
        }
    }
    let mut rows: Vec<usize> = best.into_iter().map(|(row, _)| row).collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Σ share × coefficient over some rows, after `of` each term.
fn combined<'a>(
    rows: impl Iterator<Item = &'a [f64]>,
    shares: &[f64],
    of: impl Fn(f64) -> f64,
) -> Vec<f64> {
    let mut sums = Vec::new();
    for (row, share) in rows.zip(shares) {
        sums.resize(row.len(), 0.0);
        let pairs = sums.iter_mut().zip(row);
        pairs.for_each(|(sum, coefficient)| *sum += of(share * coefficient));
    }
    sums
}

impl PivotRows {
    /// Pivot rows by elimination: each next row is the one that the earlier ones explain least.
    /// `None` if there are fewer rows than effects.
    pub(crate) fn of(coefficients: &[f64], width: usize) -> Option<PivotRows> {
        let mut rest = coefficients.to_vec();
        let mut rows = Vec::with_capacity(width);
        let length = |row: &[f64]| small::dot(row, row);
        let longest = rest.chunks_exact(width).map(length).fold(0.0, f64::max);
        for _ in 0..width {
            let lengths = rest.chunks_exact(width).map(length).enumerate();
            let (row, square) = lengths.fold(
                (0, 0.0),
                |best, one| if one.1 > best.1 { one } else { best },
            );
            if square <= 1e-16 * longest {
                return None;
            }
            rows.push(row);
            let unit: Vec<f64> = rest[row * width..][..width]
                .iter()
                .map(|c| c / square.sqrt())
                .collect();
            for other in rest.chunks_exact_mut(width) {
                let share = small::dot(other, &unit);
                small::add(other, -share, &unit);
            }
        }
        let own: Vec<f64> = rows
            .iter()
            .flat_map(|row| coefficients[row * width..][..width].to_vec())
            .collect();
        let (inverse, _) = small::inverse(&own, width)?;
        Some(PivotRows { rows, inverse })
    }

    /// Whether a single T maps all rows' coefficients to those at another θ.
    pub(crate) fn maps_all(&self, before: &[f64], after: &[f64]) -> bool {
        let width = self.rows.len();
        let own = self.rows.iter().map(|row| &after[row * width..][..width]);
        let own: Vec<f64> = own.flatten().copied().collect();
        let map = small::transposed(&small::product(&self.inverse, &own, width), width);
        let agrees = |(before, after): (&[f64], &[f64])| {
            let size = small::dot(after, after).sqrt() + small::dot(before, before).sqrt();
            let turned = small::apply(&map, before);
            let mut pairs = turned.iter().zip(after);
            pairs.all(|(a, b)| (a - b).abs() <= ROUNDING * size)
        };
        let mut rows = before.chunks_exact(width).zip(after.chunks_exact(width));
        rows.all(agrees)
    }
}
